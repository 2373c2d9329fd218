"""A `Trace` as `fakbench.trace/1`: reading what is written gives the same columns again.

Block names are written where they are JSON and name one block each, which is how a native file must have them. Else
(ids that were chained, bytes, wider integers) every block is written as its dense number: its identity, not its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson

from harness.documents import whole_file
from harness.errors import TraceError
from harness.readers.builder import NO_SESSION
from harness.readers.native import SCHEMA
from harness.trace import IDENTITY_AXES, Control, Trace

_LEAST_ID = -(2**63)
_MOST_ID = 2**64 - 1


def write_native(trace: Trace, path: Path) -> None:
    """Write `trace` to `path`, uncompressed, whole or not at all. Raises `FakbenchError`, as `native_lines` does."""
    with whole_file(path) as stream:
        stream.writelines(native_lines(trace))


def native_lines(trace: Trace) -> Iterator[bytes]:
    """The file's lines, each with its newline, in the trace's order.

    Raises `TraceError` for what the format cannot say: block lengths of another block size, and microseconds so far
    from zero (past the year 2100 in epoch time) that milliseconds in floating point would lose them.
    """
    if trace.block_tokens < 1:
        raise TraceError(f"a trace of {trace.block_tokens} tokens a block cannot be written: set block_tokens")
    yield _line(
        {
            "kind": "trace",
            "schema": SCHEMA,
            "block_tokens": trace.block_tokens,
            "name": trace.name,
            "notes": trace.notes,
        }
    )
    id_of: Callable[[int], object] = trace.block_names.__getitem__ if _names_serve(trace) else int
    written = 0
    for request in range(trace.requests):
        while written < len(trace.controls) and trace.controls[written].before_request <= request:
            yield _line(_control(trace.controls[written]))
            written += 1
        yield _line(_request(trace, request, id_of))
    for control in trace.controls[written:]:
        yield _line(_control(control))


def _request(trace: Trace, request: int, id_of: Callable[[int], object]) -> dict[str, Any]:
    path = trace.blocks_of(request)
    record: dict[str, Any] = {"kind": "request", "t_ms": _ms(trace.t_us[request])}
    span = _span_name(trace.block_names[path[0]]) if len(path) == 1 else None
    if span is not None:
        record |= _access(trace, request, path[0], span)
    else:
        _check_lengths(trace, request)
        record["input_tokens"] = trace.input_tokens[request]
        record["output_tokens"] = trace.output_tokens[request]
        if path:
            record["blocks"] = [id_of(block) for block in path]
    if trace.session[request] != NO_SESSION:
        record["session"] = trace.sessions[trace.session[request]]
    namespace = trace.namespaces[trace.namespace[request]]
    if namespace:
        record["namespace"] = namespace
    if trace.identity:
        identity = trace.identities[trace.identity[request]]
        record |= {axis: name for axis in IDENTITY_AXES if (name := getattr(identity, axis))}
    return record


def _access(trace: Trace, request: int, block: int, span: object) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": "access", "span": span, "tokens": trace.block_size_tokens[block]}
    if trace.block_size_bytes[block]:
        record["bytes"] = trace.block_size_bytes[block]
    if trace.output_tokens[request]:
        record["output_tokens"] = trace.output_tokens[request]
    return record


def _control(control: Control) -> dict[str, Any]:
    record: dict[str, Any] = {"kind": control.kind, "t_ms": _ms(control.t_us)}
    if control.tier:
        record["tier"] = control.tier
    if control.kind == "fault":
        record["until_ms"] = _ms(control.value)
    if control.kind == "pressure":
        record["fill_ppm"] = control.value
    return record


def _check_lengths(trace: Trace, request: int) -> None:
    """The file has no lengths of blocks: they must follow from the request's tokens, as a reader will take them."""
    lengths = [trace.block_size_tokens[block] for block in trace.blocks_of(request)]
    tokens, unidentified = trace.input_tokens[request], trace.unidentified_tokens[request]
    whole, rest = divmod(tokens - unidentified, trace.block_tokens)
    if not lengths:
        follows = unidentified == tokens
    elif unidentified:
        follows = unidentified < trace.block_tokens and not rest and lengths == [trace.block_tokens] * whole
    else:
        follows = lengths == [trace.block_tokens] * whole + [rest] * (rest > 0)
    if not follows:
        raise TraceError(
            f"request {request} cannot be written: its blocks are not {trace.block_tokens} tokens each and a last "
            f"partial one of {tokens} input tokens"
        )


def _names_serve(trace: Trace) -> bool:
    """Whether every block's name can be written, and means one block in its namespace."""
    for name in trace.block_names:
        is_id = type(name) is str or (type(name) is int and _LEAST_ID <= name <= _MOST_ID)
        if not is_id and _span_name(name) is None:
            return False
    seen: list[dict[object, int]] = [{} for _ in trace.namespaces]
    for request in range(trace.requests):
        known = seen[trace.namespace[request]]
        for block in trace.blocks_of(request):
            if known.setdefault(trace.block_names[block], block) != block:
                return False
    return True


def _span_name(name: object) -> object:
    """What an `access` calls its span, or None for a block that no access made."""
    return name[1] if isinstance(name, tuple) and len(name) == 2 and name[0] == "access" else None


def _ms(t_us: int) -> int | float:
    whole, part = divmod(t_us, 1000)
    if not part:
        return whole
    ms = t_us / 1000
    if round(ms * 1000) != t_us:
        raise TraceError(f"the time {t_us} us cannot be written: as milliseconds it would be rounded to {ms}")
    return ms


def _line(record: dict[str, Any]) -> bytes:
    try:
        return orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise TraceError(f"a {record['kind']} event cannot be written as JSON: {error}") from None
