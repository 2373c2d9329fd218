"""The blocks of a trace while it is read: runs of new blocks, each added by one row, instead of columns by block.

Within a run every block is the child of the one before it, and all but the last are whole; so a run says of thousands
of blocks what columns would say one by one, and a path is held to an earlier one by comparing two slices of memory.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right

from harness.trace import NO_BLOCK, Trace


class Runs:
    """Runs in order of their blocks' numbers. `total` counts the blocks; `trace.path` is the path that rows are on."""

    def __init__(self, trace: Trace) -> None:
        self.total = 0
        self._trace = trace
        self._first: list[int] = []
        # Of the row that added a run: where its path starts in `trace.path`, and where its first new block is.
        self._row_start: list[int] = []
        self._at: list[int] = []
        self._parent: list[int] = []
        self._last_tokens: list[int] = []
        self._place: list[int] = []
        self._bytes: dict[int, int] = {}

    def add(self, row_start: int, at: int, count: int, last_tokens: int, place: int) -> None:
        """Note `count` new blocks, which a row at `place` has on its path from `at` on."""
        self._first.append(self.total)
        self._row_start.append(row_start)
        self._at.append(at)
        self._parent.append(self._trace.path[at - 1] if at > row_start else NO_BLOCK)
        self._last_tokens.append(last_tokens)
        self._place.append(place)
        self.total += count

    def add_rows(self, rows: list[list[int]], rows_last_tokens: list[int], place: int) -> list[int] | None:
        """Take rows of block numbers in which every new one is the next, at places that follow each other.

        Returns the new numbers; None, and nothing has happened, where a row is not of that form or contradicts another.
        """
        path, whole = self._trace.path, self._trace.block_tokens
        first, row_start, ats, last_tokens = self._first, self._row_start, self._at, self._last_tokens
        before, runs_before, first_new = len(path), len(first), self.total
        total, start = first_new, before
        names: list[int] = []
        # As `follows` and `add` have it, written out: this loop is most of what reading a trace takes.
        try:
            for row, tokens in zip(rows, rows_last_tokens, strict=True):
                path.fromlist(row)
                new = row[-1] - total + 1
                count, expected = (len(row) - new, whole) if new > 0 else (len(row), tokens)
                if count > 0:
                    block = row[count - 1]
                    if not 0 <= block < total:
                        break
                    run = bisect_right(first, block) - 1
                    at, begin = ats[run] + block - first[run], row_start[run]
                    following = first[run + 1] if run + 1 < len(first) else total
                    if (
                        at - begin != count - 1
                        or (last_tokens[run] if block + 1 == following else whole) != expected
                        or path[begin : at + 1] != path[start : start + count]
                    ):
                        break
                elif count < 0:
                    break
                if new > 0:
                    names += row[count:]
                    first.append(total)
                    row_start.append(start)
                    ats.append(start + count)
                    self._parent.append(block if count else NO_BLOCK)
                    last_tokens.append(tokens)
                    self._place.append(place)
                    total += new
                start += len(row)
                place += 1
            else:
                if names == list(range(first_new, total)):
                    self.total = total
                    return names
        except OverflowError:
            pass
        del path[before:]
        self._truncate(runs_before, first_new)
        return None

    def _truncate(self, runs: int, total: int) -> None:
        for column in (self._first, self._row_start, self._at, self._parent, self._last_tokens, self._place):
            del column[runs:]
        self.total = total

    def follows(self, start: int, count: int, tokens: int) -> bool:
        """Whether the blocks on the path from `start` on are the way to the last of them, which has so many tokens."""
        path = self._trace.path
        block = path[start + count - 1]
        if not 0 <= block < self.total:
            return False
        run = bisect_right(self._first, block) - 1
        at = self._at[run] + block - self._first[run]
        begin = self._row_start[run]
        return (
            at - begin == count - 1
            and self._tokens(run, block) == tokens
            and path[begin : at + 1] == path[start : start + count]
        )

    def tokens(self, block: int) -> int:
        """How many tokens a block holds."""
        return self._tokens(bisect_right(self._first, block) - 1, block)

    def _tokens(self, run: int, block: int) -> int:
        following = self._first[run + 1] if run + 1 < len(self._first) else self.total
        return self._last_tokens[run] if block + 1 == following else self._trace.block_tokens

    def parent(self, block: int) -> int:
        """The block before it, or `NO_BLOCK`."""
        run = bisect_right(self._first, block) - 1
        return self._parent[run] if block == self._first[run] else block - 1

    def place(self, block: int) -> int:
        """Where the row was that added a block."""
        return self._place[bisect_right(self._first, block) - 1]

    def set_bytes(self, block: int, size_bytes: int) -> None:
        """State the bytes of a block."""
        self._bytes[block] = size_bytes

    def bytes_of(self, block: int) -> int:
        """What was stated, or 0."""
        return self._bytes.get(block, 0)

    def finish(self) -> None:
        """Write the columns of the trace."""
        trace = self._trace
        parents = array("q", range(NO_BLOCK, self.total + NO_BLOCK))
        tokens = array("q", [trace.block_tokens]) * self.total
        for first, parent in zip(self._first, self._parent, strict=True):
            parents[first] = parent
        for end, last_tokens in zip([*self._first[1:], self.total], self._last_tokens, strict=False):
            tokens[end - 1] = last_tokens
        sizes = array("q", bytes(8 * self.total))
        for block, size_bytes in self._bytes.items():
            sizes[block] = size_bytes
        trace.block_parent, trace.block_size_tokens, trace.block_size_bytes = parents, tokens, sizes
