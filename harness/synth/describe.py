"""The workloads and their knobs in words, and a recipe with every knob written out, for people who write recipes."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import inspect

from harness.documents import canonical_bytes
from harness.render.table import ascii_table
from harness.render.tables import Table
from harness.synth.recipe import Recipe
from harness.synth.registry import WORKLOADS


def workload_tables() -> str:
    """Each workload with its knobs: default, bounds, meaning. Knobs that all have come with each."""
    parts = []
    for name, workload in WORKLOADS.items():
        fields: tuple[inspect.Field, ...] = getattr(inspect.type_info(workload.recipe), "fields", ())
        rows = [row for row in map(_knob, fields) if row is not None]
        table = Table("", ["knob", "meaning", "default", "least", "most"], rows, left=2)
        parts.append(f"{name}: {workload.summary}\n{ascii_table(table)}\n")
    return "\n".join(parts)


def recipe_bytes(recipe: Recipe) -> bytes:
    """The recipe as a file, every knob with its value."""
    fields: dict[str, Any] = msgspec.to_builtins(recipe)
    return canonical_bytes({"schema": fields.pop("schema"), "workload": fields.pop("workload"), **fields})


def _knob(field: inspect.Field) -> list[str] | None:
    if not isinstance(field.type, inspect.Metadata) or not isinstance(field.type.type, inspect.IntType):
        return None
    about = (field.type.extra_json_schema or {})["description"]
    default = "required" if field.required else str(field.default)
    return [field.name, about, default, str(field.type.type.ge), str(field.type.type.le)]
