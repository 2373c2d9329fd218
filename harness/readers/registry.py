"""The formats fakbench reads: a format is one file with `sniff` and `read`, and one row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.errors import TraceError
from harness.readers import mooncake, native
from harness.readers.builder import TraceBuilder
from harness.readers.source import Source


class Format(NamedTuple):
    """`sniff` looks at the first JSON object of a file; `read` gives its requests to the builder."""

    name: str
    summary: str
    sniff: Callable[[dict[str, Any]], bool]
    read: Callable[[Source, TraceBuilder], None]


# In the order in which they are tried.
FORMATS = (
    Format("native", "fakbench.trace/1: JSON lines after a header line", native.sniff, native.read),
    Format("mooncake", "JSON lines with timestamp, input_length and hash_ids", mooncake.sniff, mooncake.read),
)


def known_formats() -> str:
    """The formats in words, for messages."""
    return "; ".join(f"{row.name} ({row.summary})" for row in FORMATS)


def format_named(name: str) -> Format:
    """The row of that name. Raises `TraceError` where there is none."""
    for row in FORMATS:
        if row.name == name:
            return row
    raise TraceError(f"--trace-format {name} is not known: use auto or one of {', '.join(row.name for row in FORMATS)}")
