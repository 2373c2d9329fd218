"""KV-transfer events of live engines, lowered to cache entries, and the verdicts that follow from them.

Source: the original plane's transfer lowering. Directions and outcomes are free strings, as engines report them: one
that is unknown is a miss, never a hit. The verdict is read from the outcome *label*, so that an option which rewrites
it also rewrites the verdict; the direction plays no part.

Two of the original's weaknesses stay, because its vectors show them: an event without security is born trusted and
fleet-wide, and spans reported without a digest share one by direction, model and tokenizer.
"""

from dataclasses import dataclass

from policy.decisions import DIRECTIVE_NAMES, OK, OUTCOME_NAMES, RESTORE
from policy.decisions import FAULT as FAULT_CODE
from policy.decisions import MISSED as MISSED_CODE
from policy.digest import digest_bytes
from policy.entry import (
    ADMISSION_ALLOW,
    KV_SPAN,
    PREFIX_ALIGNED,
    SCOPE_FLEET,
    TRUSTED,
    UNIT_POSITIONS,
    Derivation,
    Entry,
    EntryId,
    EntryOption,
    Metrics,
    Security,
    with_options,
)
from policy.residency import Residency
from policy.tiers import REMOTE, TIER_NAMES
from policy.verdict import ABSENT, RESIDENCY_FAULT, RESTORE_MISS, Verdict, fault, hit, miss

OUTCOME_OK = OUTCOME_NAMES[OK]
OUTCOME_MISSED = OUTCOME_NAMES[MISSED_CODE]
OUTCOME_FAULT = OUTCOME_NAMES[FAULT_CODE]

# How a remote store answers a residency question; it says "miss" where an engine's event says "missed".
REMOTE_OK = "ok"
REMOTE_MISS = "miss"
REMOTE_FAULT = "fault"

PLANE = "kv_transfer"
DEFAULT_OWNER = "engine"

LABEL_DIRECTION = "direction"
LABEL_OUTCOME = "outcome"


@dataclass(frozen=True)
class DeletionCertificate:
    """The proof that the source's copy is gone."""

    schema: str = ""
    subject: str = ""
    digest: str = ""


@dataclass(frozen=True)
class TransferEvent:
    """One movement of one span as an engine reports it: `tokens` long, `bytes_moved` over the link.

    An empty outcome means ok, an empty owner `engine`, an empty position mode `prefix_aligned`. `security` is None
    where the engine says nothing about it.
    """

    direction: str = ""
    outcome: str = ""
    span_digest: str = ""
    tokens: int = 0
    bytes_moved: int = 0
    from_tier: str = ""
    to_tier: str = ""
    owner: str = ""
    lease: str = ""
    model_id: str = ""
    tokenizer_id: str = ""
    serializer_id: str = ""
    position_mode: str = ""
    fault_reason: str = ""
    deletion_certificate: DeletionCertificate = DeletionCertificate()
    security: Security | None = None


def lower(event: TransferEvent, *options: EntryOption) -> Entry:
    """The cache entry that `event` reports, after each of `options`, in order."""
    owner = event.owner or DEFAULT_OWNER
    entry = Entry(
        plane=PLANE,
        id=EntryId(event.span_digest or _unnamed_digest(event), KV_SPAN, event.tokens, UNIT_POSITIONS),
        derivation=Derivation(
            producer=owner,
            model_id=event.model_id,
            tokenizer_id=event.tokenizer_id,
            serializer_id=event.serializer_id,
            position_mode=event.position_mode or PREFIX_ALIGNED,
        ),
        security=_security(event, owner),
        residency=Residency(event.to_tier, owner, event.lease),
        metrics=Metrics(event.bytes_moved),
        labels=_labels(event),
    )
    return with_options(entry, options)


def verdict_of(entry: Entry) -> Verdict:
    """What the outcome label of a lowered `entry` says about it: hit, miss or fault, with the reason."""
    outcome = entry.labels.get(LABEL_OUTCOME, "")
    if outcome == OUTCOME_OK:
        return hit(entry)
    if outcome == OUTCOME_FAULT:
        return fault(RESIDENCY_FAULT, entry)
    return miss(RESTORE_MISS if outcome == OUTCOME_MISSED else ABSENT)


def remote_residency_verdict(
    outcome: str, span_digest: str, positions: int, bytes_moved: int, fault_reason: str
) -> Verdict:
    """What a remote store's answer about one span amounts to; an answer that is not known is an absent span.

    A fault carries its reason, but neither length nor bytes: nothing arrived.
    """
    direction = DIRECTIVE_NAMES[RESTORE]
    remote = TIER_NAMES[REMOTE]
    if outcome == REMOTE_OK:
        return verdict_of(
            lower(
                TransferEvent(
                    direction, OUTCOME_OK, span_digest, tokens=positions, bytes_moved=bytes_moved, to_tier=remote
                )
            )
        )
    if outcome == REMOTE_FAULT:
        return verdict_of(
            lower(TransferEvent(direction, OUTCOME_FAULT, span_digest, to_tier=remote, fault_reason=fault_reason))
        )
    return miss(RESTORE_MISS if outcome == REMOTE_MISS else ABSENT)


def _unnamed_digest(event: TransferEvent) -> str:
    named = "\0".join((event.direction, event.model_id, event.tokenizer_id))
    # JSON can carry half a surrogate pair: an odd name is still a name of its own, not an error.
    return digest_bytes(named.encode("utf-8", "surrogatepass"))


def _security(event: TransferEvent, owner: str) -> Security:
    given = event.security
    if given is None:
        return Security(TRUSTED, SCOPE_FLEET, ADMISSION_ALLOW, owner)
    return Security(given.taint, given.scope, given.admission_verdict, given.admitted_by or owner)


def _labels(event: TransferEvent) -> dict[str, str]:
    labels = {LABEL_DIRECTION: event.direction, LABEL_OUTCOME: event.outcome or OUTCOME_OK}
    certificate = event.deletion_certificate
    for name, value in (
        ("from_tier", event.from_tier),
        ("to_tier", event.to_tier),
        ("fault_reason", event.fault_reason),
        ("deletion_certificate_schema", certificate.schema),
        ("deletion_certificate_subject", certificate.subject),
        ("deletion_certificate_digest", certificate.digest),
    ):
        if value:
            labels[name] = value
    return labels
