"""Which format a file has, by its first JSON object; a broken first line does not hide the rest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from harness.errors import TraceError
from harness.readers.lines import MAX_LINE_BYTES, Line
from harness.readers.problems import BadLineError
from harness.readers.records import parse
from harness.readers.registry import FORMATS, Format, known_formats

_LINES = 100


def sniff(source: Iterable[Line], path: str) -> tuple[Format, Iterator[Line]]:
    """The format of the first JSON object among the first 100 lines, and all of the lines again.

    Raises `TraceError` where there is no such object, or it is of no known format.
    """
    rest = iter(source)
    looked_at: list[Line] = []
    looked_bytes = 0
    complaint = ""
    for line in rest:
        if not line.content.strip():
            continue
        looked_at.append(line)
        looked_bytes += len(line.content)
        try:
            record = parse(line)
        except BadLineError as bad:
            complaint = complaint or f"{path}:{line.number}: {bad.sentence}"
            # Bounded in lines and in bytes: a hundred long lines would be held in memory at once.
            if len(looked_at) == _LINES or looked_bytes > MAX_LINE_BYTES:
                break
            continue
        for row in FORMATS:
            if row.sniff(record):
                return row, chain(looked_at, rest)
        raise TraceError(f"{path}:{line.number}: not a row of a known format: {known_formats()}")
    if complaint:
        raise TraceError(f"{complaint}, and no JSON object is near: the known formats are {known_formats()}")
    raise TraceError(f"{path}: is empty: a trace needs at least one request")
