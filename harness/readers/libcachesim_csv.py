"""libCacheSim's CSV: a time (s), an object and its bytes a line, in columns 1, 2 and 3 unless a first line names them.

Source: libCacheSim. Without names nothing tells such a file from other numbers, so it is read only where
`--trace-format libcachesim-csv` says so. Commas, semicolons, tabs or `|` separate the columns. Objects as in
oracleGeneral, their names being integers where they are written as such.
"""

from __future__ import annotations

from harness.readers import delimited
from harness.readers.builder import TraceBuilder
from harness.readers.libcachesim import TOKENS
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_BLOCK_BYTES

_TIMES = ("time", "timestamp", "clock_time", "real_time", "ts")
_NAMES = ("obj_id", "obj-id", "object_id", "objid", "id", "key", "obj")
_SIZES = ("obj_size", "obj-size", "object_size", "objsize", "size")
_DELIMITERS = ",;\t|"
_LONGEST_ID = 20


def sniff(line: bytes) -> bool:
    """True for a first line that names all three columns."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    return _places(text, _delimiter(text)) is not None


def read(source: Source, builder: TraceBuilder) -> None:
    """Every line but a first one of names is an access of an object."""
    builder.without_blocks()
    unit = builder.time_unit("s")
    builder.convention("tokens", f"{TOKENS} an object, of its own bytes (format)")
    places = (0, 1, 2)
    delimiter = ""

    def row(line: int, text: str) -> None:
        nonlocal places, delimiter
        if not delimiter:
            delimiter = _delimiter(text)
            named = _places(text, delimiter)
            builder.convention(
                "columns",
                f"time {(named or places)[0] + 1}, object {(named or places)[1] + 1}, "
                f"bytes {(named or places)[2] + 1} ({'declared' if named else 'default'})",
            )
            if named is not None:
                places = named
                return
        cells = delimited.cut(text, delimiter)
        if len(cells) <= max(places):
            raise BadLineError(BAD_FIELD, f"{len(cells)} cells where {max(places) + 1} are needed")
        time, name, size = (cells[place].strip() for place in places)
        t_us = delimited.time_us(time, "time", unit)
        size_bytes = delimited.count(size, "size", MAX_BLOCK_BYTES)
        if not size_bytes:
            builder.notice("requests_without_bytes")
            return
        numeric = name.isascii() and name.isdigit() and len(name) <= _LONGEST_ID
        builder.access(line, t_us, int(name) if numeric else name, TOKENS, size_bytes, 0)

    source.each_line(row)


def _delimiter(text: str) -> str:
    return max(_DELIMITERS, key=text.count)


def _places(text: str, delimiter: str) -> tuple[int, int, int] | None:
    """The columns of the three, where the line names them."""
    cells = [cell.strip().lower() for cell in text.split(delimiter)]
    found = [next((cells.index(name) for name in names if name in cells), None) for names in (_TIMES, _NAMES, _SIZES)]
    if None in found:
        return None
    time, name, size = (place or 0 for place in found)
    return time, name, size
