"""Block identity: names become dense integers in order of first appearance, and every row is held to what came before.

A block's id names the whole prefix up to it, so within a namespace an id has one parent and one length; a row that
says otherwise is refused, naming the earlier line. With `chain_ids` a block is (its parent, its id, its length).
"""

from __future__ import annotations

from array import array
from typing import Any

from harness.readers.fields import shown
from harness.readers.problems import ID_COUNT, ID_IDENTITY, ID_TYPE, SPAN_SIZE, BadIdsError
from harness.readers.runs import Runs
from harness.readers.source import AUTO
from harness.trace import NO_BLOCK, Trace

# A line's number and that of its file, in one integer.
_LINE_BITS = 40

_NAMES = {int, str}


class Blocks:
    """The blocks of `trace`. A row that is refused leaves no trace here. The block columns are there after `finish`.

    Where a trace numbers its blocks as they appear, as published ones do, an id is the number of its block, and nothing
    has to be looked up: that is the dense form. The first row that does otherwise ends it.
    """

    def __init__(self, trace: Trace) -> None:
        self.chained = False
        self.ceil_tails = 0
        # What a file is made of, for messages.
        self.unit = "line"
        self._trace = trace
        self._runs = Runs(trace)
        self._files: list[str] = []
        self._dense = True
        # In the dense form empty: what `_leave_dense` would put there.
        self._known: list[dict[object, int]] = []

    def start_file(self, name: str) -> None:
        """The lines of what follows are those of the file `name`."""
        self._files.append(name)
        self.unit = "line"

    def add_namespace(self) -> None:
        """Start the next namespace: nothing in it is equal to anything in another."""
        if self._known:
            self._leave_dense()
        self._known.append({})

    def finish(self) -> None:
        """Write the block columns."""
        self._runs.finish()

    def path(self, space: int, ids: list[Any], tokens: int, line: int, tail: str = AUTO) -> int:
        """Append a row's blocks to the path; returns how many of its tokens no block names. `ids` is not empty."""
        last, unidentified = self._measure(tokens, ids, tail)
        if self._dense:
            if not self.chained and self._take_dense(ids, last, line):
                return unidentified
            self._leave_dense()
        if not set(map(type, ids)) <= _NAMES:
            raise _wrong_type(ids)
        if self.chained:
            self._chained(space, ids, last, line)
        else:
            self._prefix(space, ids, last, line, tokens)
        return unidentified

    def _take_dense(self, ids: list[int], last: int, line: int) -> bool:
        """Take a row of the dense form: blocks that are known, each the parent of the next, then the next numbers."""
        trace, runs = self._trace, self._runs
        path, total = trace.path, runs.total
        start = len(path)
        try:
            path.fromlist(ids)
        except (TypeError, OverflowError):
            return False
        new = max(path[-1] - total + 1, 0)
        count = len(ids) - new
        # True and False pass for 1 and 0, which are the first or second block of a path or no dense numbers.
        if count >= 0 and type(ids[0]) is int and type(ids[min(1, len(ids) - 1)]) is int:
            fits = not new or path[start + count :] == array("q", range(total, total + new))
            if fits and (not count or runs.follows(start, count, trace.block_tokens if new else last)):
                if new:
                    runs.add(start, start + count, new, last, self._place(line))
                    trace.block_names += ids[count:]
                return True
        del path[start:]
        return False

    def paths(self, rows: list[list[int]], last_tokens: list[int], line: int) -> bool:
        """Append the blocks of rows of the dense form, or nothing: whether all of them could be taken.

        Every row ends with a block of `last_tokens` tokens, and all of its tokens have a block.
        """
        if not self._dense or self.chained:
            return False
        runs = self._runs
        names = runs.add_rows(rows, last_tokens, self._place(line))
        if names is None:
            return False
        self._trace.block_names += names
        self.ceil_tails += len(rows) - last_tokens.count(self._trace.block_tokens)
        return True

    def _leave_dense(self) -> None:
        if self._dense:
            self._dense = False
            if self._known:
                numbers = range(self._runs.total)
                self._known[0] = dict(zip(numbers, numbers, strict=True))

    def span(self, space: int, span: int | str, tokens: int, size_bytes: int, line: int) -> None:
        """Append the block of an `access` to the path: one span has one size. A tuple can be no block id."""
        self._leave_dense()
        runs, path = self._runs, self._trace.path
        name = ("access", span)
        block = self._known[space].get(name)
        if block is None:
            block = self._known[space][name] = runs.total
            self._trace.block_names.append(name)
            runs.add(len(path), len(path), 1, tokens, self._place(line))
            if size_bytes:
                runs.set_bytes(block, size_bytes)
        elif (runs.tokens(block), runs.bytes_of(block)) != (tokens, size_bytes):
            here = _size(tokens, size_bytes)
            there = _size(runs.tokens(block), runs.bytes_of(block))
            at = self._where(block)
            raise BadIdsError(SPAN_SIZE, f"span {shown(span)} holds {here} here but {there} at {at}")
        path.append(block)

    def _measure(self, tokens: int, ids: list[Any], tail: str) -> tuple[int, int]:
        """The tokens of the row's last block, and those that no block names."""
        size, count = self._trace.block_tokens, len(ids)
        whole, rest = divmod(tokens, size)
        if count == whole + 1 and rest and tail != "floor":
            self.ceil_tails += 1
            return rest, 0
        if count == whole and (not rest or tail != "ceil"):
            return size, rest
        if not set(map(type, ids)) <= _NAMES:
            raise _wrong_type(ids)
        right = [str(whole + 1)] if rest and tail != "floor" else [str(whole)]
        if rest and whole and tail == "auto":
            right.append(str(whole))
        plural = "" if count == 1 else "s"
        raise BadIdsError(
            ID_COUNT,
            f"{count} block id{plural} for {tokens} input tokens, not {' or '.join(right)} ({size} tokens a block)",
        )

    def _prefix(self, space: int, ids: list[Any], last: int, line: int, tokens: int) -> None:
        """The row's blocks where ids name prefixes: first known ones, each the parent of the next, then new ones."""
        trace, runs, known = self._trace, self._runs, self._known[space]
        path = trace.path
        start = len(path)
        found: list[Any] = list(map(known.get, ids))
        count = _known_count(found)
        new = ids[count:]
        # Any block that has a child was seen whole, so only the last known one needs its length compared.
        try:
            path.fromlist(found[:count])
        except TypeError:
            raise self._conflict(ids, found, last, tokens) from None
        if found[count:].count(None) != len(new) or (
            count and not runs.follows(start, count, trace.block_tokens if new else last)
        ):
            del path[start:]
            raise self._conflict(ids, found, last, tokens)
        if new:
            blocks, before = range(runs.total, runs.total + len(new)), len(known)
            known.update(zip(new, blocks, strict=True))
            if len(known) != before + len(new):
                # An id that is twice among the new ones; none of them was known.
                for name in new:
                    known.pop(name, None)
                del path[start:]
                raise self._conflict(ids, found, last, tokens)
            self._add(start, new, blocks, last, line)

    def _chained(self, space: int, ids: list[Any], last: int, line: int) -> None:
        """The row's blocks where an id means something only after its parent: nothing can contradict."""
        trace, known, whole = self._trace, self._known[space], self._trace.block_tokens
        lengths = [whole] * (len(ids) - 1) + [last]
        start = len(trace.path)
        parent = NO_BLOCK
        count = 0
        for identity in zip(ids, lengths, strict=True):
            block = known.get((parent, *identity))
            if block is None:
                break
            trace.path.append(block)
            parent = block
            count += 1
        # The child of a new block is new.
        new = ids[count:]
        if new:
            blocks = range(self._runs.total, self._runs.total + len(new))
            parents = [parent, *blocks[:-1]]
            known.update(zip(zip(parents, new, lengths[count:], strict=True), blocks, strict=True))
            self._add(start, new, blocks, last, line)

    def _add(self, start: int, names: list[Any], blocks: range, last: int, line: int) -> None:
        """Append new blocks to a row's path, each the child of the one before it, all whole but the last."""
        trace = self._trace
        self._runs.add(start, len(trace.path), len(names), last, self._place(line))
        trace.path.extend(array("q", blocks))
        trace.block_names += names

    def _place(self, line: int) -> int:
        return (len(self._files) << _LINE_BITS) + line

    def _where(self, block: int) -> str:
        """Where a block was first seen."""
        file, line = divmod(self._runs.place(block), 1 << _LINE_BITS)
        return f"{self.unit} {line}" if file == len(self._files) else f"{self._files[file - 1]}:{line}"

    def _conflict(self, ids: list[Any], found: list[int | None], last: int, tokens: int) -> BadIdsError:
        """The first contradiction in a row that has one, with the line it contradicts."""
        trace, runs = self._trace, self._runs
        seen: set[object] = set()
        for name in ids:
            if name in seen:
                return BadIdsError(ID_IDENTITY, f"block {shown(name)} is twice in this request")
            seen.add(name)
        before: int | None = NO_BLOCK
        for position, (name, block) in enumerate(zip(ids, found, strict=True)):
            if block is not None:
                at = self._where(block)
                if runs.parent(block) != before:
                    here = f"follows block {shown(ids[position - 1])}" if position else "is first"
                    parent = runs.parent(block)
                    there = "is first" if parent == NO_BLOCK else f"follows block {shown(trace.block_names[parent])}"
                    return BadIdsError(ID_IDENTITY, f"block {shown(name)} {here} here but {there} at {at}")
                length = last if position == len(ids) - 1 else trace.block_tokens
                if runs.tokens(block) != length:
                    was = runs.tokens(block)
                    floor = tokens > trace.block_tokens * len(ids)
                    why = f" ({len(ids)} block ids for {tokens} input tokens, so all are whole)" if floor else ""
                    return BadIdsError(
                        ID_IDENTITY, f"block {shown(name)} holds {length} tokens here but {was} at {at}{why}"
                    )
            before = block
        raise AssertionError("a row without contradiction was refused")


def _size(tokens: int, size_bytes: int) -> str:
    return f"{tokens} tokens in {size_bytes} bytes" if size_bytes else f"{tokens} tokens"


def _wrong_type(ids: list[Any]) -> BadIdsError:
    wrong = next(name for name in ids if type(name) is not int and type(name) is not str)
    wider = ": write ids wider than 64 bits as text" if type(wrong) is float else ""
    return BadIdsError(ID_TYPE, f"block id {shown(wrong)} is not an integer or text{wider}")


def _known_count(found: list[Any]) -> int:
    """How many known blocks a row begins with, if those that are known come first, as they should."""
    if found[-1] is not None:
        return len(found)
    low, high = 0, len(found) - 1
    while low < high:
        middle = (low + high) // 2
        if found[middle] is None:
            high = middle
        else:
            low = middle + 1
    return low
