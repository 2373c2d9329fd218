"""Sessions interleaved in time: each grows one prompt, turn by turn, and the next turn of all of them comes next.

A turn's prompt is the one before it, the answer to it, and new tokens. Answers have no block names when they are
given: the blocks that hold them are first computed, and named, by the next turn. Memory holds the sessions that are
under way and the prefixes they share, never the trace.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from harness.synth.prompts import Blocks, Prefix, Shared
from harness.synth.records import Request


@dataclass(frozen=True, slots=True)
class Turn:
    """At `t_ms` the prompt grows by `new_tokens` (and by the answer before it) and is answered with `output_tokens`.

    `restart` throws the prompt away but for its root first, as a compaction does. `spawned` sessions begin no earlier.
    """

    t_ms: int
    new_tokens: int
    output_tokens: int
    restart: bool = False
    spawned: tuple[Session, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """A prompt that begins as `root`, and its turns in time order, drawn as they are needed."""

    name: str
    root: Shared
    turns: Iterator[Turn]


class _Running:
    __slots__ = ("owed_tokens", "prefix", "session")

    def __init__(self, session: Session) -> None:
        self.session = session
        self.prefix: Prefix | None = None
        self.owed_tokens = 0

    def answer(self, turn: Turn, blocks: Blocks) -> Request:
        if self.prefix is None or turn.restart:
            self.prefix = self.session.root.prefix(blocks)
            self.owed_tokens = 0
        self.prefix = blocks.grow(self.prefix, self.owed_tokens + turn.new_tokens)
        self.owed_tokens = turn.output_tokens
        return Request(turn.t_ms, self.prefix.tokens, turn.output_tokens, blocks.path(self.prefix), self.session.name)


def interleave(sessions: Iterator[Session], blocks: Blocks) -> Iterator[Request]:
    """All turns of `sessions` by time; ties by who has waited longest. Sessions come in order of their first turn."""
    waiting: list[tuple[int, int, Turn, _Running]] = []
    numbers = itertools.count()

    def wait(session: Session, running: _Running) -> None:
        turn = next(session.turns, None)
        if turn is not None:
            heapq.heappush(waiting, (turn.t_ms, next(numbers), turn, running))

    def begin() -> int | None:
        """Put the next session in the queue; the time of its first turn."""
        session = next(sessions, None)
        if session is None:
            return None
        turn = next(session.turns)
        heapq.heappush(waiting, (turn.t_ms, next(numbers), turn, _Running(session)))
        return turn.t_ms

    newest_ms = begin()
    while waiting:
        # Nothing leaves the queue before a session that begins no later has entered it.
        while newest_ms is not None and newest_ms <= waiting[0][0]:
            newest_ms = begin()
        _, _, turn, running = heapq.heappop(waiting)
        yield running.answer(turn, blocks)
        wait(running.session, running)
        for session in turn.spawned:
            wait(session, _Running(session))
