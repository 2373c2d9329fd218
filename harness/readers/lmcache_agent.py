"""LMCache's agent traces, JSONL: `timestamp` (us since 1970), `input` and `output` text, `session_id`.

Source: lmcache-agent-trace. Its text would need the tokenizer that its model had, and there is none here: a token is
taken for four bytes, rounded up, which the conventions say, and reuse is unknown. Stamps step back within a file, and
rows repeat: both are kept. A real tokenizer's counts and blocks are what the native format is for.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import text, time_us
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source

_BYTES_PER_TOKEN = 4


def sniff(record: dict[str, Any]) -> bool:
    """True for a row of text."""
    return {"timestamp", "input", "output", "session_id"} <= record.keys()


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request without block ids."""
    builder.without_blocks()
    unit = builder.time_unit("us")
    builder.convention("tokens", f"estimated from text: {_BYTES_PER_TOKEN} bytes each (default)")

    def row(line: int, record: dict[str, Any]) -> None:
        asked, answered = text(record, "input"), text(record, "output")
        if asked is None:
            raise BadLineError(BAD_FIELD, "input is missing")
        t_us = time_us(record, "timestamp", unit)
        builder.request(line, t_us, _tokens(asked), _tokens(answered or ""), [], session=text(record, "session_id"))

    source.each(row)


def _tokens(words: str) -> int:
    return -(-len(words.encode()) // _BYTES_PER_TOKEN)
