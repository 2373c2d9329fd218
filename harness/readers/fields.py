"""Fields of a JSON record, checked one by one: each returns an integer or text, or raises the sentence that is due."""

from __future__ import annotations

import json
from typing import Any

from harness.readers.problems import BAD_FIELD, BAD_TIME, BadLineError
from harness.trace import MAX_TIME_US

TIME_UNITS_US = {"s": 1_000_000, "ms": 1_000, "us": 1}
UNIT_WORDS = {"s": "seconds", "ms": "milliseconds", "us": "microseconds"}

_SHOWN_CHARACTERS = 40


def shown(value: object) -> str:
    """A value from a file as a message shows it: one short line of JSON, whatever the value is."""
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    # What other encodings have and JSON has not is called by its type.
    text = json.dumps(
        value[:_SHOWN_CHARACTERS] if isinstance(value, str) else value, default=lambda it: type(it).__name__
    )
    return text if len(text) <= 4 * _SHOWN_CHARACTERS else text[: 4 * _SHOWN_CHARACTERS] + "..."


def integer(record: dict[str, Any], field: str, least: int, most: int, default: int | None = None) -> int:
    """An integer from `least` to `most`; absent or null is `default`, or an error where that is None."""
    value = record.get(field)
    if type(value) is int and least <= value <= most:
        return value
    if value is None and default is not None:
        return default
    if field not in record:
        raise BadLineError(BAD_FIELD, f"{field} is missing")
    raise BadLineError(BAD_FIELD, f"{field} {shown(value)} is not an integer from {least} to {most}")


def time_us(record: dict[str, Any], field: str, unit: str = "ms") -> int:
    """A time in `unit` as microseconds: exact for an integer, the nearest (ties to even) for a float."""
    value = record.get(field)
    if type(value) is int or type(value) is float:
        unit_us = TIME_UNITS_US[unit]
        # Compared twice: a float of any size must not reach round() as an infinity.
        if abs(value) <= MAX_TIME_US and abs(rounded_us := round(value * unit_us)) <= MAX_TIME_US:
            return rounded_us
        raise BadLineError(
            BAD_TIME, f"{field} {shown(value)} is out of range: at most {MAX_TIME_US // unit_us} {unit} from zero"
        )
    if field not in record:
        raise BadLineError(BAD_TIME, f"{field} is missing")
    raise BadLineError(BAD_TIME, f"{field} {shown(value)} is not a number of {UNIT_WORDS[unit]}")


def text(record: dict[str, Any], field: str) -> str | None:
    """Text, or None where the field is absent or null."""
    value = record.get(field)
    if value is None or isinstance(value, str):
        return value
    raise BadLineError(BAD_FIELD, f"{field} {shown(value)} is not text")


def items(record: dict[str, Any], field: str) -> list[Any]:
    """A list; absent or null is the empty one."""
    value = record.get(field)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise BadLineError(BAD_FIELD, f"{field} {shown(value)} is not a list")
