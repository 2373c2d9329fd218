"""Agentic traces of the Weka kv-cache-tester: one JSON object a file, `id`, `block_size`, `hash_id_scope`, `requests`.

Source: the kv-cache-tester's published traces. Seconds. Ids mean something within their file only, unless it says
otherwise, and a partial last block has none. A sub-agent is a list of requests within the list; its times count from
its own start in the published files and from the file's in copies of them, which is told by whether they lie before
that start. A model is a namespace, a sub-agent a session. Left out: what requests are made of, and how long people and
engines thought.

The text of one file is held in memory, its numbers one request at a time.
"""

from __future__ import annotations

import contextlib
import re
from typing import Any

import msgspec
import orjson

from harness.errors import TraceError
from harness.readers.builder import TraceBuilder
from harness.readers.decompress import BrokenStreamError
from harness.readers.fields import integer, items, shown, text, time_us
from harness.readers.problems import BAD_FIELD, BAD_TIME, NOT_AN_OBJECT, NOT_JSON, UNKNOWN_KIND, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_BLOCK_TOKENS, MAX_TIME_US, MAX_TOKENS

MAX_DOCUMENT_BYTES = 256 << 20

_SIGNS = re.compile(rb'"(?:hash_id_scope|block_size)"\s*:.*"requests"\s*:\s*\[', re.DOTALL)
_SCOPES = {"local": "file", "global": "global"}
_US_PER_MS = 1000


class _Document(msgspec.Struct):
    id: Any = None
    block_size: Any = None
    hash_id_scope: Any = None
    requests: list[msgspec.Raw] = []


def sniff(head: bytes) -> bool:
    """True for an object that says how its ids are meant before it lists requests."""
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{") and _SIGNS.search(head) is not None


def read(source: Source, builder: TraceBuilder) -> None:
    """Every request, those of sub-agents where they stand. Raises `TraceError` for what is not such a file."""
    builder.counted_in(source.problems, "request")
    document = _parse(source)
    try:
        said = {"block_size": document.block_size, "hash_id_scope": document.hash_id_scope, "id": document.id}
        builder.block_tokens(integer(said, "block_size", 1, MAX_BLOCK_TOKENS), "declared")
        scope = text(said, "hash_id_scope") or "local"
        name = text(said, "id") or source.name
        if scope not in _SCOPES:
            raise BadLineError(BAD_FIELD, f"hash_id_scope {shown(scope)} is not local or global")
    except BadLineError as bad:
        raise TraceError(f"{source.path}: {bad.sentence}; get the file again") from None
    builder.declared_scope(_SCOPES[scope])
    unit = builder.time_unit("s")
    agents = _agents(document.requests)
    relative = _relative(source, builder, agents, unit)
    source.problems.lines = len(document.requests)
    for number, raw in enumerate(document.requests, 1):
        try:
            agent = agents.get(number)
            if agent is None:
                _request(builder, number, _object(raw), 0, name, unit)
                continue
            start_us = time_us(agent, "t", unit)
            session = f"{name}/{text(agent, 'agent_id') or number}"
            for record in _requests_of(agent):
                _request(builder, number, record, start_us if relative else 0, session, unit)
        except BadLineError as bad:
            source.problems.add(number, 0, bad.kind, bad.sentence)


def _agents(requests: list[msgspec.Raw]) -> dict[int, dict[str, Any]]:
    """The sub-agents among the requests, by their number."""
    found = {}
    for number, raw in enumerate(requests, 1):
        if b'"subagent"' in bytes(raw):
            # What cannot be parsed is told when it is read as a request.
            with contextlib.suppress(BadLineError):
                record = _object(raw)
                if record.get("type") == "subagent":
                    found[number] = record
    return found


def _requests_of(agent: dict[str, Any]) -> list[dict[str, Any]]:
    records = items(agent, "requests")
    if all(isinstance(record, dict) for record in records):
        return records
    raise BadLineError(BAD_FIELD, "requests of a sub-agent are not all objects")


def _relative(source: Source, builder: TraceBuilder, agents: dict[int, dict[str, Any]], unit: str) -> bool:
    """Whether the times of sub-agents count from their own start. Raises `TraceError` where they contradict."""
    relative = absolute = 0
    for agent in agents.values():
        try:
            start_us = time_us(agent, "t", unit)
            times_us = [time_us(record, "t", unit) for record in _requests_of(agent)]
            lasted_ms = integer(agent, "duration_ms", 0, MAX_TIME_US // _US_PER_MS, default=0)
        except BadLineError:
            # Told with everything else that is wrong, when its requests are read.
            continue
        if not times_us or start_us <= 0:
            continue
        if min(times_us) < start_us:
            relative += 1
        elif max(times_us) > lasted_ms * _US_PER_MS:
            absolute += 1
    if relative and absolute:
        raise TraceError(
            f"{source.path}: {relative} sub-agents have times that count from their own start and {absolute} from that "
            "of the file: correct it, so that all are of one kind"
        )
    if agents:
        said = f"absolute (detected, {absolute})" if absolute else f"relative (detected, {relative})"
        builder.convention("subagent_times", said if relative or absolute else "relative (default)")
    return not absolute


def _request(
    builder: TraceBuilder, number: int, record: dict[str, Any], start_us: int, session: str, unit: str
) -> None:
    kind = record.get("type")
    if kind not in ("n", "s"):
        raise BadLineError(UNKNOWN_KIND, f"type {shown(kind)} is not n, s or subagent")
    t_us = start_us + time_us(record, "t", unit)
    if abs(t_us) > MAX_TIME_US:
        raise BadLineError(BAD_TIME, f"t {shown(record['t'])} is out of range after the start of its sub-agent")
    ids = items(record, "hash_ids")
    tokens = integer(record, "in", 0, MAX_TOKENS)
    output_tokens = integer(record, "out", 0, MAX_TOKENS, default=0)
    builder.request(number, t_us, tokens, output_tokens, ids, namespace=text(record, "model") or "", session=session)


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    try:
        record = orjson.loads(memoryview(raw))
    except orjson.JSONDecodeError:
        raise BadLineError(NOT_JSON, "not JSON, or nested too deeply") from None
    if isinstance(record, dict):
        return record
    raise BadLineError(NOT_AN_OBJECT, f"{shown(record)} where an object is needed")


def _parse(source: Source) -> _Document:
    pieces, size = [], 0
    for piece in source.content:
        pieces.append(piece)
        size += len(piece)
        if size > MAX_DOCUMENT_BYTES:
            raise BrokenStreamError(f"the file is longer than {MAX_DOCUMENT_BYTES >> 20} MiB", "split it by session")
    content = b"".join(pieces).removeprefix(b"\xef\xbb\xbf")
    try:
        return msgspec.json.decode(content, type=_Document)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise TraceError(f"{source.path}: is not one whole JSON object with requests; get the file again") from None
