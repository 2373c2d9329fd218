"""From JSON to records: strict conversion, and every field that does not fit named by its full path.

The conversion itself is msgspec's. It stops at the first misfit, so an entry that it refuses is taken apart here,
field by field, until each misfit stands alone with its path and the value found.
"""

from __future__ import annotations

import re
from types import UnionType
from typing import Any, TypeVar, get_args, get_origin

import msgspec
from msgspec.structs import fields

from harness.catalog.figures import KINDS, Figure, Record
from harness.catalog.findings import Finding, near_misses, shown, shown_name
from harness.catalog.machine import SHARES
from harness.catalog.model import ATTENTIONS
from policy.tiers import LADDER

RecordType = TypeVar("RecordType", bound=Record)

_CHOICES = {"kind": KINDS, "share": SHARES, "attention": ATTENTIONS, "a": LADDER, "b": LADDER}
_WORDS = {
    "int": "a whole number in the field's unit",
    "str": "a text in quotes",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_FIGURE = 'an object like {"value": 1, "kind": "measured", "source": "..."}'


def convert(raw: object, record: type[RecordType], path: str) -> tuple[RecordType | None, list[Finding]]:
    """The record at `path`, or None and why not: one finding for each field that does not fit, in declared order."""
    try:
        return msgspec.convert(raw, record), []
    except msgspec.ValidationError:
        return None, list(_misfits(raw, record, path))


def _misfits(raw: object, expected: Any, path: str) -> list[Finding]:
    if isinstance(expected, UnionType):  # the only unions are optional records
        expected = next(part for part in get_args(expected) if part is not type(None))
        if raw is None:
            return []
    if get_origin(expected) is tuple and isinstance(raw, list):
        item = get_args(expected)[0]
        return [found for index, part in enumerate(raw) for found in _misfits(part, item, f"{path}[{index}]")]
    if isinstance(expected, type) and issubclass(expected, Record) and isinstance(raw, dict):
        return _misfits_of_record(raw, expected, path)
    try:
        msgspec.convert(raw, expected)
    except msgspec.ValidationError as error:
        return [Finding(path, _explain(raw, expected, path.rpartition(".")[2], str(error)))]
    return []


def _misfits_of_record(raw: dict[str, object], record: type[Record], path: str) -> list[Finding]:
    found: list[Finding] = []
    declared = {field.name: field for field in fields(record)}
    for name, field in declared.items():
        if name in raw:
            found += _misfits(raw[name], field.type, f"{path}.{name}")
        elif field.required:
            what = "a figure with its kind and source" if _is_figure(field.type) else "it"
            found.append(Finding(f"{path}.{name}", f"is missing; add {what}"))
    for name in raw:
        if name not in declared:
            meant = near_misses(name, sorted(declared))
            advice = f"did you mean {shown(meant[0])}?" if meant else "remove it"
            found.append(Finding(f"{path}.{shown_name(name)}", f"is not a field of this record; {advice}"))
    return found


def _is_figure(expected: Any) -> bool:
    return isinstance(expected, type) and issubclass(expected, Figure)


def _explain(raw: object, expected: Any, name: str, error: str) -> str:
    """Say what msgspec refused. Its texts are matched for what they hold, and passed on where they hold nothing new."""
    if match := re.fullmatch(r"Expected `int` (>=|<=) (\d+)", error):
        side, word = ("below", "least") if match[1] == ">=" else ("above", "most")
        return f"{shown(raw)} is {side} {match[2]}, the {word} allowed; check the value and its unit"
    if match := re.fullmatch(r"Expected `([a-z]+)(?: \| null)?`, got `[a-z]+`", error):
        return f"{shown(raw)} does not fit; write {_FIGURE if _is_figure(expected) else _WORDS.get(match[1], match[1])}"
    if match := re.fullmatch(r"Expected `str` of length <= (\d+)", error):
        return f"{shown(raw)} is longer than {match[1]} characters; shorten it"
    if error.startswith("Expected `str` matching regex"):
        return f"{shown(raw)} is blank; write something"
    if error.startswith("Invalid enum value") and name in _CHOICES:
        return f"{shown(raw)} is unknown; use one of {', '.join(shown(choice) for choice in _CHOICES[name])}"
    return f"{shown(raw)} does not fit: {shown(error)}"
