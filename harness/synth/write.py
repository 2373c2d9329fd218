"""A recipe as a native trace, line by line: the header, the records by time, and the recipe's events among them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import orjson

from harness.synth.recipe import MAX_T_MS, Event, Recipe, RecipeError
from harness.synth.records import Access, Record
from harness.synth.registry import WORKLOADS
from harness.trace import IDENTITY_AXES, MAX_TOKENS

_NATIVE = "fakbench.trace/1"
# Fields that are not knobs, or that the header states elsewhere.
_NOT_IN_NOTES = ("schema", "workload", "name", "block_tokens", "events")


def trace_lines(recipe: Recipe) -> Iterator[bytes]:
    """The lines of the trace, each with its end. Raises `RecipeError` where a time or a length is more than it can say.

    An event comes before the first record that is not earlier; events at the same time keep their order.
    """
    header = {
        "kind": "trace",
        "schema": _NATIVE,
        "block_tokens": recipe.block_tokens,
        "name": recipe.title,
        "notes": _notes(recipe),
    }
    yield _line(header)
    events = iter(sorted(recipe.events, key=_time))
    event = next(events, None)
    for record in WORKLOADS[recipe.workload].generate(recipe):
        while event is not None and event.t_ms <= record.t_ms:
            yield _line(msgspec.to_builtins(event))
            event = next(events, None)
        yield _line(_fields(record, recipe))
    while event is not None:
        yield _line(msgspec.to_builtins(event))
        event = next(events, None)


def _fields(record: Record, recipe: Recipe) -> dict[str, Any]:
    if record.t_ms > MAX_T_MS:
        raise RecipeError(f"{recipe.title}: a time passes {MAX_T_MS} ms; lower `mean_gap_ms` or the number of requests")
    if isinstance(record, Access):
        return {
            "kind": "access",
            "t_ms": record.t_ms,
            "span": record.span,
            "tokens": record.tokens,
            "bytes": record.span_bytes,
        }
    if max(record.input_tokens, record.output_tokens) > MAX_TOKENS:
        raise RecipeError(f"{recipe.title}: a prompt or answer passes {MAX_TOKENS} tokens; lower the mean lengths")
    fields = {
        "kind": "request",
        "t_ms": record.t_ms,
        "input_tokens": record.input_tokens,
        "output_tokens": record.output_tokens,
        "blocks": record.blocks,
    }
    if record.session:
        fields["session"] = record.session
    return fields | {axis: name for axis in IDENTITY_AXES if (name := getattr(record.identity, axis))}


def _notes(recipe: Recipe) -> str:
    """Every knob, so that the trace says how it was made even where a default changes later."""
    knobs = {name: value for name, value in msgspec.structs.asdict(recipe).items() if name not in _NOT_IN_NOTES}
    return f"synthetic: {recipe.workload} " + " ".join(f"{name}={value}" for name, value in knobs.items())


def _line(fields: dict[str, Any]) -> bytes:
    return orjson.dumps(fields, option=orjson.OPT_APPEND_NEWLINE)


def _time(event: Event) -> int:
    return event.t_ms
