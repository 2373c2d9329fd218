"""Serving requests from a ladder that shares pools: what a pool holds takes part while the request runs."""

from array import array

from policy.decisions import BYPASSED
from policy.pooled_ladder import PooledLadder
from policy.serving import Serving


class PooledServing(Serving):
    """Serves the requests of one host."""

    def __init__(self, ladder: PooledLadder) -> None:
        super().__init__(ladder)
        self.pooled = ladder

    def begin(self, path: "array[int]") -> None:
        """A request begins: nothing of its path may be moved to make room, in no tier and no pool."""
        super().begin(path)
        self.pooled.begin(path)

    def end(self, path: "array[int]", now: int) -> None:
        """The request is over, for the pools first: they are touched at the same reading of the clock."""
        self.pooled.end(path)
        super().end(path, now)

    def fill(self, span: int, now: int) -> bool:
        """A span that was computed enters HBM, or is bypassed, which is remembered like a loss."""
        filled = super().fill(span, now)
        if not filled:
            self.pooled.remember(span, BYPASSED)
        return filled
