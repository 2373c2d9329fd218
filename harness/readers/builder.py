"""Rows in, columns out: what every format's reader gives its requests and events to, in file order."""

from __future__ import annotations

from typing import Any

from harness.readers.interning import Blocks
from harness.readers.problems import INCONSISTENT_IDS, BadIdsError
from harness.readers.source import Options
from harness.trace import Control, Trace
from policy.identity import NOT_STATED, Identity

NO_SESSION = -1


class TraceBuilder:
    """Builds `trace`. Set `trace.block_tokens` first; integers must be within the bounds of `harness.trace`.

    The row methods take the physical line for messages. Where ids contradict earlier ones they raise
    `BadIdsError`, and the row is not appended; leniently it is, with all of its tokens unidentified.
    """

    def __init__(self, options: Options) -> None:
        self.trace = Trace()
        self._options = options
        self._blocks = Blocks(self.trace, options)
        self._namespaces: dict[str, int] = {}
        self._sessions: dict[str, int] = {}
        self._identities: dict[Identity, int] = {}
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
        identity: Identity = NOT_STATED,
    ) -> None:
        """Append a request whose blocks are `ids`, root first; without ids all of its tokens are unidentified."""
        space = self._namespace(namespace)
        path: list[int] = []
        unidentified = input_tokens
        if ids:
            try:
                path, unidentified = self._blocks.path(space, ids, input_tokens, line)
            except BadIdsError as bad:
                self._tolerate(bad)
            else:
                if unidentified:
                    self.notice("rows_with_floor_tail")
        elif input_tokens:
            self.notice("rows_without_ids")
        self._append(t_us, input_tokens, output_tokens, unidentified, path, space, session, identity)

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
            path, unidentified = [self._blocks.span(space, span, tokens, size_bytes, line)], 0
        except BadIdsError as bad:
            self._tolerate(bad)
            path, unidentified = [], tokens
        self._append(t_us, tokens, output_tokens, unidentified, path, space, session, identity)

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
        identity: Identity,
    ) -> None:
        self._clock(t_us)
        trace = self.trace
        trace.t_us.append(t_us)
        trace.input_tokens.append(input_tokens)
        trace.output_tokens.append(output_tokens)
        trace.unidentified_tokens.append(unidentified)
        trace.namespace.append(space)
        trace.session.append(self._session(session))
        trace.identity.append(self._identity(identity))
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
        if space == len(self.trace.namespaces):
            self._blocks.add_namespace()
            self.trace.namespaces.append(name)
        return space

    def _session(self, name: str | None) -> int:
        if name is None:
            return NO_SESSION
        session = self._sessions.setdefault(name, len(self._sessions))
        if session == len(self.trace.sessions):
            self.trace.sessions.append(name)
        return session

    def _identity(self, identity: Identity) -> int:
        index = self._identities.setdefault(identity, len(self._identities))
        if index == len(self.trace.identities):
            self.trace.identities.append(identity)
        return index

    def _tolerate(self, bad: BadIdsError) -> None:
        """Leniently a row with such ids is kept, without them, and counted."""
        if not self._options.lenient:
            raise bad
        self.notice(INCONSISTENT_IDS)
