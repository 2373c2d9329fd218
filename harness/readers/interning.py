"""Block identity: names become dense integers in order of first appearance, and every row is held to what came before.

A block's id names the whole prefix up to it, so within a namespace an id has one parent and one length; a row that
says otherwise is refused, naming the earlier line. With `chain_ids` a block is (its parent, its id, its length).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable
from typing import Any

from harness.readers.fields import shown
from harness.readers.problems import ID_COUNT, ID_IDENTITY, ID_TYPE, SPAN_SIZE, BadIdsError
from harness.readers.source import AUTO
from harness.trace import NO_BLOCK, Trace

# A line's number and that of its file, in one integer.
_LINE_BITS = 40

_INTEGERS = {int}
_NAMES = {int, str}


class Blocks:
    """The blocks of `trace`, whose block columns it alone appends to. A row that is refused leaves no trace here.

    Where a trace numbers its blocks as they appear, as published ones do, an id is the number of its block, and nothing
    has to be looked up: that is the dense form. The first row that does otherwise ends it.
    """

    def __init__(self, trace: Trace) -> None:
        self.chained = False
        self.ceil_tails = 0
        # What a file is made of, for messages.
        self.unit = "line"
        self._trace = trace
        self._files: list[str] = []
        self._dense = True
        # Of a dense form empty: what `_leave_dense` would put there.
        self._known: list[dict[object, int]] = []
        self._line = array("q")
        self._whole = array("q")

    def start_file(self, name: str) -> None:
        """The lines of what follows are those of the file `name`."""
        self._files.append(name)
        self.unit = "line"

    def add_namespace(self) -> None:
        """Start the next namespace: nothing in it is equal to anything in another."""
        if self._known:
            self._leave_dense()
        self._known.append({})

    def path(self, space: int, ids: list[Any], tokens: int, line: int, tail: str = AUTO) -> tuple[list[int], int]:
        """A row's blocks, root first, and how many of its tokens no block names. `ids` is not empty."""
        types = set(map(type, ids))
        if types != _INTEGERS and not types <= _NAMES:
            raise _wrong_type(ids)
        last, unidentified = self._measure(tokens, len(ids), tail)
        if self._dense:
            if types == _INTEGERS and not self.chained and self._take_dense(ids, last, line):
                return ids, unidentified
            self._leave_dense()
        if self.chained:
            return self._chained(space, ids, last, line), unidentified
        return self._prefix(space, ids, last, line, tokens), unidentified

    def _take_dense(self, ids: list[int], last: int, line: int) -> bool:
        """Take a row of the dense form: blocks that are known, each the parent of the next, then the next numbers."""
        trace = self._trace
        parents = trace.block_parent
        total = len(parents)
        new = max(ids[-1] - total + 1, 0)
        count = len(ids) - new
        head = ids[:count] if new else ids
        if count < 0 or (new and ids[count:] != list(range(total, total + new))):
            return False
        if count:
            # A negative number would count from the end, and one too large has no parent.
            if min(head) < 0 or max(head) >= total:
                return False
            if list(map(parents.__getitem__, head)) != [NO_BLOCK, *head[:-1]]:
                return False
            if trace.block_size_tokens[head[-1]] != (trace.block_tokens if new else last):
                return False
        if new:
            self._add(ids[count:] if count else ids, head[-1] if count else NO_BLOCK, last, line)
        return True

    def _leave_dense(self) -> None:
        if self._dense:
            self._dense = False
            if self._known:
                numbers = range(len(self._trace.block_parent))
                self._known[0] = dict(zip(numbers, numbers, strict=True))

    def span(self, space: int, span: int | str, tokens: int, size_bytes: int, line: int) -> int:
        """The block of an `access`: one span has one size. A tuple can be no block id, so the two never collide."""
        self._leave_dense()
        trace = self._trace
        name = ("access", span)
        block = self._known[space].get(name)
        if block is None:
            (block,) = self._intern(space, [name], [name], NO_BLOCK, tokens, line)
            trace.block_size_bytes[block] = size_bytes
        elif (trace.block_size_tokens[block], trace.block_size_bytes[block]) != (tokens, size_bytes):
            here = _size(tokens, size_bytes)
            there = _size(trace.block_size_tokens[block], trace.block_size_bytes[block])
            at = self._where(block)
            raise BadIdsError(SPAN_SIZE, f"span {shown(span)} holds {here} here but {there} at {at}")
        return block

    def _measure(self, tokens: int, count: int, tail: str) -> tuple[int, int]:
        """The tokens of the row's last block, and those that no block names."""
        size = self._trace.block_tokens
        whole, rest = divmod(tokens, size)
        if count == whole + 1 and rest and tail != "floor":
            self.ceil_tails += 1
            return rest, 0
        if count == whole and (not rest or tail != "ceil"):
            return size, rest
        right = [str(whole + 1)] if rest and tail != "floor" else [str(whole)]
        if rest and whole and tail == "auto":
            right.append(str(whole))
        plural = "" if count == 1 else "s"
        raise BadIdsError(
            ID_COUNT,
            f"{count} block id{plural} for {tokens} input tokens, not {' or '.join(right)} ({size} tokens a block)",
        )

    def _prefix(self, space: int, ids: list[Any], last: int, line: int, tokens: int) -> list[int]:
        """The row's blocks where ids name prefixes: first known ones, each the parent of the next, then new ones."""
        trace = self._trace
        parents, known = trace.block_parent, self._known[space]
        found: list[Any] = list(map(known.get, ids))
        count = _known_count(found)
        path, new = found[:count], ids[count:]
        # Any block that has a child was seen whole, so only the last known one needs its length compared.
        if (
            (path and trace.block_size_tokens[path[-1]] != (trace.block_tokens if new else last))
            or found[count:].count(None) != len(new)
            or None in path
            or list(map(parents.__getitem__, path)) != [NO_BLOCK, *path][:count]
        ):
            raise self._conflict(ids, found, last, tokens)
        if new:
            first, before = len(parents), len(known)
            known.update(zip(new, range(first, first + len(new)), strict=True))
            if len(known) != before + len(new):
                # An id that is twice among the new ones; none of them was known.
                for name in new:
                    known.pop(name, None)
                raise self._conflict(ids, found, last, tokens)
            self._add(new, path[-1] if path else NO_BLOCK, last, line)
            path += range(first, first + len(new))
        return path

    def _chained(self, space: int, ids: list[Any], last: int, line: int) -> list[int]:
        """The row's blocks where an id means something only after its parent: nothing can contradict."""
        known, whole = self._known[space], self._trace.block_tokens
        lengths = [whole] * (len(ids) - 1) + [last]
        path: list[int] = []
        parent = NO_BLOCK
        for identity in zip(ids, lengths, strict=True):
            block = known.get((parent, *identity))
            if block is None:
                break
            path.append(block)
            parent = block
        # The child of a new block is new.
        new, lengths = ids[len(path) :], lengths[len(path) :]
        if new:
            first = len(self._trace.block_parent)
            parents = [parent, *range(first, first + len(new) - 1)]
            path += self._intern(space, zip(parents, new, lengths, strict=True), new, parent, last, line)
        return path

    def _intern(
        self, space: int, identities: Iterable[object], names: list[Any], parent: int, last: int, line: int
    ) -> range:
        """New blocks, each the child of the one before it; returns their numbers."""
        first = len(self._trace.block_parent)
        blocks = range(first, first + len(names))
        self._known[space].update(zip(identities, blocks, strict=True))
        self._add(names, parent, last, line)
        return blocks

    def _add(self, names: list[Any], parent: int, last: int, line: int) -> None:
        """Append new blocks, each the child of the one before it, all whole but the last."""
        trace = self._trace
        first, count = len(trace.block_parent), len(names)
        trace.block_parent.append(parent)
        trace.block_names.extend(names)
        if count > 1:
            trace.block_parent.extend(array("q", range(first, first + count - 1)))
            if len(self._whole) < count or self._whole[0] != trace.block_tokens:
                self._whole = array("q", [trace.block_tokens]) * (2 * count)
            trace.block_size_tokens.extend(self._whole[: count - 1])
        trace.block_size_tokens.append(last)
        trace.block_size_bytes.frombytes(bytes(8 * count))
        self._line.extend(array("q", [(len(self._files) << _LINE_BITS) + line]) * count)

    def _where(self, block: int) -> str:
        """Where a block was first seen."""
        file, line = divmod(self._line[block], 1 << _LINE_BITS)
        return f"{self.unit} {line}" if file == len(self._files) else f"{self._files[file - 1]}:{line}"

    def _conflict(self, ids: list[Any], found: list[int | None], last: int, tokens: int) -> BadIdsError:
        """The first contradiction in a row that has one, with the line it contradicts."""
        trace = self._trace
        seen: set[object] = set()
        for name in ids:
            if name in seen:
                return BadIdsError(ID_IDENTITY, f"block {shown(name)} is twice in this request")
            seen.add(name)
        before: int | None = NO_BLOCK
        for position, (name, block) in enumerate(zip(ids, found, strict=True)):
            if block is not None:
                at = self._where(block)
                if trace.block_parent[block] != before:
                    here = f"follows block {shown(ids[position - 1])}" if position else "is first"
                    parent = trace.block_parent[block]
                    there = "is first" if parent == NO_BLOCK else f"follows block {shown(trace.block_names[parent])}"
                    return BadIdsError(ID_IDENTITY, f"block {shown(name)} {here} here but {there} at {at}")
                length = last if position == len(ids) - 1 else trace.block_tokens
                if trace.block_size_tokens[block] != length:
                    was = trace.block_size_tokens[block]
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
