"""The accountant's reading of a pool: what it holds, and what its hosts would hold had each a tier of its own."""

from __future__ import annotations

from array import array

from harness.ledger import Ledger
from policy.costs_by_tier import TierCosts
from policy.spans import Spans


class PoolBook:
    """One pool, for all of its hosts. `spared_bytes` are the copies that its sharing saves: one less than its users.

    A host uses a span of a pool where it put it there, reads it there, or lets its own copy go because it is there.
    """

    def __init__(self, tier: int, hosts: int, capacity_bytes: int, spans: int, start_us: int) -> None:
        self.tier = tier
        self.hosts = hosts
        self.capacity_bytes = capacity_bytes
        self.held_bytes = array("q", [0]) * spans
        self.used_bytes = Gauge(start_us)
        self.spared_bytes = Gauge(start_us)
        self.in_bytes = 0
        self.out_bytes = 0
        self.over_capacity = 0
        self.wrong_source = 0
        # The hosts that use a span, one bit each.
        self._users: dict[int, int] = {}

    def enter(self, span: int, size_bytes: int, host: int, now_us: int) -> None:
        """A host put a span there."""
        if self.held_bytes[span]:
            self.wrong_source += 1
        self.held_bytes[span] = size_bytes
        self.in_bytes += size_bytes
        self.used_bytes.change(size_bytes, now_us)
        self._users[span] = 1 << host
        if self.used_bytes.value > self.capacity_bytes:
            self.over_capacity += 1

    def leave(self, span: int, now_us: int) -> None:
        """A span is there no more."""
        size_bytes = self.held_bytes[span]
        if not size_bytes:
            self.wrong_source += 1
        self.held_bytes[span] = 0
        self.out_bytes += size_bytes
        self.used_bytes.change(-size_bytes, now_us)
        self.spared_bytes.change(-size_bytes * (self._users.pop(span, 1).bit_count() - 1), now_us)

    def use(self, span: int, host: int, now_us: int) -> None:
        """A host used a span there."""
        users = self._users.get(span, 0)
        if users and not users >> host & 1:
            self._users[span] = users | 1 << host
            self.spared_bytes.change(self.held_bytes[span], now_us)

    def advance(self, now_us: int) -> None:
        """Time passes."""
        self.used_bytes.change(0, now_us)
        self.spared_bytes.change(0, now_us)


class Gauge:
    """Bytes over time: their value, their peak, and their integral in byte microseconds."""

    def __init__(self, start_us: int) -> None:
        self.value = 0
        self.peak = 0
        self.byte_us = 0
        self.clock_us = start_us

    def change(self, by: int, now_us: int) -> None:
        """From now on it is that much more."""
        self.byte_us += self.value * (now_us - self.clock_us)
        self.clock_us = now_us
        self.value += by
        self.peak = max(self.peak, self.value)


class PooledLedger(Ledger):
    """The books of one replica, as far as its own tiers go; what enters or leaves a pool is in the pool's."""

    def __init__(
        self,
        spans: Spans,
        costs: TierCosts,
        capacity_bytes: array[int],
        start_us: int,
        host: int,
        books: list[PoolBook],
    ) -> None:
        super().__init__(spans, costs, capacity_bytes, start_us)
        self.host = host
        self.book_of = {book.tier: book for book in books}

    def _reach(self, span: int, tier: int) -> None:
        if tier in self.book_of:
            self.book_of[tier].use(span, self.host, self.clock_us)

    def _enter(self, span: int, tier: int, size_bytes: int) -> None:
        if tier in self.book_of:
            self.book_of[tier].enter(span, size_bytes, self.host, self.clock_us)
        else:
            super()._enter(span, tier, size_bytes)

    def _leave(self, span: int, tier: int) -> None:
        if tier in self.book_of:
            self.book_of[tier].leave(span, self.clock_us)
        else:
            super()._leave(span, tier)
