"""Whose KV a span is, axis by axis, and why the gate refuses it to a request of another identity.

Source: the reuse gate (`policy.gate`), which knows models, tokenizers and scopes. An adapter (LoRA) and a salt are no
axes of its key, so they are compared here, between what the bytes are and who may have them. An axis that is not
stated is a name of its own: it agrees with nothing that is stated.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from policy.entry import (
    ADMISSION_ALLOW,
    KV_SPAN,
    SCOPE_AGENT,
    SCOPE_FLEET,
    SCOPE_TENANT,
    TRUSTED,
    UNIT_POSITIONS,
    Derivation,
    Entry,
    EntryId,
    Security,
    Validity,
)
from policy.gate import materialization_verdict
from policy.gate_key import MODEL_MISMATCH, TOKENIZER_MISMATCH, key_of
from policy.gate_trust import LABEL_AGENT, LABEL_TENANT, SCOPE_DENIED, Reader
from policy.gate_view import KV_PREFIX
from policy.residency import Residency
from policy.verdict import Verdict, miss

ADAPTER_MISMATCH = "adapter_mismatch"
SALT_MISMATCH = "salt_mismatch"

# In the order of comparison: the axis, and the reason where two identities differ in it first.
AXES = (
    ("model", MODEL_MISMATCH),
    ("tokenizer", TOKENIZER_MISMATCH),
    ("adapter", ADAPTER_MISMATCH),
    ("salt", SALT_MISMATCH),
    ("tenant", SCOPE_DENIED),
    ("session", SCOPE_DENIED),
)
AXIS_NAMES = tuple(axis for axis, _ in AXES)
# Each reason once, the widest refusal first: a copy that is refused for a later one agrees in all that comes before.
REFUSALS = (MODEL_MISMATCH, TOKENIZER_MISMATCH, ADAPTER_MISMATCH, SALT_MISMATCH, SCOPE_DENIED)

# What one replay computes is written, placed, governed and admitted in one way.
_ONE = "replay"


@dataclass(frozen=True, slots=True)
class Identity:
    """The axes as opaque names, compared as they are; "" is not stated. `session` is a tenant's agent to the gate."""

    model: str = ""
    tokenizer: str = ""
    adapter: str = ""
    salt: str = ""
    tenant: str = ""
    session: str = ""

    def only(self, axes: Sequence[str]) -> "Identity":
        """The identity in these axes, the others not stated."""
        return Identity(**{axis: getattr(self, axis) for axis in axes})


NOT_STATED = Identity()


def scope_for(axes: Sequence[str]) -> int:
    """The scope at which spans are admitted where these axes are kept apart."""
    if "session" in axes:
        return SCOPE_AGENT
    return SCOPE_TENANT if "tenant" in axes else SCOPE_FLEET


def entry_of(identity: Identity, scope: int) -> Entry:
    """A span of this identity as the gate sees it: trusted, admitted, in a tier that holds it, nothing missing."""
    return Entry(
        id=EntryId(_ONE, KV_SPAN, 1, UNIT_POSITIONS),
        derivation=Derivation(_ONE, _named(identity.model), _named(identity.tokenizer), _ONE, _ONE),
        security=Security(TRUSTED, scope, ADMISSION_ALLOW, _ONE),
        validity=Validity(_ONE),
        residency=Residency("hbm", "", ""),
        labels={LABEL_TENANT: _named(identity.tenant), LABEL_AGENT: _named(identity.session)},
    )


def reuse_verdict(stored: Identity, wanted: Identity, scope: int) -> Verdict:
    """Whether a span of `stored` may serve a request of `wanted`: a hit, or a miss with the first reason of `AXES`.

    Two identities in the same axes; `scope` is theirs (`scope_for`). What the bytes are is asked before who may have
    them, so that a refusal for the tenant says that everything else agrees.
    """
    key = key_of(entry_of(wanted, scope))
    verdict = materialization_verdict(KV_PREFIX, entry_of(stored, SCOPE_FLEET), key)
    if not verdict.can_serve():
        return verdict
    if stored.adapter != wanted.adapter:
        return miss(ADAPTER_MISMATCH)
    if stored.salt != wanted.salt:
        return miss(SALT_MISMATCH)
    reader = Reader(_named(wanted.tenant), _named(wanted.session))
    return materialization_verdict(KV_PREFIX, entry_of(stored, scope), key, reader=reader)


def _named(value: str) -> str:
    """The gate takes an empty name for a missing one, which it never serves; what is not stated is a class here."""
    return f"={value}" if value else "not stated"
