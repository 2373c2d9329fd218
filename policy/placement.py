"""The planner: what should happen to one span, given which tiers have room.

Source: the original plane's `PlanPlacement`; rules and reasons are its own, in its order. Two of its weaknesses are
parameters, off in the strict form: `best_rung` (of all colder rungs with room, the cheapest one that pays, instead of
the first one with room, whether it pays or not) and `use_remote` (remote is the last rung, instead of never).

The planner reads integers only. What is a float in the original (fullness, access rate, compression quality) is
judged at the edge by `has_room`, `hot` and `acceptable` and comes in as 0 or 1. Ties between rungs go to the hotter.
"""

from array import array

from policy.cost import NEVER_NS, retain_pays
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
from policy.tiers import DISK, NO_TIER, RECOMPUTE, REMOTE, TIER_COUNT, next_warmer


def has_room(reading: float) -> bool:
    """A tier has room while its fullness reads below 1; NaN and infinity are no room, a negative reading is room."""
    return reading < 1.0


def acceptable(measured: bool, quality_delta: float, max_quality_delta: float) -> bool:
    """Whether lossy bytes may be kept: measured, and within the bound. A bound of 0 or less is no bound."""
    return measured and not (max_quality_delta > 0 and quality_delta > max_quality_delta)


class Planner:
    """Plans one span at a time over the tiers of one machine. The last decision is in the attributes.

    Inputs by tier, set by the owner: `present` (the machine has it), `attendable`, and before each `plan`: `room`
    (1 where it has room for this span) and `move_ns` / `compressed_move_ns` (what moving the span there costs).
    Outputs: `action`, `to_tier`, `directive`, `reason`, `moved_bytes` (an estimate: the bytes that a move would move).
    """

    def __init__(self, present: "array[int]", attendable: "array[int]", best_rung: int, use_remote: int) -> None:
        self.present = present
        self.attendable = attendable
        self.best_rung = best_rung
        self.use_remote = use_remote
        self.room = array("q", [1]) * TIER_COUNT
        self.move_ns = array("q", [NEVER_NS]) * TIER_COUNT
        self.compressed_move_ns = array("q", [NEVER_NS]) * TIER_COUNT
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
    ) -> None:
        """Decide for a span in `tier`. `compressed_bytes` is 0 where no acceptable compressed form exists."""
        if hot:
            warmer = next_warmer(tier)
            if warmer != NO_TIER and self.present[warmer] and self.room[warmer]:
                self._decide(PROMOTE, warmer, RESTORE, HOT_ENTRY_PROMOTED, size_bytes)
                return
        if has_own_room and state != EXPIRING and state != EXPIRED:
            self._decide(KEEP, tier, NO_DIRECTIVE, FRESH_AND_ROOM, 0)
            return
        if state == EXPIRED and not demote_on_expiry:
            self._decide(EVICT, RECOMPUTE, OFFLOAD, EXPIRED_NO_DEMOTE, 0)
            return
        self._relocate(tier, size_bytes, recompute_ns, compressed_bytes)

    def _relocate(self, tier: int, size_bytes: int, recompute_ns: int, compressed_bytes: int) -> None:
        """The colder rungs: exact bytes first, compressed ones where no rung pays for the exact ones."""
        last = REMOTE if self.use_remote else DISK
        first_room = NO_TIER
        exact = NO_TIER
        compressed = NO_TIER
        for colder in range(tier + 1, last + 1):
            if not self.present[colder] or not self.room[colder]:
                continue
            if first_room == NO_TIER:
                first_room = colder
            elif not self.best_rung:
                break
            if retain_pays(self.move_ns[colder], recompute_ns) and (
                exact == NO_TIER or self.move_ns[colder] < self.move_ns[exact]
            ):
                exact = colder
            if (
                compressed_bytes > 0
                and retain_pays(self.compressed_move_ns[colder], recompute_ns)
                and (
                    compressed == NO_TIER
                    or self.compressed_move_ns[colder] < self.compressed_move_ns[compressed]
                )
            ):
                compressed = colder
        if first_room == NO_TIER:
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
