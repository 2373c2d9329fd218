"""Comma-separated text: the columns that a format needs, by the names in the first line; numbers and times in cells."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from harness.readers.fields import TIME_UNITS_US, UNIT_WORDS, shown
from harness.readers.problems import BAD_FIELD, BAD_TIME, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TIME_US

_DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,2})?", re.ASCII)
_LONGEST_NUMBER = 40


def header(line: bytes) -> list[str]:
    """The names in a first line, in lower case."""
    return [name.strip().lower() for name in line.decode("utf-8", "replace").rstrip("\r").split(",")]


def rows(source: Source, wanted: Sequence[str], handle: Callable[[int, list[str]], None]) -> None:
    """Give `handle` the wanted cells of every row, "" where the file has no such column."""
    places: list[int | None] | None = None
    width = 0

    def row(line: int, text: str) -> None:
        nonlocal places, width
        if places is None:
            names = header(text.encode())
            places = [names.index(name) if name in names else None for name in wanted]
            width = len(names)
            return
        cells = cut(text)
        if len(cells) != width:
            raise BadLineError(BAD_FIELD, f"{len(cells)} cells where the first line has {width}")
        handle(line, ["" if place is None else cells[place].strip() for place in places])

    source.each_line(row)


def cut(text: str, delimiter: str = ",") -> list[str]:
    """The cells of one line."""
    if '"' not in text:
        return text.split(delimiter)
    try:
        return next(csv.reader([text], delimiter=delimiter, strict=True), [])
    except csv.Error:
        raise BadLineError(BAD_FIELD, "quotes that do not match") from None


def count(text: str, name: str, most: int) -> int:
    """A whole number from 0 to `most`."""
    if text.isascii() and text.isdigit() and len(text) <= len(str(most)) and int(text) <= most:
        return int(text)
    raise BadLineError(BAD_FIELD, f"{name} {shown(text)} is not an integer from 0 to {most}")


def time_us(text: str, name: str, unit: str) -> int:
    """A decimal number of `unit` in microseconds: the nearest, ties to even."""
    if len(text) > _LONGEST_NUMBER or not _DECIMAL.fullmatch(text):
        raise BadLineError(BAD_TIME, f"{name} {shown(text)} is not a number of {UNIT_WORDS[unit]}")
    exact = Decimal(text) * TIME_UNITS_US[unit]
    if abs(exact) > MAX_TIME_US:
        most = MAX_TIME_US // TIME_UNITS_US[unit]
        raise BadLineError(BAD_TIME, f"{name} {shown(text)} is out of range: at most {most} {unit} from zero")
    return int(exact.to_integral_value(ROUND_HALF_EVEN))
