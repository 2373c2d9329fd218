"""BurstGPT, CSV: `Timestamp,Model,Request tokens,Response tokens,…`; later files have a `Session ID` too.

Source: the traces published with BurstGPT. Seconds. Rows with no response tokens are requests that failed, and are
left out unless `failed_rows` keeps them. There are no block ids, so reuse is unknown. Left out: the kind of log and the
time that an answer took.
"""

from __future__ import annotations

from harness.readers import delimited
from harness.readers.builder import TraceBuilder
from harness.readers.source import Source
from harness.trace import MAX_TOKENS

_COLUMNS = ("timestamp", "request tokens", "response tokens", "session id", "model")


def sniff(line: bytes) -> bool:
    """True for a first line with the columns that every one of its files has."""
    return {*_COLUMNS[:3]} <= {*delimited.header(line)}


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request without block ids; a row without a session is one of its own."""
    builder.without_blocks()
    unit = builder.time_unit("s")
    keep = source.options.failed_rows == "keep"
    builder.convention("failed_rows", "keep (set)" if keep else "drop (default)")

    def row(line: int, cells: list[str]) -> None:
        time, asked, answered, session, model = cells
        t_us = delimited.time_us(time, "Timestamp", unit)
        tokens = delimited.count(asked, "Request tokens", MAX_TOKENS)
        output_tokens = delimited.count(answered, "Response tokens", MAX_TOKENS)
        if not output_tokens:
            builder.notice("failed_rows")
            if not keep:
                return
        builder.request(line, t_us, tokens, output_tokens, [], namespace=model, session=session or None)

    delimited.rows(source, _COLUMNS, row)
