"""Rows in, columns out: interns block names in order of first appearance and holds every row to what came before.

A block's id names the whole prefix up to it, so within a namespace an id has one parent and one length; a row that
says otherwise is refused, naming the earlier line. With `chain_ids` a block is (its parent, its id, its length).
"""

from __future__ import annotations

from array import array
from typing import Any

from harness.readers.fields import shown
from harness.readers.problems import ID_COUNT, ID_IDENTITY, ID_TYPE, INCONSISTENT_IDS, SPAN_SIZE, BadIds
from harness.readers.source import Options
from harness.trace import NO_BLOCK, Control, Trace

NO_SESSION = -1


class TraceBuilder:
    """Builds `trace`. Set `trace.block_tokens` before the first request; integers must be within `harness.trace`'s bounds.

    The row methods take the physical line for messages, and raise `BadIds` (strictly) before they change anything.
    """

    def __init__(self, options: Options) -> None:
        self.trace = Trace()
        self._options = options
        self._known: list[dict[object, int]] = []
        self._namespaces: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._block_line = array("q")
        self._last_us: int | None = None

    def notice(self, kind: str) -> None:
        """Count something that was accepted and has to be said."""
        self.trace.notices[kind] = self.trace.notices.get(kind, 0) + 1

    def request(
        self,
        line: int,
        t_us: int,
        input_tokens: int,
        output_tokens: int,
        ids: list[Any],
        *,
        namespace: str = "",
        session: str | None = None,
    ) -> None:
        """Append a request whose blocks are `ids`, root first; without ids all of its tokens are unidentified."""
        space = self._namespace(namespace)
        path: list[int] = []
        unidentified = input_tokens
        if ids:
            try:
                path, unidentified = self._blocks(space, ids, input_tokens, line)
            except BadIds:
                self._tolerate()
            else:
                if unidentified:
                    self.notice("rows_with_floor_tail")
        elif input_tokens:
            self.notice("rows_without_ids")
        self._append(t_us, input_tokens, output_tokens, unidentified, path, space, session)

    def access(
        self,
        line: int,
        t_us: int,
        span: int | str,
        tokens: int,
        size_bytes: int,
        output_tokens: int,
        *,
        namespace: str = "",
        session: str | None = None,
    ) -> None:
        """Append a request whose path is the one block `span`, of a given size; `size_bytes` 0 is not stated."""
        space = self._namespace(namespace)
        try:
            path, unidentified = [self._span(space, span, tokens, size_bytes, line)], 0
        except BadIds:
            self._tolerate()
            path, unidentified = [], tokens
        self._append(t_us, tokens, output_tokens, unidentified, path, space, session)

    def control(self, kind: str, t_us: int, tier: str, value: int) -> None:
        """Append a `clear`, `fault` or `pressure` before the next request."""
        self._clock(t_us)
        self.trace.controls.append(Control(kind, t_us, self.trace.requests, tier, value))

    def _append(
        self,
        t_us: int,
        input_tokens: int,
        output_tokens: int,
        unidentified: int,
        path: list[int],
        space: int,
        session: str | None,
    ) -> None:
        self._clock(t_us)
        trace = self.trace
        trace.t_us.append(t_us)
        trace.input_tokens.append(input_tokens)
        trace.output_tokens.append(output_tokens)
        trace.unidentified_tokens.append(unidentified)
        trace.namespace.append(space)
        trace.session.append(self._session(session))
        trace.path.extend(path)
        trace.path_start.append(len(trace.path))

    def _clock(self, t_us: int) -> None:
        notices = self.trace.notices
        if t_us < 0:
            self.notice("negative_times")
        if self._last_us is not None and t_us < self._last_us:
            self.notice("time_steps_back")
            largest = max(notices.get("largest_step_back_us", 0), self._last_us - t_us)
            notices["largest_step_back_us"] = largest
        self._last_us = t_us

    def _namespace(self, name: str) -> int:
        space = self._namespaces.setdefault(name, len(self._namespaces))
        if space == len(self._known):
            self._known.append({})
            self.trace.namespaces.append(name)
        return space

    def _session(self, name: str | None) -> int:
        if name is None:
            return NO_SESSION
        session = self._sessions.setdefault(name, len(self._sessions))
        if session == len(self.trace.sessions):
            self.trace.sessions.append(name)
        return session

    def _tolerate(self) -> None:
        """While a `BadIds` is handled: count the row where that is asked for, else let the error go on."""
        if not self._options.lenient:
            raise  # noqa: PLE0704
        self.notice(INCONSISTENT_IDS)

    def _blocks(self, space: int, ids: list[Any], tokens: int, line: int) -> tuple[list[int], int]:
        """The row's path, and how many of its tokens no block names."""
        last, unidentified = self._measure(tokens, ids)
        if self._options.chain_ids:
            return self._chained(space, ids, last, line), unidentified
        return self._prefix(space, ids, last, line, tokens), unidentified

    def _span(self, space: int, span: int | str, tokens: int, size_bytes: int, line: int) -> int:
        """The block of an `access`: one span has one size. A tuple can be no block id, so the two never collide."""
        trace = self.trace
        name = ("access", span)
        block = self._known[space].get(name)
        if block is None:
            (block,) = self._intern(space, [name], [name], NO_BLOCK, [tokens], line)
            trace.block_size_bytes[block] = size_bytes
        elif (trace.block_size_tokens[block], trace.block_size_bytes[block]) != (tokens, size_bytes):
            here = _size(tokens, size_bytes)
            there = _size(trace.block_size_tokens[block], trace.block_size_bytes[block])
            at = self._block_line[block]
            raise BadIds(SPAN_SIZE, f"span {shown(span)} holds {here} here but {there} at line {at}")
        return block

    def _measure(self, tokens: int, ids: list[Any]) -> tuple[int, int]:
        """The tokens of the row's last block, and those that no block names."""
        if not set(map(type, ids)) <= {int, str}:
            wrong = next(name for name in ids if type(name) is not int and type(name) is not str)
            wider = ": write ids wider than 64 bits as text" if type(wrong) is float else ""
            raise BadIds(ID_TYPE, f"block id {shown(wrong)} is not an integer or text{wider}")
        size = self.trace.block_tokens
        tail = self._options.tail
        whole, rest = divmod(tokens, size)
        if len(ids) == whole and (not rest or tail != "ceil"):
            return size, rest
        if len(ids) == whole + 1 and rest and tail != "floor":
            return rest, 0
        right = [str(whole + 1)] if rest and tail != "floor" else [str(whole)]
        if rest and whole and tail == "auto":
            right.append(str(whole))
        plural = "" if len(ids) == 1 else "s"
        raise BadIds(
            ID_COUNT,
            f"{len(ids)} block id{plural} for {tokens} input tokens, not {' or '.join(right)} ({size} tokens a block)",
        )

    def _prefix(self, space: int, ids: list[Any], last: int, line: int, tokens: int) -> list[int]:
        """The row's blocks where ids name prefixes: first known ones, each the parent of the next, then new ones."""
        trace = self.trace
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
        known = self._known[space]
        path: list[int] = []
        parent = NO_BLOCK
        for position, name in enumerate(ids, 1):
            length = last if position == len(ids) else self.trace.block_tokens
            identity = (parent, name, length)
            block = known.get(identity)
            if block is None:
                (block,) = self._intern(space, [identity], [name], parent, [length], line)
            path.append(block)
            parent = block
        return path

    def _intern(
        self, space: int, identities: list[Any], names: list[Any], parent: int, lengths: list[int], line: int
    ) -> range:
        """New blocks, each the child of the one before it; returns their numbers."""
        trace = self.trace
        blocks = range(len(trace.block_parent), len(trace.block_parent) + len(names))
        trace.block_parent.append(parent)
        trace.block_parent.extend(blocks[:-1])
        trace.block_size_tokens.extend(lengths)
        trace.block_size_bytes.extend([0] * len(names))
        trace.block_names.extend(names)
        self._block_line.extend([line] * len(names))
        self._known[space].update(zip(identities, blocks, strict=True))
        return blocks

    def _conflict(self, ids: list[Any], found: list[int | None], last: int, tokens: int) -> BadIds:
        """The first contradiction in a row that has one, with the line it contradicts."""
        trace = self.trace
        seen: set[object] = set()
        for name in ids:
            if name in seen:
                return BadIds(ID_IDENTITY, f"block {shown(name)} is twice in this request")
            seen.add(name)
        before: int | None = NO_BLOCK
        for position, (name, block) in enumerate(zip(ids, found, strict=True)):
            if block is not None:
                at = self._block_line[block]
                if trace.block_parent[block] != before:
                    here = f"follows block {shown(ids[position - 1])}" if position else "is first"
                    parent = trace.block_parent[block]
                    there = "is first" if parent == NO_BLOCK else f"follows block {shown(trace.block_names[parent])}"
                    return BadIds(ID_IDENTITY, f"block {shown(name)} {here} here but {there} at line {at}")
                length = last if position == len(ids) - 1 else trace.block_tokens
                if trace.block_size_tokens[block] != length:
                    was = trace.block_size_tokens[block]
                    floor = tokens > trace.block_tokens * len(ids)
                    why = f" ({len(ids)} block ids for {tokens} input tokens, so all are whole)" if floor else ""
                    return BadIds(
                        ID_IDENTITY, f"block {shown(name)} holds {length} tokens here but {was} at line {at}{why}"
                    )
            before = block
        raise AssertionError("a row without contradiction was refused")


def _size(tokens: int, size_bytes: int) -> str:
    return f"{tokens} tokens in {size_bytes} bytes" if size_bytes else f"{tokens} tokens"
