"""The formats fakbench reads: a format is one file with `sniff` and `read`, and one row here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.errors import TraceError
from harness.readers import mooncake, native
from harness.readers.builder import TraceBuilder
from harness.readers.source import Source

# What a format's file is made of, which is what its `sniff` is shown: the first JSON object of its lines, its first
# line that is not blank, or its first 64 KiB.
RECORDS, TEXT, BYTES = "records", "text", "bytes"


class Format(NamedTuple):
    """`sniff` looks at the start of a file in the format's shape; `read` gives its requests to the builder.

    `id_scope` is where a block id means the same: "global" in every file, "" where the format does not say or a
    file says it itself.
    """

    name: str
    summary: str
    sniff: Callable[[Any], bool]
    read: Callable[[Source, TraceBuilder], None]
    shape: str = RECORDS
    id_scope: str = ""


# In the order in which they are tried, among those of one shape; bytes are looked at first, then text, then records.
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
