"""A planner over the default machine with every tier empty, and its decision in words."""

from __future__ import annotations

from array import array

from policy.cost import NEVER_NS
from policy.costs_by_tier import TierCosts
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, REASON_NAMES
from policy.lifecycle import RESIDENT
from policy.placement import NO_ROOM, Planner
from policy.profiles import default_profiles
from policy.tiers import TIER_COUNT, TIER_NAMES

# Action, destination, directive, reason, bytes moved.
Decision = tuple[str, str, str, str, int]

MIB = 2**20
SIZE_BYTES = 64 * MIB
RECOMPUTE_NS = 8_000_000_000


def planner(best_rung: int = 0, use_remote: int = 0) -> Planner:
    """A planner over the default machine, every tier empty."""
    profiles = default_profiles()
    costs = TierCosts(
        array("q", [profiles[tier].read_latency_ns for tier in range(TIER_COUNT)]),
        array("q", [profiles[tier].bandwidth_mb_s for tier in range(TIER_COUNT)]),
    )
    attendable = array("q", [int(profiles[tier].attendable_in_place()) for tier in range(TIER_COUNT)])
    return Planner(array("q", [2**62]) * TIER_COUNT, attendable, costs, best_rung, use_remote)


def priced(plans: Planner, tier: int, cost_ns: int) -> Planner:
    """Any move to `tier` now costs exactly this, whatever its size; `NEVER_NS` is no bandwidth."""
    plans.costs.latency_ns[tier] = cost_ns
    for source in range(TIER_COUNT):
        plans.costs.bandwidth_mb_s[source * TIER_COUNT + tier] = 0 if cost_ns == NEVER_NS else 2**62
    return plans


def decide(
    plans: Planner,
    tier: int,
    state: int = RESIDENT,
    has_own_room: int = 0,
    hot: int = 0,
    demote_on_expiry: int = 1,
    size_bytes: int = SIZE_BYTES,
    recompute: int = RECOMPUTE_NS,
    compressed_bytes: int = 0,
) -> Decision:
    plans.plan(tier, state, has_own_room, hot, demote_on_expiry, size_bytes, recompute, compressed_bytes)
    return (
        ACTION_NAMES[plans.action],
        TIER_NAMES[plans.to_tier],
        DIRECTIVE_NAMES[plans.directive],
        REASON_NAMES[plans.reason],
        plans.moved_bytes,
    )


def full(plans: Planner, *tiers: int) -> Planner:
    for tier in tiers:
        plans.room_bytes[tier] = NO_ROOM
    return plans


EVICTED_FOR_COST = ("evict", "recompute", "offload", "recompute_cheaper_than_retain", 0)
EVICTED_FOR_ROOM = ("evict", "recompute", "offload", "no_colder_tier_with_room", 0)
EVICTED_FOR_POLICY = ("evict", "recompute", "offload", "expired_no_demote", 0)
