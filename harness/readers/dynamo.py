"""Dynamo request traces, JSONL: `{"timestamp": ms, "event": {"schema": "dynamo.request.trace.v1", "event_type": …}}`.

Source: NVIDIA Dynamo. A row is written when a request ends, so the time that counts is when it was received. Ids name
whole prefixes; their block size is in the row. What the engine itself found cached is added up in a notice, to hold a
replay against. Left out: events of tools, and how long requests took. A model is a namespace.
"""

from __future__ import annotations

from typing import Any

from harness.readers.builder import TraceBuilder
from harness.readers.fields import integer, items, shown, text, time_us
from harness.readers.problems import BAD_FIELD, UNKNOWN_KIND, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_BLOCK_TOKENS, MAX_TOKENS

SCHEMA = "dynamo.request.trace.v1"


def sniff(record: dict[str, Any]) -> bool:
    """True for a row whose event says what it is, whatever its version."""
    event = record.get("event")
    return isinstance(event, dict) and str(event.get("schema")).startswith("dynamo.request.trace.")


def read(source: Source, builder: TraceBuilder) -> None:
    """Every `request_end` is a request. Raises `TraceError` for a version that is not known."""
    unit = builder.time_unit("ms")
    size = 0

    def row(line: int, record: dict[str, Any]) -> None:
        nonlocal size
        event = part(record, "event")
        if event.get("schema") != SCHEMA:
            source.fail(line, f"schema {shown(event.get('schema'))} is not supported: this version reads {SCHEMA}")
        kind = event.get("event_type")
        if kind in ("tool_start", "tool_end", "tool_error"):
            builder.notice("tool_events_ignored")
            return
        if kind != "request_end":
            raise BadLineError(UNKNOWN_KIND, f"event_type {shown(kind)} is not request_end or a tool's")
        request = part(event, "request")
        replay = part(request, "replay") if request.get("replay") is not None else {}
        ids = items(replay, "input_sequence_hashes")
        if ids:
            own = integer(replay, "trace_block_size", 1, MAX_BLOCK_TOKENS)
            if not size:
                size = builder.block_tokens(own, "declared")
            if own != size:
                raise BadLineError(BAD_FIELD, f"trace_block_size {own} here but {size} before")
        lengths = replay if replay.get("input_length") is not None else request
        tokens = integer(lengths, "input_length" if lengths is replay else "input_tokens", 0, MAX_TOKENS)
        context = part(event, "agent_context") if event.get("agent_context") is not None else {}
        cached = integer(request, "cached_tokens", 0, MAX_TOKENS, default=0)
        builder.request(
            line,
            time_us(request, "request_received_ms", unit),
            tokens,
            integer(request, "output_tokens", 0, MAX_TOKENS, default=0),
            ids,
            namespace=text(request, "model") or "",
            session=text(context, "session_id"),
        )
        if cached:
            builder.notice("measured_cached_tokens", cached)

    source.each(row)
    if not size:
        builder.without_blocks()


def part(record: dict[str, Any], field: str) -> dict[str, Any]:
    """An object within a record."""
    value = record.get(field)
    if isinstance(value, dict):
        return value
    raise BadLineError(
        BAD_FIELD, f"{field} {shown(value)} is not an object" if field in record else f"{field} is missing"
    )
