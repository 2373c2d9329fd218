"""How often each value occurs: percentiles by nearest rank, and a histogram by powers of two. Exact, from integers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

_RANKS = {"p50": 50, "p90": 90, "p99": 99}


class Counts:
    """Values, none of them negative, each with how often it was added."""

    def __init__(self, values: Iterable[int] = ()) -> None:
        self.of: dict[int, int] = {}
        self.add_each(values)

    def add(self, value: int, times: int = 1) -> None:
        """Count `value` so many times more."""
        self.of[value] = self.of.get(value, 0) + times

    def add_each(self, values: Iterable[int]) -> None:
        """Count every one of `values` once."""
        of = self.of
        for value in values:
            of[value] = of.get(value, 0) + 1

    @property
    def total(self) -> int:
        return sum(self.of.values())

    def summary(self) -> dict[str, int] | None:
        """Count, least, mean (rounded down), percentiles by nearest rank, and most; None where nothing was added."""
        if not self.of:
            return None
        total = self.total
        values = sorted(self.of)
        found = {"count": total, "min": values[0], "mean": sum(v * n for v, n in self.of.items()) // total}
        ranks = iter([(name, -(-total * rank // 100)) for name, rank in _RANKS.items()])
        name, due = next(ranks)
        upto = 0
        for value in values:
            upto += self.of[value]
            while name and upto >= due:
                found[name] = value
                name, due = next(ranks, ("", 0))
        return found | {"max": values[-1]}

    def histogram(self) -> list[dict[str, Any]]:
        """Counts from a power of two up to below the next, 0 apart, without gaps from the least value to the most."""
        if not self.of:
            return []
        by_bits: dict[int, int] = {}
        for value, times in self.of.items():
            bits = value.bit_length()
            by_bits[bits] = by_bits.get(bits, 0) + times
        return [
            {"from": 2**bits >> 1, "to": 2**bits - 1, "count": by_bits.get(bits, 0)}
            for bits in range(min(by_bits), max(by_bits) + 1)
        ]
