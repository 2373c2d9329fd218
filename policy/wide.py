"""Sums that may pass 64 bits, of addends that do not: a compiled build adds machine integers, and wraps nowhere."""

from array import array

# An integer without bound: where an annotation says this, a compiled build keeps Python's own.
Wide = int

# A sum is carried over before another addend, which is below 2**62, could overflow it.
_FULL = 2**61


class WideSums:
    """`count` sums of integers from 0 to 2**62, each as large as it has to be."""

    def __init__(self, count: int) -> None:
        self._low = array("q", [0]) * count
        self._high: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._low)

    def __getitem__(self, at: int) -> Wide:
        return self._high.get(at, 0) + self._low[at]

    def add(self, at: int, value: int) -> None:
        """Add to the sum at `at`."""
        low = self._low[at] + value
        if low >= _FULL:
            self._carry(at, low)
            low = 0
        self._low[at] = low

    def add_wide(self, at: int, value: Wide) -> None:
        """Add what may itself pass 64 bits."""
        self._carry(at, value)

    def _carry(self, at: int, value: Wide) -> None:
        self._high[at] = self._high.get(at, 0) + value
