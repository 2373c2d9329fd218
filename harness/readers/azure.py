"""Azure LLM inference traces, CSV: `TIMESTAMP,ContextTokens,GeneratedTokens`, the traces of 2023 and 2024.

Source: the files published with Splitwise (2023) and DynamoLLM (2024). Times are written out, with up to nine digits of
a second and with an offset or without, which is taken for UTC; they are held in microseconds. There are no block ids,
so reuse is unknown. Left out: how many images a prompt has (2025).
"""

from __future__ import annotations

import re
from datetime import date

from harness.readers import delimited
from harness.readers.builder import TraceBuilder
from harness.readers.fields import shown
from harness.readers.problems import BAD_TIME, BadLineError
from harness.readers.source import Source
from harness.trace import MAX_TOKENS

_COLUMNS = ("timestamp", "contexttokens", "generatedtokens")
_TIME = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)[ T]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d{1,9}))?(?:Z|([+-])(\d\d):?([0-5]\d))?",
    re.ASCII,
)
_EPOCH = date(1970, 1, 1).toordinal()


def sniff(line: bytes) -> bool:
    """True for a first line with the three columns."""
    return delimited.header(line)[:3] == [*_COLUMNS]


def read(source: Source, builder: TraceBuilder) -> None:
    """Every row is a request without block ids."""
    builder.without_blocks()
    builder.time_unit("us", "format: written out, UTC where no offset is given")

    def row(line: int, cells: list[str]) -> None:
        time, context, generated = cells
        t_us = written_us(time)
        tokens = delimited.count(context, "ContextTokens", MAX_TOKENS)
        builder.request(line, t_us, tokens, delimited.count(generated, "GeneratedTokens", MAX_TOKENS), [])

    delimited.rows(source, _COLUMNS, row)


def written_us(text: str) -> int:
    """Microseconds since 1970 of a time that is written out: the nearest, ties to even."""
    match = _TIME.fullmatch(text)
    if match is None:
        raise BadLineError(BAD_TIME, f"TIMESTAMP {shown(text)} is not a time like 2023-11-16 18:17:03.9799600")
    year, month, day, hour, minute, second, fraction, sign, ahead_hours, ahead_minutes = match.groups()
    try:
        days = date(int(year), int(month), int(day)).toordinal() - _EPOCH
    except ValueError:
        raise BadLineError(BAD_TIME, f"TIMESTAMP {shown(text)} is no day of the calendar") from None
    ahead = int(f"{sign}1") * (int(ahead_hours) * 60 + int(ahead_minutes)) if sign else 0
    seconds = ((days * 24 + int(hour)) * 60 + int(minute) - ahead) * 60 + int(second)
    whole_us, rest_ns = divmod(int((fraction or "0").ljust(9, "0")), 1000)
    up = rest_ns > 500 or (rest_ns == 500 and whole_us % 2)
    return seconds * 1_000_000 + whole_us + up
