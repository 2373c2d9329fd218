"""May one tenant use a span that another tenant left in a pool: trust and scope first, then the reuse gate.

Source: the original plane's cross-tenant verdict, reproduced with every rule of both rule objects at 0. An agent's own
span never crosses over, whoever asks.
"""

from policy.entry import ADMISSION_ALLOW, SCOPE_AGENT, TRUSTED, Entry
from policy.gate import materialization_verdict
from policy.gate_key import GateKey
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
from policy.gate_view import EXACT_SPAN
from policy.pool_rules import SAFE_POOL, PoolRules
from policy.verdict import Verdict, miss


def pool_reuse_verdict(
    stored: Entry,
    want: GateKey,
    reader: Reader = ANYONE,
    rules: PoolRules = SAFE_POOL,
    gate_rules: GateRules = SAFE_GATE,
) -> Verdict:
    """Whether `reader` may use `stored` as an exact span, wanted under the key `want`. Never across models."""
    if taint_quarantined(stored) or admission_quarantined(stored):
        return quarantined(stored)
    if stored.security.scope == SCOPE_AGENT:
        return miss(SCOPE_DENIED)
    if stored.security.taint != TRUSTED:
        return miss(TAINT_DENIED)
    if rules.scope_known and not scope_known(stored):
        return miss(SCOPE_DENIED)
    if rules.tenant_compared and not belongs_to(stored, reader):
        return miss(SCOPE_DENIED)
    if rules.admission_required and stored.security.admission_verdict != ADMISSION_ALLOW:
        return miss(ADMISSION_DENIED)
    return materialization_verdict(EXACT_SPAN, stored, want, reader=reader, rules=gate_rules)
