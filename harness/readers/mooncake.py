"""Mooncake JSONL: one request a line, `timestamp` (ms), `input_length`, `output_length`, `hash_ids`.

Source: the traces published with Mooncake (FAST '25), and what AIPerf and Dynamo write in their shape: aliases of the
names, float times, sessions, and a `delay` instead of a time. Ids name whole prefixes, 512 tokens a block unless told
otherwise. Turns of a session that list only their new blocks look like those that list their whole prompt: which it
is has to be said, and is never guessed. Left out: rows that give text instead of lengths, and what tools waited for.
"""

from __future__ import annotations

from typing import Any

import msgspec

from harness.readers.builder import TraceBuilder
from harness.readers.bulk import Columns, Lane
from harness.readers.fields import TIME_UNITS_US, integer, items, shown, text, time_us
from harness.readers.problems import BAD_FIELD, BAD_TIME, BadLineError
from harness.readers.source import AUTO, CUMULATIVE, Source
from harness.readers.turns import Deltas, Prompt
from harness.trace import MAX_TIME_US, MAX_TOKENS

BLOCK_TOKENS = 512

_FIELDS = frozenset(
    (
        *("timestamp", "created_time", "input_length", "input_tokens", "output_length", "output_tokens"),
        *("hash_ids", "session_id", "prefix_reset"),
    )
)
_WAYS = (
    "pass --turns cumulative (every row is a whole prompt), --turns delta (rows list only what is new) or "
    "--turns delta+outputs (and the answers before it are part of a prompt)"
)


def sniff(record: dict[str, Any]) -> bool:
    """True for a first record that looks like a row of this format."""
    timed = "timestamp" in record or "created_time" in record
    return "input_length" in record or "hash_ids" in record or ("input_tokens" in record and timed)


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request. Raises `TraceError` for a session whose turns may be deltas, where nobody says."""
    rows = _Rows(source, builder)
    lane = Lane(builder, source.problems, _Published, _columns, TIME_UNITS_US[rows.unit])
    source.each(rows.row, lane.take)
    rows.finish()


class _Published(msgspec.Struct, forbid_unknown_fields=True):
    """A row as in the published traces."""

    timestamp: int | float
    input_length: int
    output_length: int
    hash_ids: list[int]


def _columns(rows: list[_Published]) -> Columns:
    return Columns(
        [row.timestamp for row in rows],
        [row.input_length for row in rows],
        [row.output_length for row in rows],
        [row.hash_ids for row in rows],
        (),
    )


class _Rows:
    """The rows of a file, and what later turns of their sessions need of them."""

    def __init__(self, source: Source, builder: TraceBuilder) -> None:
        self._source = source
        self._builder = builder
        self._turns = source.options.turns
        size = builder.block_tokens(BLOCK_TOKENS, "default")
        self._deltas = None if self._turns in (AUTO, CUMULATIVE) else Deltas(self._turns, size)
        self.unit = builder.time_unit("ms")
        self._roots: dict[str, object] = {}
        self._arrivals: dict[str, int] = {}

    def row(self, line: int, record: dict[str, Any]) -> None:
        """Give one row to the builder."""
        ids = items(record, "hash_ids")
        session = _session(record)
        t_us = self._arrival(line, record, session)
        length = _name(record, "input_length", "input_tokens")
        if ids and record.get(length) is None:
            raise BadLineError(BAD_FIELD, "hash_ids without input_length")
        tokens = integer(record, length, 0, MAX_TOKENS)
        output = _name(record, "output_length", "output_tokens")
        output_tokens = integer(record, output, 0, MAX_TOKENS, default=0)
        prompt = Prompt(tokens, ids)
        if session is not None:
            if self._deltas is not None:
                prompt = self._deltas.turn(session, tokens, ids, output_tokens, record.get("prefix_reset") is True)
            elif ids and self._turns == AUTO:
                self._refuse_possible_delta(line, session, ids)
            self._arrivals[session] = t_us
        self._builder.request(
            line, t_us, prompt.tokens, output_tokens, prompt.ids, session=session, unnamed_tokens=prompt.unnamed_tokens
        )
        if record.get(output) is None:
            self._builder.notice("rows_without_output_length")
        ignored = record.keys() - _FIELDS
        if ignored and (_timed(record) or ignored != {_delay(record)}):
            self._builder.notice("rows_with_ignored_fields")

    def finish(self) -> None:
        """Say how turns were understood, where there are any."""
        if self._turns != AUTO:
            self._builder.convention("turns", f"{self._turns} (set)")
        elif self._roots:
            self._builder.convention("turns", "cumulative (detected)")

    def _arrival(self, line: int, record: dict[str, Any], session: str | None) -> int:
        """When a row arrives: at its time, or a delay after the turn before it arrived."""
        delay = _delay(record)
        if _timed(record) or record.get(delay) is None:
            return time_us(record, _name(record, "timestamp", "created_time"), self.unit)
        if self._turns == AUTO:
            self._source.fail(
                line,
                "a delay and no timestamp: a turn of a session, either cumulative (its whole prompt) or delta (only "
                f"its new blocks): {_WAYS}",
            )
        before = None if session is None else self._arrivals.get(session)
        if before is None:
            raise BadLineError(BAD_TIME, "a delay and no timestamp, and no turn of a session before it")
        delay_us = time_us(record, delay, self.unit)
        if delay_us < 0 or before + delay_us > MAX_TIME_US:
            raise BadLineError(BAD_TIME, f"{delay} {shown(record[delay])} is negative or leads out of range")
        self._builder.notice("arrivals_from_delays")
        return before + delay_us

    def _refuse_possible_delta(self, line: int, session: str, ids: list[Any]) -> None:
        root = self._roots.setdefault(session, ids[0])
        if type(root) is not type(ids[0]) or root != ids[0]:
            self._source.fail(
                line,
                f"session {shown(session)} begins with block {shown(root)} and this turn with {shown(ids[0])}: "
                f"cumulative (a whole new prompt) or delta (only its new blocks)? {_WAYS[0].upper()}{_WAYS[1:]}",
            )


def _name(record: dict[str, Any], name: str, alias: str) -> str:
    """The name that a row uses: its alias only where it has that alone."""
    return alias if name not in record and alias in record else name


def _delay(record: dict[str, Any]) -> str:
    return _name(record, "delay", "delay_ms")


def _timed(record: dict[str, Any]) -> bool:
    return record.get(_name(record, "timestamp", "created_time")) is not None


def _session(record: dict[str, Any]) -> str | None:
    """The session's name; some tools number their sessions."""
    session = record.get("session_id")
    return str(session) if type(session) is int else text(record, "session_id")
