"""What a cached span was computed under, axis by axis: one may stand for another only where all six axes agree.

Source: the original plane's materialization key. Its readable form is kept, because its vectors show it, but it is
not injective: a model named `a;tok=b` reads like two axes. Whatever goes into a digest is `digest_key`.
"""

from dataclasses import dataclass

from policy.entry import Entry

MODEL_MISMATCH = "model_mismatch"
TOKENIZER_MISMATCH = "tokenizer_mismatch"
POLICY_MISMATCH = "policy_mismatch"

LABEL_POSITION_REGIME = "position_regime"
LABEL_ADMITTER_VERSION = "admitter_version"

# In the order of comparison: the axis, its tag in the readable form, and the reason where two keys differ in it.
AXES = (
    ("model_id", "model", MODEL_MISMATCH),
    ("tokenizer_id", "tok", TOKENIZER_MISMATCH),
    ("serializer_id", "ser", "serializer_mismatch"),
    ("position_regime", "pos", "position_mismatch"),
    ("policy_version", "policy", POLICY_MISMATCH),
    ("admitter_version", "admitter", "admitter_mismatch"),
)


@dataclass(frozen=True, slots=True)
class GateKey:
    """The six axes, each an opaque name compared as it is, case and all. Empty is missing."""

    model_id: str = ""
    tokenizer_id: str = ""
    serializer_id: str = ""
    position_regime: str = ""
    policy_version: str = ""
    admitter_version: str = ""

    def values(self) -> tuple[str, ...]:
        """The axes in the order of `AXES`."""
        return (
            self.model_id,
            self.tokenizer_id,
            self.serializer_id,
            self.position_regime,
            self.policy_version,
            self.admitter_version,
        )

    def missing(self) -> tuple[str, ...]:
        """The names of the axes that are missing, in order."""
        return tuple(axis for (axis, _, _), value in zip(AXES, self.values(), strict=True) if value == "")

    def complete(self) -> bool:
        """Whether no axis is missing."""
        return "" not in self.values()

    def mismatch(self, other: "GateKey") -> str:
        """The reason of the first axis in which the two keys differ; empty where they match.

        Two axes that are both missing match: completeness is a question of its own.
        """
        for (_, _, reason), mine, theirs in zip(AXES, self.values(), other.values(), strict=True):
            if mine != theirs:
                return reason
        return ""

    def text(self) -> str:
        """The key for a person to read. Not injective, so never an identity."""
        return ";".join(f"{tag}={value}" for (_, tag, _), value in zip(AXES, self.values(), strict=True))

    def digest_key(self) -> bytes:
        """The key as an input for a digest: each axis with its length in bytes in front, so no two keys share it."""
        # JSON can carry half a surrogate pair: an odd name is still a name of its own, not an error.
        encoded = (value.encode("utf-8", "surrogatepass") for value in self.values())
        return b"".join(b"%d:%b" % (len(value), value) for value in encoded)


def key_of(entry: Entry) -> GateKey:
    """The key under which `entry` was stored.

    The labels `position_regime` and `admitter_version` come first where they are not empty; the position mode of the
    derivation, and who admitted the entry, stand in for them.
    """
    derivation = entry.derivation
    return GateKey(
        derivation.model_id,
        derivation.tokenizer_id,
        derivation.serializer_id,
        entry.labels.get(LABEL_POSITION_REGIME, "") or derivation.position_mode,
        entry.validity.policy_version,
        entry.labels.get(LABEL_ADMITTER_VERSION, "") or entry.security.admitted_by,
    )
