"""Least-recently-used order within each tier, where a move does not change a span's place in that order.

Every span carries the stamp of its last touch. A tier keeps a heap of tickets (stamp, span); a ticket whose span
has left or was touched since is stale, and is refreshed or thrown away only when it reaches the top. So a touch costs
one store, a victim costs a logarithm, and a span that arrives from another tier keeps its age.

Ties cannot happen: stamps are unique. A span that was never touched counts as oldest, lowest span id first.
"""

from array import array
from heapq import heapify, heappop, heappush, heapreplace

from policy.tiers import NO_TIER, TIER_COUNT

NO_SPAN = -1

_SPAN_BITS = 31
_SPAN_MASK = (1 << _SPAN_BITS) - 1
_SLACK = 64


class Recency:
    """Which span of a tier was used longest ago, the pinned ones apart."""

    def __init__(self, spans: int) -> None:
        self.clock = 0
        self.stamp = array("q", [0]) * spans
        self.where = array("q", [NO_TIER]) * spans
        self.members = array("q", [0]) * TIER_COUNT
        self.pinned = bytearray(spans)
        self._tickets: list[list[int]] = [[] for _ in range(TIER_COUNT)]
        self._set_aside: list[int] = []

    def enter(self, span: int, tier: int) -> None:
        """The span is now in `tier` and no longer wherever it was."""
        members = self.members
        before = self.where[span]
        if before != NO_TIER:
            members[before] -= 1
        self.where[span] = tier
        members[tier] += 1
        tickets = self._tickets[tier]
        heappush(tickets, self.stamp[span] << _SPAN_BITS | span)
        if len(tickets) > 2 * members[tier] + _SLACK:
            self._compact(tier)

    def leave(self, span: int) -> None:
        """The span is in no tier any more, if it was in one."""
        before = self.where[span]
        if before != NO_TIER:
            self.members[before] -= 1
            self.where[span] = NO_TIER

    def touch(self, span: int) -> None:
        """The span is now the most recently used of all."""
        self.clock += 1
        self.stamp[span] = self.clock

    def begin(self, path: "array[int]") -> None:
        """A request begins: no span of its path is a victim until it ends."""
        for span in path:
            self.pinned[span] = 1

    def end(self, path: "array[int]") -> None:
        """The request is over. Its path is touched from its deepest span to its root."""
        for at in range(len(path) - 1, -1, -1):
            self.touch(path[at])
            self.pinned[path[at]] = 0
        self.release()

    def victims(self, tier: int) -> "list[int]":
        """The spans of `tier` that leave together when room is needed: the victim alone; empty where there is none."""
        victim = self.victim(tier)
        return [] if victim == NO_SPAN else [victim]

    def victim(self, tier: int) -> int:
        """The least recently used span of `tier` that is not pinned; `NO_SPAN` where there is none."""
        tickets = self._tickets[tier]
        while tickets:
            ticket = tickets[0]
            span = ticket & _SPAN_MASK
            if self.where[span] != tier:
                heappop(tickets)
            elif ticket >> _SPAN_BITS != self.stamp[span]:
                heapreplace(tickets, self.stamp[span] << _SPAN_BITS | span)
            elif self.pinned[span]:
                # It will be touched when the request ends: put by until then, so that it is passed over only once.
                self._set_aside.append(span)
                heappop(tickets)
            else:
                return span
        return NO_SPAN

    def spans_in(self, tier: int) -> list[int]:
        """The spans of a tier, by span id; not to be asked while a request is served."""
        self._compact(tier)
        return sorted(ticket & _SPAN_MASK for ticket in self._tickets[tier])

    def release(self) -> None:
        """The request is over: spans that were passed over because it pinned them stand in their tier's order again."""
        for span in self._set_aside:
            tier = self.where[span]
            if tier != NO_TIER:
                heappush(self._tickets[tier], self.stamp[span] << _SPAN_BITS | span)
        self._set_aside.clear()

    def _compact(self, tier: int) -> None:
        """Throw stale tickets away, so that a tier's heap stays in proportion to what it holds."""
        live = {ticket & _SPAN_MASK: 0 for ticket in self._tickets[tier] if self.where[ticket & _SPAN_MASK] == tier}
        kept = [self.stamp[span] << _SPAN_BITS | span for span in live]
        heapify(kept)
        self._tickets[tier] = kept
