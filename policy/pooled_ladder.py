"""One host's ladder, some of whose tiers are pools that it shares with other hosts.

A host has a span in at most one tier of its own; beside that, a pool that it reaches may hold a copy for all. What the
pool holds is seen through the host's own columns (`projected`), so that planning and serving need not know of pools:

* for a request, what the host itself does not hold is a `GUEST`: attended where it is, or staged as a copy, and the
  pool keeps its own;
* to make room, the pool's least recently used span is `OWN` to the host that needs the room: it moves on down that
  host's ladder, or is dropped, and then it is in the pool no more.

A span that a host demotes to a pool which has it already is let go of, and no byte moves (`DEDUPE`). The same holds
where the host that needs room holds the pool's victim itself: one host has no use for two copies.
"""

from array import array

from policy.costs_by_tier import TierCosts
from policy.decisions import (
    CLEARED,
    COMPRESS_DEMOTE,
    COPY,
    DEDUPE,
    DROP,
    ELSEWHERE,
    FAULT_CAUSE,
    NO_DIRECTIVE,
    NO_REASON,
    OFFLOAD,
    OK,
    PRESSURE,
    RESTORE,
)
from policy.ladder import Ladder, limit_under
from policy.lifecycle import EVICTED, Ttls
from policy.recency import NO_SPAN
from policy.rules import Rules
from policy.shared_pool import FleetClock, SharedPool
from policy.spans import Spans
from policy.tiers import HBM, RECOMPUTE

GUEST = 1
OWN = 2


class PooledLadder(Ladder):
    """A ladder over its own tiers and `pools`, hot to cold. The pools are of tiers that `present` has."""

    def __init__(
        self,
        spans: Spans,
        present: "array[int]",
        attendable: "array[int]",
        capacity_bytes: "array[int]",
        costs: TierCosts,
        ttls: Ttls,
        rules: Rules,
        pools: "list[SharedPool]",
        clock: FleetClock,
    ) -> None:
        reachable = array("q", attendable)
        for pool in pools:
            # Reachable is not shareable: a copy has to be staged then.
            reachable[pool.tier] = reachable[pool.tier] and pool.in_place
        super().__init__(spans, present, reachable, capacity_bytes, costs, ttls, rules)
        self.pools = pools
        self.pool_of = {pool.tier: pool for pool in pools}
        self.clock = clock
        self.projected = bytearray(len(spans))
        # The number of the loss that `lost_by` tells of.
        self.lost_at = array("q", [0]) * len(spans)

    def age(self, now: int) -> None:
        """Every deadline up to `now` falls, in order, at its own time."""
        self._refresh()
        super().age(now)

    def begin(self, path: "array[int]") -> None:
        """A request begins, its path pinned: what this host does not hold is seen where a pool holds it."""
        self._refresh()
        # One clock for all who share: a span that changes hands keeps its age.
        self.order.clock = self.clock.touches
        for pool in self.pools:
            pool.begin(path)
        for span in path:
            if not self.held_bytes[span]:
                for pool in self.pools:
                    if pool.held_bytes[span]:
                        self._project(pool, span, GUEST)
                        break

    def end(self, path: "array[int]") -> None:
        """The request is over, its path not touched yet: what was a guest is the pool's alone again."""
        for span in path:
            if self.projected[span]:
                self._release(span)
                self.life.state[span] = EVICTED
        for pool in self.pools:
            pool.order.clock = self.order.clock
            pool.end(path)
        self.clock.touches = self.order.clock + len(path)

    def drop(self, span: int, cause: int, now: int) -> None:
        """Let go of a copy that is of no use. A guest stays in the pool, unless reading it met a fault."""
        if not self.projected[span]:
            super().drop(span, cause, now)
            return
        pool = self.pool_of[self.life.tier[span]]
        self._release(span)
        self.life.evict(span, now)
        self.remember(span, cause)
        if cause == FAULT_CAUSE:
            self._drop_from(pool, span, cause, now)

    def clear(self, tier: int, now: int) -> None:
        """A tier loses everything it holds; a pool, once whichever host says so first."""
        pool = self.pool_of.get(tier)
        if pool is None:
            super().clear(tier, now)
            return
        for span in pool.order.spans_in(tier):
            self._drop_from(pool, span, CLEARED, now)

    def press(self, tier: int, fill_ppm: int, now: int) -> None:
        """Others hold `fill_ppm` of a tier from now on. What a pool cannot hold then, the first host relocates."""
        pool = self.pool_of.get(tier)
        if pool is None:
            super().press(tier, fill_ppm, now)
            return
        limit_bytes = limit_under(pool.capacity_bytes, fill_ppm)
        pool.free_bytes += limit_bytes - pool.limit_bytes
        pool.limit_bytes = limit_bytes
        self._mirror(pool)
        while pool.free_bytes < 0:
            self._push_out(pool, pool.order.victim(tier), now)

    def make_room(self, tier: int, size_bytes: int, now: int) -> bool:
        """Free `size_bytes` in a tier of this host, or in a pool."""
        pool = self.pool_of.get(tier)
        if pool is None:
            return super().make_room(tier, size_bytes, now)
        if pool.limit_bytes - pool.pinned_bytes < size_bytes:
            return False
        while pool.free_bytes < size_bytes:
            if not self.cascade:
                return False
            victim = pool.order.victim(tier)
            if victim == NO_SPAN:
                return False
            self._push_out(pool, victim, now)
        return True

    def carry(
        self, span: int, action: int, directive: int, destination: int, reason: int, moved_bytes: int, now: int
    ) -> bool:
        """Do what was planned; nothing moves where the pool has the span already, as exact as it is here."""
        pool = self.pool_of.get(destination)
        if pool is not None and pool.held_bytes[span]:
            if self.lossy[span] or action == COMPRESS_DEMOTE or not pool.lossy[span]:
                tier = self.life.tier[span]
                self.journal.add(now, DEDUPE, OFFLOAD, span, tier, destination, OK, reason, self.held_bytes[span])
                self._forget(span, now)
                return True
            # The exact one takes its place, once there is room for both.
            if not self.make_room(destination, moved_bytes, now):
                return False
            if pool.held_bytes[span]:
                self._drop_from(pool, span, PRESSURE, now)
        return super().carry(span, action, directive, destination, reason, moved_bytes, now)

    def restore(self, span: int, now: int) -> None:
        """A span comes to HBM: a guest as a copy."""
        if not self.projected[span]:
            super().restore(span, now)
            return
        tier = self.life.tier[span]
        self.journal.add(now, COPY, RESTORE, span, tier, HBM, OK, NO_REASON, self.held_bytes[span])
        self.move(span, HBM, self.spans.size_bytes[span], now)

    def move(self, span: int, tier: int, size_bytes: int, now: int) -> None:
        """The span leaves where this host has it for `tier`, its own or a pool."""
        pool = self.pool_of.get(tier)
        if pool is None:
            comes = self.projected[span]
            super().move(span, tier, size_bytes, now)
            if comes:
                # Its life on this host begins, and is not that of a copy which this host had before.
                self.life.admitted[span] = now
                self.life.accesses[span] = 0
            return
        self._forget(span, now)
        pool.admit(span, size_bytes, self.lossy[span], self.order.stamp[span])
        self._mirror(pool)

    def why_lost(self, span: int) -> int:
        """Why neither this host nor a pool has the span: by the latest loss of one of them, if any ever had it."""
        cause = self.lost_by[span]
        latest = self.lost_at[span]
        for pool in self.pools:
            if pool.lost_at[span] > latest:
                cause = pool.lost_by[span]
                latest = pool.lost_at[span]
        return cause or ELSEWHERE

    def remember(self, span: int, cause: int) -> None:
        """This host has lost a span, or could not keep it: the latest loss of all."""
        self.lost_by[span] = cause
        self.lost_at[span] = self.clock.loss()

    def is_pooled(self, tier: int) -> bool:
        """Whether a tier is shared with other hosts."""
        return tier in self.pool_of

    def _project(self, pool: SharedPool, span: int, claim: int) -> None:
        """See a pool's span in this host's columns."""
        self.projected[span] = claim
        self.life.tier[span] = pool.tier
        self.life.state[span] = self.life.settled(pool.tier)
        self.held_bytes[span] = pool.held_bytes[span]
        self.lossy[span] = pool.lossy[span]

    def _push_out(self, pool: SharedPool, victim: int, now: int) -> None:
        """The pool's least recently used span makes room, by this host's ladder."""
        if self.held_bytes[victim]:
            size_bytes = pool.held_bytes[victim]
            self.journal.add(now, DEDUPE, OFFLOAD, victim, pool.tier, self.life.tier[victim], OK, NO_REASON, size_bytes)
            self._take_from(pool, victim, PRESSURE)
            return
        self._project(pool, victim, OWN)
        self.order.stamp[victim] = max(self.order.stamp[victim], pool.order.stamp[victim])
        self.relocate(victim, PRESSURE, now)

    def _release(self, span: int) -> None:
        """The bytes are where they were no more; those of a guest are the pool's."""
        claim = self.projected[span]
        if not claim:
            super()._release(span)
            return
        self.projected[span] = 0
        self.held_bytes[span] = 0
        if claim == OWN:
            # Lost to the other hosts, who reach no tier of this one.
            self._take_from(self.pool_of[self.life.tier[span]], span, PRESSURE)

    def _lose(self, span: int, action: int, directive: int, reason: int, cause: int, now: int) -> None:
        """The span is nowhere. A pool's victim is lost to every host, so the pool remembers why."""
        own = self.projected[span] == OWN
        super()._lose(span, action, directive, reason, cause, now)
        self.remember(span, cause)
        if own:
            self.pool_of[self.life.tier[span]].lost_by[span] = cause

    def _forget(self, span: int, now: int) -> None:
        """This host has the span no more, and it is not lost: a pool holds it."""
        self._release(span)
        self.order.leave(span)
        self.life.evict(span, now)

    def _drop_from(self, pool: SharedPool, span: int, cause: int, now: int) -> None:
        """The pool's copy is gone for every host."""
        size_bytes = pool.held_bytes[span]
        self.journal.add(now, DROP, NO_DIRECTIVE, span, pool.tier, RECOMPUTE, OK, NO_REASON, size_bytes)
        self._take_from(pool, span, cause)

    def _take_from(self, pool: SharedPool, span: int, cause: int) -> None:
        """A pool has a span no more."""
        pool.remove(span, cause, self.clock.loss())
        self._mirror(pool)

    def _refresh(self) -> None:
        """Read how full the pools are: other hosts may have used them since."""
        for pool in self.pools:
            self._mirror(pool)

    def _mirror(self, pool: SharedPool) -> None:
        """Keep this host's columns of a pool's tier as the pool is: the planner reads them."""
        self.limit_bytes[pool.tier] = pool.limit_bytes
        self.free_bytes[pool.tier] = pool.free_bytes
