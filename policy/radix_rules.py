"""The named rules of the prefix tree: where it departs from the original, each departure a name and an integer.

All 0 (`STRICT_RADIX`) is the original plane's tree as written; all 1 (`IMPROVED_RADIX`, the default) is the tree with
its known weaknesses mended. A rule that is 0 leaves the original's behaviour alone, its damage included.
"""

from dataclasses import dataclass

from policy.rules import RuleSpec

RADIX_RULE_SPECS = (
    RuleSpec("merge_inserts", 1, 1, "an insert goes on along what another insert added meanwhile; 0 overwrites it"),
    RuleSpec("safe_handles", 1, 1, "a node that left the tree can no longer change it; 0 corrupts the token counter"),
    RuleSpec("reclaim_on_release", 1, 1, "a release or policy eviction re-checks the budget; 0 waits for an insert"),
    RuleSpec("queue_victims", 1, 1, "victims come from a queue, ties by age; 0 scans the whole tree for each one"),
    RuleSpec("spare_leased", 1, 1, "policy eviction spares what is leased and all above it; 0 takes it away"),
    RuleSpec("exact_prefix", 1, 1, "evicting a prefix spares an edge that only begins like it; 0 drops that edge"),
    RuleSpec("undo_splits", 1, 1, "an edge split for a lookup that added nothing grows together again on release"),
    RuleSpec("guard_all", 1, 1, "every method of a bound tree refuses a foreign key; 0 refuses it at lookup alone"),
    RuleSpec("key_gap_named", 1, 1, "a key that lacks an axis is `incomplete_key`; 0 calls it a model mismatch"),
)


@dataclass(frozen=True, slots=True)
class RadixRules:
    """One setting of the rules, each 0 or 1, named as in `RADIX_RULE_SPECS`."""

    merge_inserts: int = 1
    safe_handles: int = 1
    reclaim_on_release: int = 1
    queue_victims: int = 1
    spare_leased: int = 1
    exact_prefix: int = 1
    undo_splits: int = 1
    guard_all: int = 1
    key_gap_named: int = 1


STRICT_RADIX = RadixRules(**{spec.name: 0 for spec in RADIX_RULE_SPECS})
IMPROVED_RADIX = RadixRules()
