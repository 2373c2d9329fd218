"""Rows that are all alike, a chunk of lines at a time: parsed by one call, held to the same rules, appended as columns.

A chunk is taken whole or not at all: where any of its lines is not as a typed row of the format wants it, or anything
would have to be said about it, its lines are read one by one. So this decides how fast a trace is read, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from harness.readers.builder import TraceBuilder
from harness.readers.lines import Chunk
from harness.readers.problems import Problems
from harness.trace import MAX_TIME_US, MAX_TOKENS


class Columns(NamedTuple):
    """What rows of a format say, by request: times in the format's unit, tokens, block ids, and sessions if any."""

    times: list[Any]
    input_tokens: list[int]
    output_tokens: list[int]
    ids: list[list[int]]
    sessions: Sequence[str | None]


class Lane:
    """Takes chunks of rows of type `row`, out of which `columns` makes columns."""

    def __init__(
        self,
        builder: TraceBuilder,
        problems: Problems,
        row: type[msgspec.Struct],
        columns: Callable[[list[Any]], Columns],
        unit_us: int,
    ) -> None:
        self._builder = builder
        self._problems = problems
        self._decoder = msgspec.json.Decoder(row)
        self._columns = columns
        self._unit_us = unit_us

    def take(self, chunk: Chunk) -> bool:
        """Whether the chunk was taken; otherwise nothing has happened."""
        try:
            rows = self._decoder.decode_lines(chunk.content)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return False
        # A blank line is no row, and the numbers of those after it would be wrong.
        if not rows or len(rows) != chunk.content.count(b"\n"):
            return False
        columns = self._columns(rows)
        if not (_within(columns.input_tokens, 1) and _within(columns.output_tokens, 0)):
            return False
        if min(columns.times) < 0 or max(columns.times) * self._unit_us > MAX_TIME_US:
            return False
        times_us = [round(time * self._unit_us) for time in columns.times]
        if not self._builder.requests(chunk.number, times_us, *columns[1:]):
            return False
        self._problems.lines += len(rows)
        return True


def _within(tokens: list[int], least: int) -> bool:
    return min(tokens) >= least and max(tokens) <= MAX_TOKENS
