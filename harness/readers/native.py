"""The native format, `fakbench.trace/1`: JSONL, a header line and then events. `docs/trace-format.md` is its manual.

Strict by design: a field or a kind that is not known is an error, because a trace that says something the replay
does not do would be answered wrongly.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.errors import TraceError
from harness.readers.builder import TraceBuilder
from harness.readers.bulk import Lane
from harness.readers.fields import TIME_UNITS_US, integer, items, shown, text, time_us
from harness.readers.native_rows import PlainRequest, columns
from harness.readers.problems import BAD_FIELD, BAD_TIME, UNKNOWN_FIELD, UNKNOWN_KIND, BadLineError
from harness.readers.source import Source
from harness.trace import IDENTITY_AXES, MAX_BLOCK_BYTES, MAX_BLOCK_TOKENS, MAX_TOKENS
from policy.identity import Identity
from policy.tiers import LADDER

SCHEMA = "fakbench.trace/1"
FULL_PPM = 1_000_000

_HEADER = frozenset(("kind", "schema", "block_tokens", "name", "notes"))

Handler = Callable[[TraceBuilder, int, dict[str, Any]], None]


def sniff(record: dict[str, Any]) -> bool:
    """True for a header, and for an event that should have had one before it."""
    return record.get("kind") == "trace" or (isinstance(record.get("kind"), str) and record["kind"] in EVENTS)


def read(source: Source, builder: TraceBuilder) -> None:
    """The header, then every event. Raises `TraceError` for a header that is missing or wrong, leniently too."""
    first = next(source.records, None)
    if first is None:
        return
    line, _, record = first
    try:
        _header(source, builder, line, record)
    except BadLineError as bad:
        source.fail(line, f"the header's {bad.sentence}")

    def event(line: int, record: dict[str, Any]) -> None:
        kind = record.get("kind")
        if kind == "trace":
            raise BadLineError(UNKNOWN_KIND, "a second header: a file is one trace")
        if not isinstance(kind, str) or kind not in EVENTS:
            raise BadLineError(UNKNOWN_KIND, f"kind {shown(kind)} is not one of {', '.join(EVENTS)}")
        fields, handle = EVENTS[kind]
        if not record.keys() <= fields:
            field = next(field for field in record if field not in fields)
            raise BadLineError(UNKNOWN_FIELD, f"{kind} has no field {shown(field)}")
        handle(builder, line, record)

    source.each(event, Lane(builder, source.problems, PlainRequest, columns, TIME_UNITS_US["ms"]).take)


def _header(source: Source, builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    if record.get("kind") != "trace":
        unread = "".join(f" (line {problem.line}: {problem.sentence})" for problem in source.problems.first[:1])
        source.fail(
            line,
            f'no header before this line{unread}: a native trace starts with {{"kind":"trace","schema":"{SCHEMA}",'
            '"block_tokens":16}',
        )
    if record.get("schema") != SCHEMA:
        source.fail(line, f"schema {shown(record.get('schema'))} is not supported: this version reads {SCHEMA}")
    for field in record:
        if field not in _HEADER:
            raise BadLineError(UNKNOWN_FIELD, f"field {shown(field)} is not known")
    block_tokens = integer(record, "block_tokens", 1, MAX_BLOCK_TOKENS)
    asked = source.options.block_tokens
    if asked is not None and asked != block_tokens:
        raise TraceError(
            f"{source.path}:{line}: --block-tokens {asked} contradicts the header's block_tokens {block_tokens}: "
            "leave the option out"
        )
    trace = builder.trace
    trace.block_tokens = block_tokens
    trace.notes = text(record, "notes") or ""
    name = text(record, "name")
    if name is not None:
        trace.name = name


def _request(builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    builder.request(
        line,
        time_us(record, "t_ms"),
        integer(record, "input_tokens", 0, MAX_TOKENS),
        integer(record, "output_tokens", 0, MAX_TOKENS, default=0),
        items(record, "blocks"),
        namespace=text(record, "namespace") or "",
        session=text(record, "session"),
        identity=_identity(record),
    )


def _access(builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    span = record.get("span")
    if type(span) is not int and type(span) is not str:
        raise BadLineError(
            BAD_FIELD, f"span {shown(span)} is not an integer or text" if "span" in record else "span is missing"
        )
    builder.access(
        line,
        time_us(record, "t_ms"),
        span,
        integer(record, "tokens", 1, MAX_TOKENS),
        0 if record.get("bytes") is None else integer(record, "bytes", 1, MAX_BLOCK_BYTES),
        integer(record, "output_tokens", 0, MAX_TOKENS, default=0),
        namespace=text(record, "namespace") or "",
        session=text(record, "session"),
        identity=_identity(record),
    )


def _identity(record: dict[str, Any]) -> Identity:
    return Identity(**{axis: text(record, axis) or "" for axis in IDENTITY_AXES})


def _clear(builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    t_us = time_us(record, "t_ms")
    builder.control("clear", t_us, "" if record.get("tier") is None else _tier(record), 0)


def _fault(builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    t_us, until_us = time_us(record, "t_ms"), time_us(record, "until_ms")
    if until_us <= t_us:
        raise BadLineError(BAD_TIME, f"until_ms {shown(record['until_ms'])} is not after t_ms {shown(record['t_ms'])}")
    builder.control("fault", t_us, _tier(record), until_us)


def _pressure(builder: TraceBuilder, line: int, record: dict[str, Any]) -> None:
    t_us = time_us(record, "t_ms")
    builder.control("pressure", t_us, _tier(record), integer(record, "fill_ppm", 0, FULL_PPM))


def _tier(record: dict[str, Any]) -> str:
    tier = record.get("tier")
    if isinstance(tier, str) and tier in LADDER:
        return tier
    if "tier" not in record:
        raise BadLineError(BAD_FIELD, "tier is missing")
    raise BadLineError(BAD_FIELD, f"tier {shown(tier)} is not one of {', '.join(LADDER)}")


def _fields(*names: str) -> frozenset[str]:
    return frozenset(("kind", "t_ms", *names))


EVENTS: dict[str, tuple[frozenset[str], Handler]] = {
    "request": (_fields("input_tokens", "output_tokens", "blocks", "session", "namespace", *IDENTITY_AXES), _request),
    "access": (_fields("span", "tokens", "bytes", "output_tokens", "session", "namespace", *IDENTITY_AXES), _access),
    "clear": (_fields("tier"), _clear),
    "fault": (_fields("tier", "until_ms"), _fault),
    "pressure": (_fields("tier", "fill_ppm"), _pressure),
}
