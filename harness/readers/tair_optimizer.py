"""Traces of Tair's optimizer, JSONL: `instance_id`, `timestamp_us`, `keys`, `tokens`; reads and turns of dialogs.

Source: tair-kvcache. A row with `query_type` is a read, one with `input_len` a turn of a dialog; both are requests. Any
other row is a write: of something that a read before it had to compute, so it is counted and not replayed. Keys name
whole prefixes; their block size is in no file. Left out: `block_mask`, and keys of answers (`total_keys`).
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, text
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.readers.tair import BLOCK_TOKENS
from harness.trace import MAX_TIME_US, MAX_TOKENS


def sniff(record: dict[str, Any]) -> bool:
    """True for a row with an instance, a time and keys."""
    return {"instance_id", "timestamp_us", "keys"} <= record.keys()


def read(source: Source, builder: TraceBuilder) -> None:
    """Every read and every turn is a request of its instance, which is a namespace."""
    size = builder.block_tokens(BLOCK_TOKENS, "default")
    builder.time_unit("us")

    def row(line: int, record: dict[str, Any]) -> None:
        t_us = integer(record, "timestamp_us", -MAX_TIME_US, MAX_TIME_US)
        keys, tokens = items(record, "keys"), items(record, "tokens")
        if record.get("query_type") is None and record.get("input_len") is None:
            builder.notice("writes_not_replayed")
            return
        if len(keys) * size > MAX_TOKENS or len(tokens) > MAX_TOKENS:
            raise BadLineError(BAD_FIELD, f"{len(keys)} keys are more than {MAX_TOKENS} tokens")
        known = len(tokens) or len(keys) * size
        builder.request(
            line,
            t_us,
            integer(record, "input_len", 0, MAX_TOKENS, default=known),
            integer(record, "output_len", 0, MAX_TOKENS, default=0),
            keys,
            namespace=text(record, "instance_id") or "",
        )

    source.each(row)
