"""The live set over time: what was used and will be used again, from first use to last. Less cannot hold every hit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from harness.stats.reuse import Reuse


@dataclass(frozen=True, slots=True)
class Live:
    """Tokens or bytes that are live after each request, in replay order. Nothing is live after the last."""

    after: list[int]

    @property
    def peak(self) -> int:
        return max(self.after, default=0)

    def mean(self, times_us: Sequence[int]) -> int | None:
        """Over time, rounded down; None where no time passes."""
        span_us = times_us[-1] - times_us[0]
        if not span_us:
            return None
        held = zip(self.after, times_us, times_us[1:], strict=False)
        return sum(amount * (later - now) for amount, now, later in held) // span_us


def live_set(reuse: Reuse, amounts: Sequence[int], requests: int) -> Live:
    """The live set where each span counts its part of `amounts`."""
    change = [0] * (requests + 1)
    for span, amount in enumerate(amounts):
        first, last = reuse.first_at[span], reuse.last_at[span]
        if last > first:
            change[first] += amount
            change[last] -= amount
    return Live(list(accumulate(change[:requests])))
