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


class Blocks:
    """The blocks of `trace`, whose block columns it alone appends to. A row that is refused leaves no trace here."""

    def __init__(self, trace: Trace) -> None:
        self.chained = False
        self.ceil_tails = 0
        # What a file is made of, for messages.
        self.unit = "line"
        self._trace = trace
        self._files: list[str] = []
        self._known: list[dict[object, int]] = []
        self._line = array("q")

    def start_file(self, name: str) -> None:
        """The lines of what follows are those of the file `name`."""
        self._files.append(name)
        self.unit = "line"

    def add_namespace(self) -> None:
        """Start the next namespace: nothing in it is equal to anything in another."""
        self._known.append({})

    def path(self, space: int, ids: list[Any], tokens: int, line: int, tail: str = AUTO) -> tuple[list[int], int]:
        """A row's blocks, root first, and how many of its tokens no block names. `ids` is not empty."""
        last, unidentified = self._measure(tokens, ids, tail)
        if self.chained:
            return self._chained(space, ids, last, line), unidentified
        return self._prefix(space, ids, last, line, tokens), unidentified

    def span(self, space: int, span: int | str, tokens: int, size_bytes: int, line: int) -> int:
        """The block of an `access`: one span has one size. A tuple can be no block id, so the two never collide."""
        trace = self._trace
        name = ("access", span)
        block = self._known[space].get(name)
        if block is None:
            (block,) = self._intern(space, [name], [name], NO_BLOCK, [tokens], line)
            trace.block_size_bytes[block] = size_bytes
        elif (trace.block_size_tokens[block], trace.block_size_bytes[block]) != (tokens, size_bytes):
            here = _size(tokens, size_bytes)
            there = _size(trace.block_size_tokens[block], trace.block_size_bytes[block])
            at = self._where(block)
            raise BadIdsError(SPAN_SIZE, f"span {shown(span)} holds {here} here but {there} at {at}")
        return block

    def _measure(self, tokens: int, ids: list[Any], tail: str) -> tuple[int, int]:
        """The tokens of the row's last block, and those that no block names."""
        if not set(map(type, ids)) <= {int, str}:
            wrong = next(name for name in ids if type(name) is not int and type(name) is not str)
            wider = ": write ids wider than 64 bits as text" if type(wrong) is float else ""
            raise BadIdsError(ID_TYPE, f"block id {shown(wrong)} is not an integer or text{wider}")
        size = self._trace.block_tokens
        whole, rest = divmod(tokens, size)
        if len(ids) == whole and (not rest or tail != "ceil"):
            return size, rest
        if len(ids) == whole + 1 and rest and tail != "floor":
            self.ceil_tails += 1
            return rest, 0
        right = [str(whole + 1)] if rest and tail != "floor" else [str(whole)]
        if rest and whole and tail == "auto":
            right.append(str(whole))
        plural = "" if len(ids) == 1 else "s"
        raise BadIdsError(
            ID_COUNT,
            f"{len(ids)} block id{plural} for {tokens} input tokens, not {' or '.join(right)} ({size} tokens a block)",
        )

    def _prefix(self, space: int, ids: list[Any], last: int, line: int, tokens: int) -> list[int]:
        """The row's blocks where ids name prefixes: first known ones, each the parent of the next, then new ones."""
        trace = self._trace
        parents, sizes, known = trace.block_parent, trace.block_size_tokens, self._known[space]
        found = [known.get(name) for name in ids]
        count = found.index(None) if None in found else len(ids)
        path = [block for block in found if block is not None]
        new = ids[count:]
        # Any block that has a child was seen whole, so only the last known one needs its length compared.
        if (
            len(path) != count
            or [parents[block] for block in path] != [NO_BLOCK, *path][:count]
            or (path and sizes[path[-1]] != (trace.block_tokens if new else last))
            or len(set(new)) != len(new)
        ):
            raise self._conflict(ids, found, last, tokens)
        if new:
            lengths = [trace.block_tokens] * (len(new) - 1) + [last]
            path += self._intern(space, new, new, path[-1] if path else NO_BLOCK, lengths, line)
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
            path += self._intern(space, zip(parents, new, lengths, strict=True), new, parent, lengths, line)
        return path

    def _intern(
        self, space: int, identities: Iterable[object], names: list[Any], parent: int, lengths: list[int], line: int
    ) -> range:
        """New blocks, each the child of the one before it; returns their numbers."""
        trace = self._trace
        blocks = range(len(trace.block_parent), len(trace.block_parent) + len(names))
        trace.block_parent.append(parent)
        trace.block_parent.extend(blocks[:-1])
        trace.block_size_tokens.extend(lengths)
        trace.block_size_bytes.extend([0] * len(names))
        trace.block_names.extend(names)
        self._line.extend([(len(self._files) << _LINE_BITS) + line] * len(names))
        self._known[space].update(zip(identities, blocks, strict=True))
        return blocks

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
