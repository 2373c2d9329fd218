"""Where the cache-event recorder departs from the original plane's: each departure is one named rule, 1 or 0.

All 0 is the original, vector by vector; all 1, the default, counts what the names of its metrics say.
"""

from dataclasses import dataclass

from policy.rules import RuleSpec

RECORDER_RULE_SPECS = (
    RuleSpec("restores_only", 1, 1, "restore misses and faults are those of restores; 0 counts every direction"),
    RuleSpec("hits_serve", 1, 1, "a hit that cannot be served is counted as a miss; 0 as a hit"),
    RuleSpec("ok_moves_only", 1, 1, "only an event whose outcome is ok moves bytes and tokens; 0 every event"),
    RuleSpec("moves_change_tier", 1, 1, "what stays in its tier, or goes to `recompute`, moves nothing; 0 moves it"),
    RuleSpec("counters_monotone", 1, 1, "a negative size counts as 0; 0 lets a counter fall"),
    RuleSpec("capped_when_folded", 1, 1, "keys_capped is 1 once a key overflowed; 0 at 256 keys, full or over"),
    RuleSpec("overflow_moved", 1, 1, "bytes and tokens of the overflow are exposed; 0 exposes its events alone"),
    RuleSpec("from_tier_label", 1, 1, "the breakdown tells source tiers apart, as from_tier; 0 destinations only"),
    RuleSpec("decisions", 1, 1, "decisions are exposed, by action and reason; 0 has none"),
    RuleSpec("occupancy", 1, 1, "bytes held are exposed, by tier; 0 has none"),
)


@dataclass(frozen=True, slots=True)
class RecorderRules:
    """The departures as integer attributes, named as in `RECORDER_RULE_SPECS`."""

    restores_only: int = 1
    hits_serve: int = 1
    ok_moves_only: int = 1
    moves_change_tier: int = 1
    counters_monotone: int = 1
    capped_when_folded: int = 1
    overflow_moved: int = 1
    from_tier_label: int = 1
    decisions: int = 1
    occupancy: int = 1


IMPROVED_RECORDER = RecorderRules()
STRICT_RECORDER = RecorderRules(**{spec.name: 0 for spec in RECORDER_RULE_SPECS})
