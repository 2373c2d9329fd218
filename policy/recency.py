"""Least-recently-used order within each tier, where a move does not change a span's place in that order.

Every span carries the stamp of its last touch. A tier's order is the merge of two lists that are each in order: the
spans that were touched where they are, and those that arrived from another tier, which happens oldest first as long as
pressure moves them. What arrives out of order (an expiry, a prefix tree's leaf) waits in a heap of tickets beside the
lists. So a touch, a move and a victim cost a few stores each, whatever the tier holds.

A span that a request pins is in neither: it cannot be a victim, and stands in its tier's order again when the request
ends and touches it. Ties cannot happen: stamps are unique. A span that was never touched counts as oldest, lowest span
id first.
"""

from array import array
from heapq import heapify, heappop, heappush

from policy.tiers import NO_TIER, TIER_COUNT

NO_SPAN = -1

# Where a span stands: in no order, in list `2 * tier` (touched there) or `2 * tier + 1` (arrived), or in a tier's heap.
_NOWHERE = -1
_HEAPED = 2 * TIER_COUNT
_LISTS = 2 * TIER_COUNT

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
        self._place = array("q", [_NOWHERE]) * spans
        # Neighbours in the span's list, older and newer.
        self._older = array("q", [NO_SPAN]) * spans
        self._newer = array("q", [NO_SPAN]) * spans
        self._oldest = array("q", [NO_SPAN]) * _LISTS
        self._newest = array("q", [NO_SPAN]) * _LISTS
        # By tier, tickets (stamp, span). One whose span stands elsewhere now, or was touched since, is stale.
        self._tickets: list[list[int]] = [[] for _ in range(TIER_COUNT)]
        self._ticketed = array("q", [0]) * TIER_COUNT

    def enter(self, span: int, tier: int) -> None:
        """The span is now in `tier` and no longer wherever it was."""
        self.leave(span)
        self.where[span] = tier
        self.members[tier] += 1
        if self.pinned[span]:
            return
        arrived = 2 * tier + 1
        before = self._newest[arrived]
        if before == NO_SPAN or self._is_older(before, span):
            self._append(span, arrived)
        else:
            self._ticket(span, tier)

    def leave(self, span: int) -> None:
        """The span is in no tier any more, if it was in one."""
        before = self.where[span]
        if before != NO_TIER:
            self.members[before] -= 1
            self.where[span] = NO_TIER
            self._unlist(span)

    def touch(self, span: int) -> None:
        """The span is now the most recently used of all."""
        self.clock += 1
        self.stamp[span] = self.clock
        tier = self.where[span]
        if tier != NO_TIER and not self.pinned[span]:
            self._unlist(span)
            self._append(span, 2 * tier)

    def begin(self, path: "array[int]") -> None:
        """A request begins: no span of its path is a victim until it ends."""
        for at in range(len(path)):
            span = path[at]
            self.pinned[span] = 1
            self._unlist(span)

    def end(self, path: "array[int]") -> None:
        """The request is over. Its path is touched from its deepest span to its root."""
        for at in range(len(path) - 1, -1, -1):
            span = path[at]
            self.pinned[span] = 0
            self.touch(span)

    def victims(self, tier: int) -> "list[int]":
        """The spans of `tier` that leave together when room is needed: the victim alone; empty where there is none."""
        victim = self.victim(tier)
        return [] if victim == NO_SPAN else [victim]

    def victim(self, tier: int) -> int:
        """The least recently used span of `tier` that is not pinned; `NO_SPAN` where there is none."""
        victim = self._oldest[2 * tier]
        arrived = self._oldest[2 * tier + 1]
        if victim == NO_SPAN or (arrived != NO_SPAN and self._is_older(arrived, victim)):
            victim = arrived
        if self._ticketed[tier]:
            ticketed = self._first_ticketed(tier)
            if victim == NO_SPAN or (ticketed != NO_SPAN and self._is_older(ticketed, victim)):
                victim = ticketed
        return victim

    def spans_in(self, tier: int) -> list[int]:
        """The spans of a tier, by span id; not to be asked while a request is served."""
        spans = [ticket & _SPAN_MASK for ticket in self._live(tier)]
        for each in (2 * tier, 2 * tier + 1):
            span = self._oldest[each]
            while span != NO_SPAN:
                spans.append(span)
                span = self._newer[span]
        return sorted(spans)

    def _is_older(self, span: int, other: int) -> bool:
        """Whether `span` was used before `other`."""
        stamp = self.stamp[span]
        others = self.stamp[other]
        return stamp < others or (stamp == others and span < other)

    def _append(self, span: int, order: int) -> None:
        """The span is the newest of a list."""
        before = self._newest[order]
        self._place[span] = order
        self._older[span] = before
        self._newer[span] = NO_SPAN
        self._newest[order] = span
        if before == NO_SPAN:
            self._oldest[order] = span
        else:
            self._newer[before] = span

    def _unlist(self, span: int) -> None:
        """The span stands in no order."""
        order = self._place[span]
        if order == _NOWHERE:
            return
        self._place[span] = _NOWHERE
        if order >= _HEAPED:
            self._ticketed[order - _HEAPED] -= 1
            return
        older = self._older[span]
        newer = self._newer[span]
        if older == NO_SPAN:
            self._oldest[order] = newer
        else:
            self._newer[older] = newer
        if newer == NO_SPAN:
            self._newest[order] = older
        else:
            self._older[newer] = older

    def _ticket(self, span: int, tier: int) -> None:
        """The span waits for its turn in the heap of a tier."""
        self._place[span] = _HEAPED + tier
        self._ticketed[tier] += 1
        tickets = self._tickets[tier]
        heappush(tickets, self.stamp[span] << _SPAN_BITS | span)
        if len(tickets) > 2 * self._ticketed[tier] + _SLACK:
            live = self._live(tier)
            heapify(live)
            self._tickets[tier] = live

    def _first_ticketed(self, tier: int) -> int:
        """The oldest span in the heap of a tier; `NO_SPAN` where there is none. Stale tickets before it are gone."""
        tickets = self._tickets[tier]
        while tickets:
            ticket = tickets[0]
            if self._is_live(ticket, tier):
                return ticket & _SPAN_MASK
            heappop(tickets)
        return NO_SPAN

    def _live(self, tier: int) -> list[int]:
        """The tickets of a tier that are not stale, each once: a span that came back may have several."""
        return list({ticket: 0 for ticket in self._tickets[tier] if self._is_live(ticket, tier)})

    def _is_live(self, ticket: int, tier: int) -> bool:
        span = ticket & _SPAN_MASK
        return self._place[span] == _HEAPED + tier and self.stamp[span] == ticket >> _SPAN_BITS
