"""Lookup logs of LMCache, JSONL: `timestamp` (s), `seq_len`, `chunk_size`, `chunk_hashes`, `model_name`.

Source: LMCache 0.5. Each line is a request that asked for the chunks of its prompt; hashes name whole prefixes, and a
partial last chunk has none. An older form has only `timestamp`, `lookup_id` and `chunk_hashes`: chunks of 256 tokens
unless told otherwise, and prompts that end with their last chunk. A model is a namespace. Left out: shapes and types.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, text, time_us
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_BLOCK_TOKENS, MAX_TOKENS

CHUNK_TOKENS = 256


def sniff(record: dict[str, Any]) -> bool:
    """True for a row with chunk hashes."""
    return "chunk_hashes" in record and "timestamp" in record


def read(source: Source, builder: TraceBuilder) -> None:
    """Every lookup is a request."""
    unit = builder.time_unit("s")
    size = 0

    def row(line: int, record: dict[str, Any]) -> None:
        nonlocal size
        hashes = items(record, "chunk_hashes")
        stated = record.get("chunk_size") is not None
        own = integer(record, "chunk_size", 1, MAX_BLOCK_TOKENS) if stated else 0
        if not size:
            size = builder.block_tokens(own or CHUNK_TOKENS, "declared" if own else "default")
        if own not in (0, size):
            raise BadLineError(BAD_FIELD, f"chunk_size {own} here but {size} before")
        if len(hashes) * size > MAX_TOKENS:
            raise BadLineError(BAD_FIELD, f"{len(hashes)} chunks are more than {MAX_TOKENS} tokens")
        tokens = integer(record, "seq_len", 0, MAX_TOKENS, default=len(hashes) * size)
        t_us = time_us(record, "timestamp", unit)
        builder.request(line, t_us, tokens, 0, hashes, namespace=text(record, "model_name") or "")

    source.each(row)
