"""Which format a file has, by its content: its first bytes, its first line, or its first JSON object.

A broken first line does not hide the rest of a file of JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from harness.errors import TraceError
from harness.readers.decompress import BrokenStreamError
from harness.readers.lines import MAX_LINE_BYTES, Chunk, Line, lines_of
from harness.readers.problems import BadLineError
from harness.readers.records import parse
from harness.readers.registry import BYTES, FORMATS, RECORDS, TEXT, Format, known_formats

HEAD_BYTES = 64 << 10
_LINES = 100


def sniff_bytes(content: Iterable[bytes]) -> tuple[Format | None, Iterator[bytes]]:
    """The format of a file that is not told by its lines, or None; and all of the content again."""
    rest = iter(content)
    head: list[bytes] = []
    broken: list[BrokenStreamError] = []
    try:
        while sum(map(len, head)) < HEAD_BYTES and (piece := next(rest, None)) is not None:
            head.append(piece)
    except BrokenStreamError as error:
        broken.append(error)
    start = b"".join(head)[:HEAD_BYTES]
    found = next((row for row in FORMATS if row.shape == BYTES and row.sniff(start)), None)
    return found, chain(head, _raising(broken), rest)


def _raising(broken: list[BrokenStreamError]) -> Iterator[bytes]:
    """What was found broken while looking ahead is told when it is reached, after the rows before it."""
    for error in broken:
        raise error
    yield from ()


def sniff_lines(source: Iterable[Chunk], path: str) -> tuple[Format, Iterator[Chunk]]:
    """The format of lines, by the first or by the first JSON object among the first 100, and all of the chunks again.

    Raises `TraceError` where there is no such line, or it is of no known format.
    """
    rest = iter(source)
    looked_at: list[Chunk] = []
    looked_lines = looked_bytes = 0
    complaint = ""
    for line in _lines(rest, looked_at):
        if not line.content.strip():
            continue
        looked_lines += 1
        looked_bytes += len(line.content)
        if looked_lines == 1:
            for row in FORMATS:
                if row.shape == TEXT and row.sniff(line.content):
                    return row, chain(looked_at, rest)
        try:
            record = parse(line)
        except BadLineError as bad:
            complaint = complaint or f"{path}:{line.number}: {bad.sentence}"
            # Bounded in lines and in bytes: a hundred long lines would be held in memory at once.
            if looked_lines == _LINES or looked_bytes > MAX_LINE_BYTES:
                break
            continue
        for row in FORMATS:
            if row.shape == RECORDS and row.sniff(record):
                return row, chain(looked_at, rest)
        raise TraceError(f"{path}:{line.number}: not a row of a known format: {known_formats()}")
    if complaint:
        raise TraceError(f"{complaint}, and no JSON object is near: the known formats are {known_formats()}")
    raise TraceError(f"{path}: is empty: a trace needs at least one request")


def _lines(chunks: Iterator[Chunk], seen: list[Chunk]) -> Iterator[Line]:
    """The lines of chunks, which are kept."""
    for chunk in chunks:
        seen.append(chunk)
        yield from lines_of(chunk)
