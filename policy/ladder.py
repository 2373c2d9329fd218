"""The ladder of tiers under one policy: who lives where, who must move when room is needed, and what is lost.

The mechanism that every policy shares; what differs between policies is in `Rules`. A full ladder cascades, coldest
last, instead of freezing. Everything done is a row of the journal, in order; the ladder counts nothing for the account.
"""

from array import array

from policy.cost import PPM
from policy.costs_by_tier import TierCosts
from policy.deadlines import Deadlines
from policy.decisions import (
    CLEARED,
    COLD,
    COMPRESS_DEMOTE,
    COST,
    DROP,
    ELSEWHERE,
    EVICT,
    EXPIRED_CAUSE,
    NO_DIRECTIVE,
    NO_REASON,
    OK,
    PRESSURE,
    PROMOTE,
    RECOMPUTE_CHEAPER_THAN_RETAIN,
    RESTORE,
    RESTORED,
)
from policy.journal import Journal
from policy.lifecycle import EXPIRING, RESIDENT, SPILLED, Lifecycle, Ttls
from policy.placement import NO_ROOM, Planner
from policy.radix_order import RadixOrder
from policy.recency import Recency
from policy.rules import Rules
from policy.spans import Spans
from policy.tiers import HBM, NO_TIER, RECOMPUTE, TIER_COUNT, next_warmer

UNBOUNDED_BYTES = 2**62
NEVER = -(2**62)


def limit_under(capacity_bytes: int, fill_ppm: int) -> int:
    """What may be held of a capacity of which others hold `fill_ppm`."""
    if capacity_bytes == UNBOUNDED_BYTES:
        # Part of what has no bound is no bound, but a full tier is full.
        return 0 if fill_ppm >= PPM else UNBOUNDED_BYTES
    return capacity_bytes - capacity_bytes * fill_ppm // PPM


class Ladder:
    """Residency of every span under one policy.

    `present[tier]` and `attendable[tier]` are 0 or 1, `capacity_bytes[tier]` is `UNBOUNDED_BYTES` where there is no
    bound. Times are integers in one unit, microseconds in the replay.
    """

    def __init__(
        self,
        spans: Spans,
        present: "array[int]",
        attendable: "array[int]",
        capacity_bytes: "array[int]",
        costs: TierCosts,
        ttls: Ttls,
        rules: Rules,
    ) -> None:
        count = len(spans)
        self.spans = spans
        self.present = present
        self.capacity_bytes = capacity_bytes
        self.costs = costs
        self.ttls = ttls
        self.rules = rules
        self.life = Lifecycle(count, attendable, rules.restart_on_revival, rules.ttl_on_spilled)
        self.order = RadixOrder(count) if rules.radix else Recency(count)
        self.deadlines = Deadlines()
        self.journal = Journal()
        # What a tier may hold: its capacity less what others hold of it (`pressure`); and what of that is free.
        self.limit_bytes = array("q", [NO_ROOM]) * TIER_COUNT
        for tier in range(TIER_COUNT):
            if present[tier]:
                self.limit_bytes[tier] = capacity_bytes[tier]
        self.free_bytes = array("q", self.limit_bytes)
        room_bytes = self.free_bytes if rules.room_when_free else self.limit_bytes
        self.planner = Planner(room_bytes, attendable, costs, rules.best_rung, rules.use_remote, rules.remote_last)
        self.pinned_bytes = array("q", [0]) * TIER_COUNT
        # No fault window is open at any time, before 0 or after.
        self.fault_until = array("q", [NEVER]) * TIER_COUNT
        self.held_bytes = array("q", [0]) * count
        # Bytes that went through a lossy compression stay marked until they are computed anew.
        self.lossy = bytearray(count)
        # Why a span that is nowhere is nowhere: a cause of `policy.decisions`.
        self.lost_by = array("q", [COLD]) * count
        self.cascade = rules.cascade
        # Without a TTL anywhere no deadline ever falls.
        self.timed = 1 if max(ttls.ttl) > 0 else 0
        self.expiring_count = 0
        self.expired_count = 0
        self.revived_count = 0

    def age(self, now: int) -> None:
        """Every deadline up to `now` falls, in order, at its own time; what expired is relocated at once."""
        while self.deadlines.due(now):
            time, span = self.deadlines.pop()
            if self._due(span) != time:
                continue
            self.life.advance(span, self.ttls, time)
            if self.life.state[span] == EXPIRING:
                self.expiring_count += 1
                self.watch(span)
            else:
                self.expired_count += 1
                self.relocate(span, EXPIRED_CAUSE, time)

    def drop(self, span: int, cause: int, now: int) -> None:
        """Let go of a copy that is of no use: behind a gap, refused, cleared or faulted."""
        self._lose(span, DROP, NO_DIRECTIVE, NO_REASON, cause, now)

    def clear(self, tier: int, now: int) -> None:
        """A tier loses everything it holds."""
        for span in self.order.spans_in(tier):
            self.drop(span, CLEARED, now)

    def fail(self, tier: int, until: int) -> None:
        """Reads from a tier fail until `until`, that time not included."""
        self.fault_until[tier] = max(self.fault_until[tier], until)

    def press(self, tier: int, fill_ppm: int, now: int) -> None:
        """Others hold `fill_ppm` of a tier from now on: spans are relocated until the rest fits."""
        limit_bytes = limit_under(self.capacity_bytes[tier], fill_ppm)
        self.free_bytes[tier] += limit_bytes - self.limit_bytes[tier]
        self.limit_bytes[tier] = limit_bytes
        while self.free_bytes[tier] < 0:
            for victim in self.order.victims(tier):
                self.relocate(victim, PRESSURE, now)

    def make_room(self, tier: int, size_bytes: int, now: int) -> bool:
        """Free `size_bytes` in a tier by relocating its least recently used spans, those of the request apart."""
        if self.limit_bytes[tier] - self.pinned_bytes[tier] < size_bytes:
            return False
        while self.free_bytes[tier] < size_bytes:
            if tier != HBM and not self.cascade:
                return False
            victims = self.order.victims(tier)
            if not victims:
                return False
            for victim in victims:
                self.relocate(victim, PRESSURE, now)
        return True

    def relocate(self, span: int, asked_by: int, now: int) -> None:
        """Move a span to the colder rung that the planner picks, or drop it. Its own tier counts as full."""
        tier = self.life.tier[span]
        planner = self.planner
        full = 0
        while True:
            planner.plan(
                tier,
                self.life.state[span],
                0,
                0,
                self.ttls.demote_on_expiry,
                self.held_bytes[span],
                self.spans.recompute_ns[span],
                self._compressed_bytes(span) if self.rules.compress_ppm else 0,
                full,
            )
            action = planner.action
            destination = planner.to_tier
            reason = planner.reason
            if action == EVICT:
                cause = COST if reason == RECOMPUTE_CHEAPER_THAN_RETAIN else asked_by
                self._lose(span, action, planner.directive, reason, cause, now)
                return
            if self.carry(span, action, planner.directive, destination, reason, planner.moved_bytes, now):
                return
            full |= 1 << destination

    def carry(
        self, span: int, action: int, directive: int, destination: int, reason: int, moved_bytes: int, now: int
    ) -> bool:
        """Do what was planned. False where no room can be made there: the plan is void."""
        if not self.make_room(destination, moved_bytes, now):
            return False
        self.journal.add(now, action, directive, span, self.life.tier[span], destination, OK, reason, moved_bytes)
        if action == COMPRESS_DEMOTE:
            self.lossy[span] = 1
        self.move(span, destination, moved_bytes, now)
        return True

    def restore(self, span: int, now: int) -> None:
        """A span comes back to HBM, where room was made for it; only then is its source released."""
        tier = self.life.tier[span]
        self.journal.add(now, RESTORED, RESTORE, span, tier, HBM, OK, NO_REASON, self.held_bytes[span])
        self.move(span, HBM, self.spans.size_bytes[span], now)

    def why_lost(self, span: int) -> int:
        """Why a span that is nowhere is nowhere, as a cause of `policy.decisions`. What never was here is elsewhere."""
        return self.lost_by[span] or ELSEWHERE

    def _compressed_bytes(self, span: int) -> int:
        """Size of a span's acceptable compressed form; 0 where there is none, or it is compressed already."""
        rules = self.rules
        if self.lossy[span]:
            return 0
        # Stricter than the original: a loss that is unmeasured, or has no bound to keep to, is not acceptable.
        if not rules.compress_measured or rules.compress_delta_ppm > rules.compress_bound_ppm:
            return 0
        return max(1, self.spans.size_bytes[span] * rules.compress_ppm // PPM)

    def promote_if_hot(self, span: int, now: int) -> None:
        """One rung warmer, where the span's access rate asks for it and the bytes are free there."""
        life = self.life
        tier = life.tier[span]
        elapsed_us = now - life.admitted[span]
        if life.state[span] != RESIDENT or self.lossy[span] or elapsed_us <= 0:
            return
        if life.accesses[span] * 10**9 // elapsed_us < self.rules.promote_accesses_per_1000_s:
            return
        warmer = next_warmer(tier)
        size_bytes = self.held_bytes[span]
        if warmer == NO_TIER or self.free_bytes[warmer] < size_bytes:
            return
        planner = self.planner
        planner.plan(tier, RESIDENT, 1, 1, self.ttls.demote_on_expiry, size_bytes, self.spans.recompute_ns[span], 0)
        if planner.action == PROMOTE:
            self.carry(span, PROMOTE, planner.directive, warmer, planner.reason, size_bytes, now)

    def arrive(self, span: int, tier: int, size_bytes: int) -> None:
        """Account a span as held in `tier` and start watching its TTL."""
        self.free_bytes[tier] -= size_bytes
        self.held_bytes[span] = size_bytes
        if self.order.pinned[span]:
            self.pinned_bytes[tier] += size_bytes
        self.order.enter(span, tier)
        if self.timed:
            self.watch(span)

    def move(self, span: int, tier: int, size_bytes: int, now: int) -> None:
        """The span leaves its tier for `tier`, where it takes `size_bytes`."""
        self._release(span)
        self.life.place(span, tier, now)
        self.arrive(span, tier, size_bytes)

    def _release(self, span: int) -> None:
        """The bytes of a span are in its tier no more."""
        tier = self.life.tier[span]
        size_bytes = self.held_bytes[span]
        self.free_bytes[tier] += size_bytes
        if self.order.pinned[span]:
            self.pinned_bytes[tier] -= size_bytes
        self.held_bytes[span] = 0

    def _lose(self, span: int, action: int, directive: int, reason: int, cause: int, now: int) -> None:
        """The span is nowhere from now on, and remembers why."""
        tier = self.life.tier[span]
        self.journal.add(now, action, directive, span, tier, RECOMPUTE, OK, reason, self.held_bytes[span])
        self._release(span)
        self.order.leave(span)
        self.life.evict(span, now)
        self.lost_by[span] = cause

    def is_pooled(self, tier: int) -> bool:
        """Whether a tier is not this ladder's own: here every one is."""
        return False

    def used_bytes(self, tier: int) -> int:
        """What a tier holds."""
        return self.limit_bytes[tier] - self.free_bytes[tier]

    def watch(self, span: int) -> None:
        """Set the deadline at which the span's state is due to change, if it has one."""
        due = self._due(span)
        if due != NEVER:
            self.deadlines.add(due, span)

    def _due(self, span: int) -> int:
        """When the span's state is due to change, as things stand; `NEVER` where it is not."""
        life = self.life
        state = life.state[span]
        if state == EXPIRING:
            return life.since[span] + self.ttls.grace
        if state == RESIDENT or (state == SPILLED and self.rules.ttl_on_spilled):
            ttl = self.ttls.ttl_for(life.tier[span])
            if ttl > 0:
                # A span revived after its TTL ran out, whose clock was not restarted, is overdue at once.
                return max(life.entered[span] + ttl, life.since[span])
        return NEVER
