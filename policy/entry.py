"""The normalised cache entry: what any engine's cached span looks like once its report has been lowered.

Source: the original plane's cache entry, with the parts that its verdicts, gate, pools and metrics read. Every part
has a zero value (empty strings, zeros), and the zero of security is the most suspicious one: tainted, one agent's own.
An entry is a value: an option takes one and returns another, and options are applied in order, the last one winning.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace

from policy.residency import Residency
from policy.share import ShareDescriptor

TAINTED = 0
TRUSTED = 1
QUARANTINED = 2

SCOPE_AGENT = 0
SCOPE_FLEET = 1
SCOPE_TENANT = 2

ADMISSION_ALLOW = "allow"

KV_SPAN = "kv_span"
UNIT_POSITIONS = "positions"
PREFIX_ALIGNED = "prefix_aligned"


@dataclass(frozen=True)
class EntryId:
    """A handle to cached content: its digest, what it is, and its length in `unit`."""

    digest: str = ""
    media_type: str = ""
    length: int = 0
    unit: str = ""

    def valid(self) -> bool:
        """Whether the handle can be followed: nothing is missing and the length is not negative."""
        return self.digest != "" and self.media_type != "" and self.unit != "" and self.length >= 0


@dataclass(frozen=True)
class Derivation:
    """What produced the content, and from which model, tokenizer, serializer and position regime."""

    producer: str = ""
    model_id: str = ""
    tokenizer_id: str = ""
    serializer_id: str = ""
    position_mode: str = ""


@dataclass(frozen=True)
class Security:
    """How far the content is trusted and shared, and who admitted it. Codes out of range are kept as reported."""

    taint: int = TAINTED
    scope: int = SCOPE_AGENT
    admission_verdict: str = ""
    admitted_by: str = ""


@dataclass(frozen=True)
class Validity:
    """The policy under which the content may be used."""

    policy_version: str = ""


@dataclass(frozen=True)
class Metrics:
    """What was measured about the entry, in bytes, as reported: a negative count is kept."""

    bytes_transferred: int = 0


@dataclass(frozen=True)
class Coherence:
    """How the entry learns that it is stale."""

    invalidation_mode: str = ""


@dataclass(frozen=True)
class Entry:
    """One cached span, whichever engine reported it. `labels` is never changed in place."""

    plane: str = ""
    id: EntryId = EntryId()
    derivation: Derivation = Derivation()
    security: Security = Security()
    validity: Validity = Validity()
    residency: Residency = field(default_factory=Residency)
    coherence: Coherence = Coherence()
    metrics: Metrics = Metrics()
    labels: Mapping[str, str] = field(default_factory=dict)


EntryOption = Callable[[Entry], Entry]


def with_options(entry: Entry, options: Iterable[EntryOption]) -> Entry:
    """`entry` after each of `options`, in order."""
    for option in options:
        entry = option(entry)
    return entry


def with_label(name: str, value: str) -> EntryOption:
    """Sets one label."""
    return lambda entry: replace(entry, labels={**entry.labels, name: value})


def with_residency(tier: str, owner: str, lease: str) -> EntryOption:
    """Sets where the entry lives, as a whole: a share set before is gone."""
    return lambda entry: replace(entry, residency=Residency(tier, owner, lease))


def with_share(share: ShareDescriptor) -> EntryOption:
    """Sets how the entry is shared where it lives now."""
    return lambda entry: replace(entry, residency=entry.residency.with_share(share))
