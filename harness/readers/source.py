"""What a format's reader is given: the options, the records of one file, and where to put complaints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from harness.errors import TraceError
from harness.readers.problems import BadLineError, Problems
from harness.trace import MAX_BLOCK_TOKENS

TAILS = ("auto", "ceil", "floor")

Record = tuple[int, int, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Options:
    """How to read. `block_tokens` None is the format's own; `tail` says whether a partial last block has an id.

    Raises `TraceError` for a value that means nothing.
    """

    block_tokens: int | None = None
    lenient: bool = False
    chain_ids: bool = False
    tail: str = "auto"

    def __post_init__(self) -> None:
        if self.block_tokens is not None and not 1 <= self.block_tokens <= MAX_BLOCK_TOKENS:
            raise TraceError(f"--block-tokens {self.block_tokens} is not an integer from 1 to {MAX_BLOCK_TOKENS}")
        if self.tail not in TAILS:
            raise TraceError(f"tail {self.tail!r} is not known: use one of {', '.join(TAILS)}")


@dataclass(slots=True)
class Source:
    """One file being read. `records` yields (physical line, byte offset, JSON object) and can be walked once."""

    path: str
    options: Options
    records: Iterator[Record]
    problems: Problems

    def fail(self, line: int, sentence: str) -> NoReturn:
        """Refuse the whole file, leniently too: what is wrong at `line` decides how every other line is read."""
        raise TraceError(f"{self.path}:{line}: {sentence}")

    def each(self, handle: Callable[[int, dict[str, Any]], None]) -> None:
        """Give `handle` every record that is left; a `BadLineError` that it raises becomes a problem of that line."""
        for line, offset, record in self.records:
            try:
                handle(line, record)
            except BadLineError as bad:
                self.problems.add(line, offset, bad.kind, bad.sentence)
