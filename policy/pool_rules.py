"""Where pools depart from the original plane's: each departure is one named rule, 1 or 0.

All 0 is the original, vector by vector; all 1, the default, promises no more than the pool can keep and fails closed.
"""

from dataclasses import dataclass

from policy.rules import RuleSpec

POOL_RULE_SPECS = (
    RuleSpec("reach_limited", 1, 1, "tenants beyond the hosts that reach a pool keep their own copy; 0 all share one"),
    RuleSpec("share_kind_known", 1, 1, "an unknown share kind is a copy; 0 takes it for zero-copy"),
    RuleSpec("scope_known", 1, 1, "a span of an unknown scope is refused to other tenants; 0 shares it"),
    RuleSpec("tenant_compared", 1, 1, "a tenant's own span is shared with that tenant alone; 0 with every tenant"),
    RuleSpec("admission_required", 1, 1, "only a span admitted with `allow` is shared; 0 refuses quarantine alone"),
)


@dataclass(frozen=True, slots=True)
class PoolRules:
    """The departures as integer attributes, named as in `POOL_RULE_SPECS`."""

    reach_limited: int = 1
    share_kind_known: int = 1
    scope_known: int = 1
    tenant_compared: int = 1
    admission_required: int = 1


SAFE_POOL = PoolRules()
STRICT_POOL = PoolRules(**{spec.name: 0 for spec in POOL_RULE_SPECS})
