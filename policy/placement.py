"""The planner: what should happen to one span, given which tiers have room.

Source: the original plane's `PlanPlacement`; rules and reasons are its own, in its order. Its weaknesses are mended by
parameters, off in the strict form: `best_rung` (of all colder rungs with room, the cheapest one that pays, instead of
the first one with room, whether it pays or not), `use_remote` (remote is the last rung, instead of never) and
`remote_last`: remote is often faster than a disk, but nothing is colder, so that a small remote store would be filled
first and lose what a large disk could keep; with this rule it is taken only where no rung of the machine itself pays.

The planner reads integers only. What is a float in the original (fullness, access rate, compression quality) is
judged at the edge by `has_room`, `hot` and `acceptable` and comes in as 0 or 1. Ties between rungs go to the hotter.
"""

from array import array

from policy.cost import retain_pays, stage_ns
from policy.costs_by_tier import TierCosts
from policy.decisions import (
    COMPRESS_DEMOTE,
    COMPRESS_DEMOTE_BEATS_RECOMPUTE,
    DEMOTE,
    DEMOTE_BEATS_RECOMPUTE,
    EVICT,
    EXPIRED_NO_DEMOTE,
    FRESH_AND_ROOM,
    HOT_ENTRY_PROMOTED,
    KEEP,
    NO_COLDER_TIER_WITH_ROOM,
    NO_DIRECTIVE,
    OFFLOAD,
    PROMOTE,
    RECOMPUTE_CHEAPER_THAN_RETAIN,
    RESTORE,
    SPILL,
    SPILL_BEATS_RECOMPUTE,
)
from policy.lifecycle import EXPIRED, EXPIRING
from policy.tiers import DISK, HBM, NO_TIER, RECOMPUTE, REMOTE, TIER_COUNT, next_warmer

# What a planner may count on in a tier that a machine does not have, or that is full: less than any span needs.
NO_ROOM = -(2**62)


def has_room(reading: float) -> bool:
    """A tier has room while its fullness reads below 1; NaN and infinity are no room, a negative reading is room."""
    return reading < 1.0


def acceptable(measured: bool, quality_delta: float, max_quality_delta: float) -> bool:
    """Whether lossy bytes may be kept: measured, and within the bound. A bound of 0 or less is no bound."""
    return measured and not (max_quality_delta > 0 and quality_delta > max_quality_delta)


class Planner:
    """Plans one span at a time over the tiers of one machine. The last decision is in the attributes.

    `room_bytes[tier]` is what the owner lets the planner believe is free there, `NO_ROOM` where there is no such tier;
    the owner may share a column that it keeps up to date. `costs` says what a move costs. Outputs: `action`, `to_tier`,
    `directive`, `reason`, `moved_bytes` (an estimate: the bytes that a move would move).
    """

    def __init__(
        self,
        room_bytes: "array[int]",
        attendable: "array[int]",
        costs: TierCosts,
        best_rung: int,
        use_remote: int,
        remote_last: int = 0,
    ) -> None:
        self.room_bytes = room_bytes
        self.attendable = attendable
        self.costs = costs
        self.best_rung = best_rung
        self.remote_last = remote_last
        # The next colder rung that the machine has, by tier: what is passed over on every plan is passed over once.
        self.rung_below = array("q", [NO_TIER]) * TIER_COUNT
        below = NO_TIER
        for tier in range(REMOTE if use_remote else DISK, HBM - 1, -1):
            self.rung_below[tier] = below
            if room_bytes[tier] != NO_ROOM:
                below = tier
        self.action = KEEP
        self.to_tier = NO_TIER
        self.directive = NO_DIRECTIVE
        self.reason = FRESH_AND_ROOM
        self.moved_bytes = 0

    def plan(
        self,
        tier: int,
        state: int,
        has_own_room: int,
        hot: int,
        demote_on_expiry: int,
        size_bytes: int,
        recompute_ns: int,
        compressed_bytes: int,
        full: int = 0,
    ) -> None:
        """Decide for a span in `tier`. `compressed_bytes` is 0 where no acceptable compressed form exists.

        `full` has the bit of each tier in which room could not be made, whatever `room_bytes` says.
        """
        if hot:
            warmer = next_warmer(tier)
            if warmer != NO_TIER and self.room_bytes[warmer] >= size_bytes:
                self._decide(PROMOTE, warmer, RESTORE, HOT_ENTRY_PROMOTED, size_bytes)
                return
        if has_own_room and state != EXPIRING and state != EXPIRED:
            self._decide(KEEP, tier, NO_DIRECTIVE, FRESH_AND_ROOM, 0)
            return
        if state == EXPIRED and not demote_on_expiry:
            self._decide(EVICT, RECOMPUTE, OFFLOAD, EXPIRED_NO_DEMOTE, 0)
            return
        self._relocate(tier, size_bytes, recompute_ns, compressed_bytes, full)

    def _relocate(self, tier: int, size_bytes: int, recompute_ns: int, compressed_bytes: int, full: int) -> None:
        """The colder rungs: exact bytes first, compressed ones where no rung pays for the exact ones."""
        latency_ns = self.costs.latency_ns
        bandwidth_mb_s = self.costs.bandwidth_mb_s
        room_bytes = self.room_bytes
        exact = NO_TIER
        exact_ns = recompute_ns
        compressed = NO_TIER
        compressed_ns = recompute_ns
        any_room = 0
        next_rung = self.rung_below[tier] if tier < TIER_COUNT else NO_TIER
        while next_rung != NO_TIER:
            colder = next_rung
            next_rung = self.rung_below[colder]
            if room_bytes[colder] < size_bytes or full >> colder & 1:
                continue
            if any_room and not self.best_rung:
                break
            any_room = 1
            if colder == REMOTE and exact != NO_TIER and self.remote_last:
                break
            bandwidth = bandwidth_mb_s[tier * TIER_COUNT + colder]
            # Strictly cheaper than recompute, or than a hotter rung that pays: a tie goes to neither.
            move_ns = stage_ns(size_bytes, latency_ns[colder], bandwidth)
            if retain_pays(move_ns, exact_ns):
                exact = colder
                exact_ns = move_ns
            if compressed_bytes > 0:
                move_ns = stage_ns(compressed_bytes, latency_ns[colder], bandwidth)
                if retain_pays(move_ns, compressed_ns):
                    compressed = colder
                    compressed_ns = move_ns
        if not any_room:
            self._decide(EVICT, RECOMPUTE, OFFLOAD, NO_COLDER_TIER_WITH_ROOM, 0)
        elif exact != NO_TIER and self.attendable[exact]:
            self._decide(DEMOTE, exact, OFFLOAD, DEMOTE_BEATS_RECOMPUTE, size_bytes)
        elif exact != NO_TIER:
            self._decide(SPILL, exact, OFFLOAD, SPILL_BEATS_RECOMPUTE, size_bytes)
        elif compressed != NO_TIER:
            self._decide(COMPRESS_DEMOTE, compressed, OFFLOAD, COMPRESS_DEMOTE_BEATS_RECOMPUTE, compressed_bytes)
        else:
            self._decide(EVICT, RECOMPUTE, OFFLOAD, RECOMPUTE_CHEAPER_THAN_RETAIN, 0)

    def _decide(self, action: int, to_tier: int, directive: int, reason: int, moved_bytes: int) -> None:
        self.action = action
        self.to_tier = to_tier
        self.directive = directive
        self.reason = reason
        self.moved_bytes = moved_bytes
