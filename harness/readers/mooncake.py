"""Mooncake JSONL: one request a line, `timestamp` (ms), `input_length`, `output_length`, `hash_ids`.

Source: the traces published with Mooncake (FAST '25) and what other tools write in their shape. Ids name whole
prefixes, 512 tokens a block unless told otherwise. Turns of a session that list only their new blocks look the same
and mean something else: they are refused, never guessed.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, shown, text, time_us
from harness.readers.problems import BAD_FIELD, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TOKENS

BLOCK_TOKENS = 512

_FIELDS = frozenset(("timestamp", "input_length", "output_length", "hash_ids", "session_id"))


def sniff(record: dict[str, Any]) -> bool:
    """True for a first record that looks like a row of this format."""
    return "input_length" in record or "hash_ids" in record


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request. Raises `TraceError` for a session whose turns may be deltas."""
    builder.trace.block_tokens = source.options.block_tokens or BLOCK_TOKENS
    roots: dict[str, object] = {}

    def row(line: int, record: dict[str, Any]) -> None:
        if record.get("timestamp") is None and record.get("delay") is not None:
            source.fail(
                line,
                "a delay and no timestamp: a turn of a session, either cumulative (its whole prompt) or delta (only "
                "its new blocks). Delta sessions are not supported yet: give every row its timestamp and its whole "
                "prompt.",
            )
        t_us = time_us(record, "timestamp")
        ids = items(record, "hash_ids")
        if ids and record.get("input_length") is None:
            raise BadLineError(BAD_FIELD, "hash_ids without input_length")
        input_tokens = integer(record, "input_length", 0, MAX_TOKENS)
        output_tokens = integer(record, "output_length", 0, MAX_TOKENS, default=0)
        session = _session(record)
        if session is not None and ids:
            root = roots.setdefault(session, ids[0])
            if type(root) is not type(ids[0]) or root != ids[0]:
                source.fail(
                    line,
                    f"session {shown(session)} begins with block {shown(root)} and this turn with {shown(ids[0])}: "
                    "cumulative (a whole new prompt) or delta (only its new blocks)? Delta sessions are not supported "
                    "yet: where every row is a whole prompt, leave session_id out.",
                )
        builder.request(line, t_us, input_tokens, output_tokens, ids, session=session)
        if record.get("output_length") is None:
            builder.notice("rows_without_output_length")
        if not record.keys() <= _FIELDS:
            builder.notice("rows_with_ignored_fields")

    source.each(row)


def _session(record: dict[str, Any]) -> str | None:
    """The session's name; some tools number their sessions."""
    session = record.get("session_id")
    return str(session) if type(session) is int else text(record, "session_id")
