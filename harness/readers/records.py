"""From lines to JSON objects: what cannot be one is a problem with its true reason, not the parser's."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import orjson

from harness.readers.fields import shown
from harness.readers.lines import Line
from harness.readers.problems import (
    NOT_AN_OBJECT,
    NOT_FINITE,
    NOT_JSON,
    NOT_UTF8,
    NUL_BYTES,
    TRUNCATED_TAIL,
    BadLineError,
    Problems,
)

# (physical line, byte offset, JSON object)
Record = tuple[int, int, dict[str, Any]]

# A longer name is no field of a trace; it is shown cut.
_LONG_NAME = 40


def not_blank(lines: Iterable[Line], problems: Problems) -> Iterator[Line]:
    """The lines that are not blank, counted."""
    for line in lines:
        if line.content and not line.content.isspace():
            problems.lines += 1
            yield line


def records(lines: Iterable[Line], problems: Problems) -> Iterator[Record]:
    """The JSON objects among lines that are not blank."""
    for line in lines:
        try:
            record = parse(line)
        except BadLineError as bad:
            problems.add(line.number, line.offset, bad.kind, bad.sentence)
        else:
            yield line.number, line.offset, record


def parse(line: Line) -> dict[str, Any]:
    """The JSON object of a line, or `BadLineError`."""
    try:
        record = orjson.loads(line.content)
    except orjson.JSONDecodeError:
        raise BadLineError(*_why_unreadable(line)) from None
    if type(record) is not dict:
        raise BadLineError(NOT_AN_OBJECT, f"{shown(record)} where an object is needed")
    return record


def _why_unreadable(line: Line) -> tuple[str, str]:
    """The kind of a line that is not JSON, and the sentence that says why.

    The standard library's parser is asked again, because it alone accepts NaN and infinities, which then can be named.
    """
    if b"\0" in line.content:
        return NUL_BYTES, "NUL bytes"
    cut = TRUNCATED_TAIL, "the last line is cut short"
    try:
        value = json.loads(line.content.decode())
    except UnicodeDecodeError as error:
        at_the_end = not line.ended and error.reason == "unexpected end of data"
        return cut if at_the_end else (NOT_UTF8, "not UTF-8")
    except RecursionError:
        return NOT_JSON, "nested too deeply"
    except ValueError:
        return (NOT_JSON, "not JSON") if line.ended else cut
    if isinstance(value, dict):
        for field, item in value.items():
            if isinstance(item, float) and not math.isfinite(item):
                named = field if field.isidentifier() and len(field) < _LONG_NAME else shown(field)
                return NOT_FINITE, f"{named} {shown(item)} is not a finite number"
    return NOT_JSON, "not JSON"
