"""The reuse gate: may this stored span stand for what is wanted, and if not, why not.

Source: the original plane's materialization verdict, reproduced with every rule of `policy.gate_rules` at 0. A
provider's cache makes a request cheaper but is never served from here. Left out, because neither is part of an entry:
whether the span's TTL has run out, which is the lifecycle's to say; and witnesses, so that an admission which requires
one is refused.
"""

from dataclasses import dataclass, replace

from policy.entry import ADMISSION_ALLOW, KV_SPAN, TRUSTED, Entry
from policy.gate_key import MODEL_MISMATCH, POLICY_MISMATCH, GateKey, key_of
from policy.gate_rules import SAFE_GATE, GateRules
from policy.gate_trust import (
    ADMISSION_DENIED,
    ANYONE,
    SCOPE_DENIED,
    TAINT_DENIED,
    Reader,
    admission_quarantined,
    belongs_to,
    quarantined,
    scope_known,
    taint_quarantined,
)
from policy.gate_view import PROVIDER_PREFIX, UNMEASURED, Quality, is_approximate, is_local_kv, is_lossy
from policy.tiers import TIER_COUNT, tier_code
from policy.verdict import ABSENT, MISS, Verdict, hit, miss

# A verdict's kind: of use in another form only. What a provider holds changes cost and latency, and no bytes here.
TRANSFORM = "transform"

UNKNOWN_VIEW = "unknown_view"
INVALID_HANDLE = "invalid_handle"
MEDIA_MISMATCH = "media_mismatch"
INCOMPLETE_KEY = "incomplete_key"
APPROXIMATE_FAULT = "approximate_fault"


@dataclass(frozen=True, slots=True)
class SharePolicy:
    """Whether models of one family may use each other's prefixes, which family, and which prefix they share."""

    allowed: bool = False
    family: str = ""
    prefix_digest: str = ""


def materialization_verdict(
    view: str,
    stored: Entry,
    want: GateKey,
    quality: Quality = UNMEASURED,
    share: SharePolicy | None = None,
    reader: Reader = ANYONE,
    rules: GateRules = SAFE_GATE,
) -> Verdict:
    """Whether `stored` may be used as `view` by `reader`, who wants it under the key `want`.

    Who may have it comes first, then whether it is there, then whether it is the same, then whether it is good enough.
    """
    if view == PROVIDER_PREFIX:
        return Verdict(TRANSFORM, POLICY_MISMATCH, stored, stored.id, {"provider_cache": "cost_latency_only"})
    if rules.view_known and not is_local_kv(view):
        return miss(UNKNOWN_VIEW)
    refusal = _distrusted(stored, reader, rules) or _unusable(stored, rules)
    if refusal is not None:
        return refusal
    have = key_of(stored)
    if not have.complete() or not want.complete():
        return _incomplete(have, want) if rules.key_gap_named else miss(MODEL_MISMATCH)
    mismatch = have.mismatch(want)
    if mismatch and not _cross_model(have, want, share, rules):
        return miss(mismatch)
    if rules.lossy_enforced and is_lossy(stored) and not is_approximate(view):
        return miss(APPROXIMATE_FAULT)
    if is_approximate(view) and not quality.acceptable(rules):
        return miss(APPROXIMATE_FAULT)
    if mismatch and share is not None:
        return _cross_model_hit(stored, share)
    return hit(stored)


def _distrusted(stored: Entry, reader: Reader, rules: GateRules) -> Verdict | None:
    if rules.taint_refused and taint_quarantined(stored):
        return quarantined(stored)
    if rules.admission_required and admission_quarantined(stored):
        return quarantined(stored)
    if rules.taint_refused and stored.security.taint != TRUSTED:
        return miss(TAINT_DENIED)
    if rules.admission_required and stored.security.admission_verdict != ADMISSION_ALLOW:
        return miss(ADMISSION_DENIED)
    if rules.scope_known and not scope_known(stored):
        return miss(SCOPE_DENIED)
    if rules.tenant_compared and not belongs_to(stored, reader):
        return miss(SCOPE_DENIED)
    return None


def _unusable(stored: Entry, rules: GateRules) -> Verdict | None:
    if rules.handle_valid and not stored.id.valid():
        return miss(INVALID_HANDLE)
    if rules.media_compared and stored.id.media_type != KV_SPAN:
        return miss(MEDIA_MISMATCH)
    if rules.residency_required and tier_code(stored.residency.tier) >= TIER_COUNT:
        return miss(ABSENT)
    return None


def _incomplete(have: GateKey, want: GateKey) -> Verdict:
    sides = (("stored_lacks", have.missing()), ("wanted_lacks", want.missing()))
    return Verdict(MISS, INCOMPLETE_KEY, meta={side: ", ".join(axes) for side, axes in sides if axes})


def _cross_model(have: GateKey, want: GateKey, share: SharePolicy | None, rules: GateRules) -> bool:
    """Whether the keys differ in the model alone and the share policy lets that pass."""
    if share is None or not share.allowed:
        return False
    if rules.family_required and (share.family == "" or share.prefix_digest == ""):
        return False
    return replace(have, model_id=want.model_id) == want


def _cross_model_hit(stored: Entry, share: SharePolicy) -> Verdict:
    labels = {**stored.labels, "cross_model_share": "true", "share_splice": "KVCache.Clone"}
    if share.family:
        labels["share_family"] = share.family
    meta = {
        "cross_model_share": "true",
        "splice": "model.KVCache.Clone",
        "provider_family": share.family,
        "provider_prefix_digest": share.prefix_digest,
    }
    return replace(hit(replace(stored, labels=labels)), meta=meta)
