"""Qwen-Bailian JSONL: one request a line, `chat_id`, `parent_chat_id`, `timestamp` (s), `input_length`, `hash_ids`.

Source: the traces that Alibaba published. Blocks have 16 tokens, and an id is a hash of its own block's tokens, so ids
are chained with their parents, unless that is turned off. Every row is a whole prompt; a session is a chat and all that
follow from it, as far as they are in the trace. Left out: the type of a request and its number in the chat.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, time_us
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TOKENS

BLOCK_TOKENS = 16

_ROOT = -1
_MOST = 2**63 - 1


def sniff(record: dict[str, Any]) -> bool:
    """True for a row with a chat."""
    return "chat_id" in record and "hash_ids" in record


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request."""
    builder.block_tokens(BLOCK_TOKENS, "format")
    builder.chained(True)
    unit = builder.time_unit("s")
    roots: dict[int, int] = {}

    def row(line: int, record: dict[str, Any]) -> None:
        chat = integer(record, "chat_id", _ROOT, _MOST)
        parent = integer(record, "parent_chat_id", _ROOT, _MOST, default=_ROOT)
        ids = items(record, "hash_ids")
        if ids and record.get("input_length") is None:
            raise BadLineError(BAD_FIELD, "hash_ids without input_length")
        t_us = time_us(record, "timestamp", unit)
        tokens = integer(record, "input_length", 0, MAX_TOKENS)
        output_tokens = integer(record, "output_length", 0, MAX_TOKENS, default=0)
        if parent != _ROOT and parent not in roots:
            builder.notice("parents_outside_the_trace")
        root = chat if parent == _ROOT else roots.get(parent, parent)
        builder.request(line, t_us, tokens, output_tokens, ids, session=str(root))
        roots[chat] = root

    source.each(row)
