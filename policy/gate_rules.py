"""Where the reuse gate departs from the original plane's: each departure is one named rule, 1 or 0.

All 0 is the original, vector by vector; all 1, the default, fails closed. Every rule only refuses or renames a
refusal, so no setting serves what the original refuses.
"""

from dataclasses import dataclass

from policy.rules import RuleSpec

GATE_RULE_SPECS = (
    RuleSpec("view_known", 1, 1, "an unknown view is refused; 0 serves it as exact KV"),
    RuleSpec("taint_refused", 1, 1, "a span that is not trusted is refused, a quarantined one as such; 0 never looks"),
    RuleSpec("admission_required", 1, 1, "only a span admitted with `allow` is served; 0 never looks"),
    RuleSpec("scope_known", 1, 1, "a span of an unknown scope is refused; 0 serves it"),
    RuleSpec("tenant_compared", 1, 1, "a tenant's or an agent's own span is served to that one alone; 0 to anyone"),
    RuleSpec("handle_valid", 1, 1, "a span whose handle cannot be followed is a miss; 0 is a hit that cannot serve"),
    RuleSpec("media_compared", 1, 1, "only KV is served as KV; 0 serves any media type"),
    RuleSpec("residency_required", 1, 1, "only a span in a tier that holds bytes is served; 0 never looks"),
    RuleSpec("key_gap_named", 1, 1, "a missing axis is `incomplete_key`, with the axes; 0 calls it a model mismatch"),
    RuleSpec("family_required", 1, 1, "another model's span needs a named family and prefix; 0 only the permission"),
    RuleSpec("quality_bounded", 1, 1, "an approximate span needs a bound on its loss; 0 takes no bound for any loss"),
    RuleSpec("faults_refused", 1, 1, "an approximate span with faults observed is refused; 0 never looks"),
    RuleSpec("lossy_enforced", 1, 1, "a span marked lossy is refused through an exact view; 0 serves it as exact"),
)


@dataclass(frozen=True, slots=True)
class GateRules:
    """The departures as integer attributes, named as in `GATE_RULE_SPECS`."""

    view_known: int = 1
    taint_refused: int = 1
    admission_required: int = 1
    scope_known: int = 1
    tenant_compared: int = 1
    handle_valid: int = 1
    media_compared: int = 1
    residency_required: int = 1
    key_gap_named: int = 1
    family_required: int = 1
    quality_bounded: int = 1
    faults_refused: int = 1
    lossy_enforced: int = 1


SAFE_GATE = GateRules()
STRICT_GATE = GateRules(**{spec.name: 0 for spec in GATE_RULE_SPECS})
