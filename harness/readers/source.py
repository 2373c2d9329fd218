"""What a format's reader is given: the options, the content of one file in the shape it reads, a place to complain."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from harness.errors import TraceError
from harness.readers.fields import TIME_UNITS_US
from harness.readers.lines import Chunk, Line, lines_of
from harness.readers.problems import NOT_UTF8, NUL_BYTES, BadLineError, Problems
from harness.readers.records import Record, not_blank, records
from harness.trace import MAX_BLOCK_TOKENS

AUTO = "auto"
TAILS = (AUTO, "ceil", "floor")
ID_SCOPES = (AUTO, "file", "global")
CUMULATIVE, DELTA, DELTA_OUTPUTS = "cumulative", "delta", "delta+outputs"
TURNS = (AUTO, CUMULATIVE, DELTA, DELTA_OUTPUTS)
FAILED_ROWS = ("drop", "keep")


@dataclass(frozen=True, slots=True)
class Options:
    """How to read a trace; what is "auto" or None is the format's own. `docs/trace-format.md` explains each.

    Raises `TraceError` for a value that means nothing.
    """

    format: str = AUTO
    block_tokens: int | None = None
    lenient: bool = False
    chain_ids: bool | None = None
    tail: str = AUTO
    time_unit: str = AUTO
    id_scope: str = AUTO
    turns: str = AUTO
    failed_rows: str = "drop"

    def __post_init__(self) -> None:
        if self.block_tokens is not None and not 1 <= self.block_tokens <= MAX_BLOCK_TOKENS:
            raise TraceError(f"--block-tokens {self.block_tokens} is not an integer from 1 to {MAX_BLOCK_TOKENS}")
        for option, value, known in (
            ("--tail", self.tail, TAILS),
            ("--time-unit", self.time_unit, (AUTO, *TIME_UNITS_US)),
            ("--id-scope", self.id_scope, ID_SCOPES),
            ("--turns", self.turns, TURNS),
            ("--failed-rows", self.failed_rows, FAILED_ROWS),
        ):
            if value not in known:
                raise TraceError(f"{option} {value!r} is not known: use one of {', '.join(known)}")


@dataclass(slots=True)
class Source:
    """One file being read, once: `chunks` of lines, or the `content` in pieces, as the format's shape has it.

    `name` is the file's name in its folder.
    """

    path: str
    name: str
    options: Options
    problems: Problems
    chunks: Iterator[Chunk] = field(default_factory=lambda: iter(()))
    content: Iterator[bytes] = field(default_factory=lambda: iter(()))
    # What is left of the chunk that is being walked.
    _lines: Iterator[Line] = field(default_factory=lambda: iter(()))

    @property
    def records(self) -> Iterator[Record]:
        """The JSON objects that are left."""
        while True:
            yield from records(not_blank(self._lines, self.problems), self.problems)
            chunk = next(self.chunks, None)
            if chunk is None:
                return
            self._lines = lines_of(chunk)

    def fail(self, line: int, sentence: str) -> NoReturn:
        """Refuse the whole file, leniently too: what is wrong at `line` decides how every other line is read."""
        raise TraceError(f"{self.path}:{line}: {sentence}")

    def each(
        self, handle: Callable[[int, dict[str, Any]], None], in_bulk: Callable[[Chunk], bool] = lambda _: False
    ) -> None:
        """Give `handle` every record that is left; a `BadLineError` that it raises becomes a problem of that line.

        A chunk that `in_bulk` takes has been read.
        """
        while True:
            for line, offset, record in records(not_blank(self._lines, self.problems), self.problems):
                try:
                    handle(line, record)
                except BadLineError as bad:
                    self.problems.add(line, offset, bad.kind, bad.sentence)
            chunk = next(self.chunks, None)
            if chunk is None:
                return
            if not in_bulk(chunk):
                self._lines = lines_of(chunk)

    def each_line(self, handle: Callable[[int, str], None]) -> None:
        """Give `handle` every line that is not blank, as text without its line end; complaints as in `each`."""
        for chunk in self.chunks:
            for line in not_blank(lines_of(chunk), self.problems):
                try:
                    handle(line.number, line_text(line))
                except BadLineError as bad:
                    self.problems.add(line.number, line.offset, bad.kind, bad.sentence)


def line_text(line: Line) -> str:
    """A line of text as such, or `BadLineError`."""
    if b"\0" in line.content:
        raise BadLineError(NUL_BYTES, "NUL bytes")
    try:
        return line.content.decode().rstrip("\r")
    except UnicodeDecodeError:
        raise BadLineError(NOT_UTF8, "not UTF-8") from None
