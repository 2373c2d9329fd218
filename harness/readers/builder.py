"""Rows in, columns out: what every format's reader gives its requests and events to, in file order."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from harness.errors import TraceError
from harness.readers.interning import Blocks
from harness.readers.problems import INCONSISTENT_IDS, BadIdsError, Problems
from harness.readers.source import AUTO, Options
from harness.trace import Control, Trace
from policy.identity import NOT_STATED, Identity

NO_SESSION = -1
# Of a trace without blocks, which has to have some size of them.
_ANY_BLOCK_TOKENS = 16


class TraceBuilder:
    """Builds `trace`. Set `trace.block_tokens` first; integers must be within the bounds of `harness.trace`.

    The row methods take the physical line for messages. Where ids contradict earlier ones they raise
    `BadIdsError`, and the row is not appended; leniently it is, with all of its tokens unidentified.
    """

    def __init__(self, options: Options) -> None:
        self.trace = Trace()
        self._options = options
        self._blocks = Blocks(self.trace)
        self._namespaces: dict[tuple[str, str], int] = {}
        self._sessions: dict[tuple[str, str], int] = {}
        self._identities: dict[Identity, int] = {}
        self._last_us: int | None = None
        # Rows of one namespace follow each other.
        self._last_namespace: tuple[str | None, int] = (None, 0)
        self._file = ""
        self._several = False
        # What stands before the names of this file, where they mean nothing outside of it.
        self._scope = ""
        self._block_tokens = 0
        self._asked: set[str] = set()
        self._blockless = False
        self.chained(False)

    def start_file(self, name: str, several: bool) -> None:
        """What follows is of the file `name`, one of several or the only one."""
        self._file, self._several, self._scope = name, several, ""
        self._last_us = None
        self._last_namespace = (None, 0)
        self._asked = set()
        self._blockless = False
        self._blocks.start_file(name)

    def take_format(self, name: str, id_scope: str) -> None:
        """Settle where ids mean the same, which a format says of all its files, of each, or not at all.

        Raises `TraceError` where there are several files and nobody says.
        """
        self.chained(False)
        if id_scope == "none":
            return
        if self._options.id_scope != AUTO:
            self._set_scope(self._options.id_scope, "set")
        elif id_scope in ("file", "global"):
            self._set_scope(id_scope, "format")
        elif self._several and not id_scope:
            raise TraceError(
                f"{self._file}: is one of several files, and {name} does not say whether an id means the same in all "
                "of them: pass --id-scope global if it does, or --id-scope file if every file has its own"
            )

    def declared_scope(self, scope: str) -> None:
        """This file says where its ids mean the same: "file" or "global"."""
        if self._options.id_scope == AUTO:
            self._set_scope(scope, "declared")

    def _set_scope(self, scope: str, by: str) -> None:
        self._scope = self._file if scope == "file" and self._several else ""
        self._last_namespace = (None, 0)
        self.convention("id_scope", f"{scope} ({by})")

    def convention(self, name: str, said: str) -> None:
        """Note how the file is understood; files that differ are all told."""
        known = self.trace.conventions
        if name not in known:
            known[name] = said
        elif said not in known[name].split("; "):
            known[name] += f"; {said}"

    def block_tokens(self, size: int, by: str) -> int:
        """Tokens of a block: as asked for, else `size`, which comes `by` "default", "declared" or "detected"."""
        asked = self._options.block_tokens
        if asked is not None and by == "declared" and asked != size:
            raise TraceError(
                f"{self._file}: --block-tokens {asked} contradicts the file's {size}: leave the option out"
            )
        if asked is not None and by != "declared":
            size, by = asked, "set"
        self.trace.block_tokens = size
        self._asked.add("block_tokens")
        self.convention("block_tokens", f"{size} ({by})")
        return size

    def time_unit(self, unit: str, by: str = "format") -> str:
        """The unit of this file's times: as asked for, else `unit`."""
        if self._options.time_unit != AUTO:
            unit, by = self._options.time_unit, "set"
        self._asked.add("time_unit")
        self.convention("time_unit", f"{unit} ({by})")
        return unit

    def without_times(self) -> None:
        """This file has no times: all of its requests arrive at 0, in its order."""
        self._asked.add("time_unit")
        self.convention("time_unit", "none: all arrive at 0, in the order of the file (format)")

    def without_blocks(self) -> None:
        """This file has no block ids, and so no size of blocks."""
        self._asked.add("block_tokens")
        self._blockless = True
        self.trace.block_tokens = self.trace.block_tokens or self._options.block_tokens or _ANY_BLOCK_TOKENS

    def counted_in(self, problems: Problems, unit: str) -> None:
        """This file is not made of lines: what the row methods are given for one is the number of a `unit`."""
        problems.unit = unit
        self._blocks.unit = unit

    def chained(self, chained: bool) -> None:
        """Whether an id means a block only after its parents, where nobody asks otherwise."""
        asked = self._options.chain_ids
        self._blocks.chained = chained if asked is None else asked

    def end_file(self) -> None:
        """Hold a file to what was asked for and to the files before it. Raises `TraceError`."""
        trace, options = self.trace, self._options
        if "block_tokens" not in self._asked:
            self.convention("block_tokens", f"{trace.block_tokens} (declared)")
        if "time_unit" not in self._asked:
            if options.time_unit not in (AUTO, "ms"):
                raise TraceError(
                    f"{self._file}: --time-unit {options.time_unit} contradicts the format, whose times are in ms: "
                    "leave the option out"
                )
            self.convention("time_unit", "ms (declared)")
        if self._blockless:
            return
        if self._block_tokens not in (0, trace.block_tokens):
            raise TraceError(
                f"{self._file}: has blocks of {trace.block_tokens} tokens and the files before it of "
                f"{self._block_tokens}: read them apart"
            )
        self._block_tokens = trace.block_tokens

    def finish(self) -> None:
        """All files were read: write the columns of the blocks, and say what the files turned out to be."""
        self._blocks.finish()
        ceil, floor = self._blocks.ceil_tails, self.trace.notices.get("rows_with_floor_tail", 0)
        if not self.trace.path:
            self.convention("reuse", "unknown: no request has block ids")
            return
        asked = self._options.chain_ids
        by = "format" if asked is None else "set"
        self.convention("ids", f"{'chained' if self._blocks.chained else 'prefixes'} ({by})")
        if self._options.tail != AUTO:
            self.convention("tail", f"{self._options.tail} (set)")
        elif ceil and floor:
            self.convention("tail", f"ceil in {ceil} requests, floor in {floor} (detected)")
        elif ceil or floor:
            self.convention("tail", f"{'ceil' if ceil else 'floor'} (detected)")
        else:
            self.convention("tail", "no partial blocks (detected)")

    def notice(self, kind: str, count: int = 1) -> None:
        """Count something that was accepted and has to be said."""
        self.trace.notices[kind] = self.trace.notices.get(kind, 0) + count

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
        identity: Identity = NOT_STATED,
        unnamed_tokens: int = 0,
    ) -> None:
        """Append a request whose blocks are `ids`, root first; without ids all of its tokens are unidentified.

        So are `unnamed_tokens`, the part at its end that its ids say nothing about.
        """
        space = self._namespace(namespace)
        unidentified = input_tokens
        if ids:
            try:
                rest = self._blocks.path(space, ids, input_tokens - unnamed_tokens, line, self._options.tail)
            except BadIdsError as bad:
                self._tolerate(bad)
            else:
                unidentified = rest + unnamed_tokens
                if rest:
                    self.notice("rows_with_floor_tail")
        elif input_tokens:
            self.notice("rows_without_ids")
        self._append(t_us, input_tokens, output_tokens, unidentified, space, session, identity)

    def requests(
        self,
        line: int,
        times_us: list[int],
        input_tokens: list[int],
        output_tokens: list[int],
        ids: list[list[int]],
        sessions: Sequence[str | None],
    ) -> bool:
        """Append requests of lines that follow each other, each with blocks, if there is nothing to be said of them.

        Returns whether they were appended; otherwise nothing has happened.
        """
        trace, size = self.trace, self.trace.block_tokens
        counts = list(map(len, ids))
        if [-(-tokens // size) for tokens in input_tokens] != counts or self._options.tail == "floor":
            return False
        if times_us[0] < (self._last_us or 0) or sorted(times_us) != times_us:
            return False
        space = self._namespace("")
        last_tokens = [(tokens - 1) % size + 1 for tokens in input_tokens]
        if not self._blocks.paths(ids, last_tokens, line):
            return False
        self._last_us = times_us[-1]
        trace.t_us.fromlist(times_us)
        trace.input_tokens.fromlist(input_tokens)
        trace.output_tokens.fromlist(output_tokens)
        trace.unidentified_tokens.frombytes(bytes(8 * len(ids)))
        trace.namespace.extend(array("q", [space]) * len(ids))
        named = [NO_SESSION if session is None else self._session(session) for session in sessions]
        trace.session.extend(array("q", named or [NO_SESSION]) * (1 if named else len(ids)))
        trace.identity.extend(array("q", [self._identity(NOT_STATED)]) * len(ids))
        trace.path_start.extend(array("q", accumulate(counts, initial=trace.path_start[-1]))[1:])
        return True

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
        identity: Identity = NOT_STATED,
    ) -> None:
        """Append a request whose path is the one block `span`, of a given size; `size_bytes` 0 is not stated."""
        space = self._namespace(namespace)
        try:
            self._blocks.span(space, span, tokens, size_bytes, line)
            unidentified = 0
        except BadIdsError as bad:
            self._tolerate(bad)
            unidentified = tokens
        self._append(t_us, tokens, output_tokens, unidentified, space, session, identity)

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
        space: int,
        session: str | None,
        identity: Identity,
    ) -> None:
        """Append a request whose blocks are on the path already."""
        if self._last_us is None or t_us < self._last_us or t_us < 0:
            self._clock(t_us)
        self._last_us = t_us
        trace = self.trace
        trace.t_us.append(t_us)
        trace.input_tokens.append(input_tokens)
        trace.output_tokens.append(output_tokens)
        trace.unidentified_tokens.append(unidentified)
        trace.namespace.append(space)
        trace.session.append(NO_SESSION if session is None else self._session(session))
        trace.identity.append(self._identity(identity))
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
        if name == self._last_namespace[0]:
            return self._last_namespace[1]
        space = self._namespaces.setdefault((self._scope, name), len(self._namespaces))
        if space == len(self.trace.namespaces):
            self._blocks.add_namespace()
            self.trace.namespaces.append(self._scoped(name))
        self._last_namespace = (name, space)
        return space

    def _session(self, name: str) -> int:
        session = self._sessions.setdefault((self._scope, name), len(self._sessions))
        if session == len(self.trace.sessions):
            self.trace.sessions.append(self._scoped(name))
        return session

    def _identity(self, identity: Identity) -> int:
        index = self._identities.setdefault(identity, len(self._identities))
        if index == len(self.trace.identities):
            self.trace.identities.append(identity)
        return index

    def _scoped(self, name: str) -> str:
        return f"{self._scope}/{name}" if self._scope and name else self._scope or name

    def _tolerate(self, bad: BadIdsError) -> None:
        """Leniently a row with such ids is kept, without them, and counted."""
        if not self._options.lenient:
            raise bad
        self.notice(INCONSISTENT_IDS)
