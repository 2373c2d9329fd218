"""What a policy did, in order: the directive stream as rows of integers, which the accountant reads and prices."""

from array import array

# A row: now, action, directive, span, source, destination, outcome, reason, size_bytes.
# Codes are those of `policy.decisions`; `reason` is `NO_REASON` where no plan was asked for.
Row = tuple[int, int, int, int, int, int, int, int, int]

ROW_CELLS = 9
_FIRST_ROWS = 64


class Journal:
    """One row per thing done to a span, read and cleared after each event.

    Row `r` is `cells[r * ROW_CELLS:(r + 1) * ROW_CELLS]`, in the order of `Row`; there are `count`.
    """

    def __init__(self) -> None:
        self.count = 0
        self.cells = array("q", [0]) * (ROW_CELLS * _FIRST_ROWS)

    def add(
        self,
        now: int,
        action: int,
        directive: int,
        span: int,
        source: int,
        destination: int,
        outcome: int,
        reason: int,
        size_bytes: int,
    ) -> None:
        """Append a row."""
        at = self.count * ROW_CELLS
        if at == len(self.cells):
            self._grow()
        cells = self.cells
        cells[at] = now
        cells[at + 1] = action
        cells[at + 2] = directive
        cells[at + 3] = span
        cells[at + 4] = source
        cells[at + 5] = destination
        cells[at + 6] = outcome
        cells[at + 7] = reason
        cells[at + 8] = size_bytes
        self.count += 1

    def rows(self) -> list[Row]:
        """The rows as tuples."""
        columns = [list(self.cells[column : self.count * ROW_CELLS : ROW_CELLS]) for column in range(ROW_CELLS)]
        return list(zip(*columns, strict=True))

    def clear(self) -> None:
        """No rows any more."""
        self.count = 0

    def _grow(self) -> None:
        before = len(self.cells)
        cells: array[int] = array("q", [0]) * (2 * before)
        for at in range(before):
            cells[at] = self.cells[at]
        self.cells = cells
