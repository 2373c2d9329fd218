"""A planner over the default machine with every tier empty, and its decision in words."""

from __future__ import annotations

from array import array

from policy.cost import stage_ns
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, REASON_NAMES
from policy.lifecycle import RESIDENT
from policy.placement import Planner
from policy.profiles import default_profiles
from policy.tiers import TIER_COUNT, TIER_NAMES

# Action, destination, directive, reason, bytes moved.
Decision = tuple[str, str, str, str, int]

MIB = 2**20
SIZE_BYTES = 64 * MIB
RECOMPUTE_NS = 8_000_000_000


def planner(
    best_rung: int = 0, use_remote: int = 0, size_bytes: int = SIZE_BYTES, compressed_bytes: int = 0
) -> Planner:
    """A planner over the default machine, every tier empty."""
    profiles = default_profiles()
    plans = Planner(
        array("q", [1]) * TIER_COUNT,
        array("q", [int(profiles[tier].attendable_in_place()) for tier in range(TIER_COUNT)]),
        best_rung,
        use_remote,
    )
    for tier, profile in profiles.items():
        figures = profile.read_latency_ns, profile.bandwidth_mb_s
        plans.move_ns[tier] = stage_ns(size_bytes, *figures)
        plans.compressed_move_ns[tier] = stage_ns(compressed_bytes, *figures)
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
        plans.room[tier] = 0
    return plans


EVICTED_FOR_COST = ("evict", "recompute", "offload", "recompute_cheaper_than_retain", 0)
EVICTED_FOR_ROOM = ("evict", "recompute", "offload", "no_colder_tier_with_room", 0)
EVICTED_FOR_POLICY = ("evict", "recompute", "offload", "expired_no_demote", 0)
