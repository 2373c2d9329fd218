"""Sizes and durations as people write them, parsed to integers and printed from integers."""

from __future__ import annotations

import re

from harness.errors import SetupError
from policy.tiers import LADDER, tier_code

_SIZE_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "pb": 10**15,
    "kib": 2**10,
    "mib": 2**20,
    "gib": 2**30,
    "tib": 2**40,
    "pib": 2**50,
}
_TIME_UNITS_US = {"us": 1, "ms": 10**3, "s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}
_NUMBER = re.compile(r"(\d{1,19})(?:\.(\d{1,9}))?\s*([A-Za-z]*)", re.ASCII)

MAX_CAPACITY_BYTES = 2**60
MAX_DURATION_US = 2**50


def parse_size(text: str, option: str) -> int:
    """Bytes of `400GB`, `512GiB`, `1.5TB` or plain `4096`; 0 is unbounded. Raises `SetupError` naming `option`."""
    advice = "give bytes or a size like 400GB or 512GiB (0 is unbounded)"
    value = _parse(text, _SIZE_UNITS, option, advice)
    if value > MAX_CAPACITY_BYTES:
        raise SetupError(f"{option} {text}: more than {MAX_CAPACITY_BYTES} bytes; {advice}")
    return value


def parse_duration_us(text: str, option: str) -> int:
    """Microseconds of `5s`, `250ms`, `2m`, `1.5h`; a bare 0 is none. Raises `SetupError` naming `option`."""
    advice = "give a duration with its unit, like 500ms, 5s, 2m or 1h (0 is none)"
    if text.strip() == "0":
        return 0
    value = _parse(text, _TIME_UNITS_US, option, advice)
    if value > MAX_DURATION_US:
        raise SetupError(f"{option} {text}: longer than {MAX_DURATION_US} microseconds; {advice}")
    return value


def parse_count(text: str, option: str) -> int:
    """A whole number. Raises `SetupError` naming `option`."""
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise SetupError(f"{option} {text}: not a whole number; give one like 8")
    return int(text)


def parse_tier(name: str, option: str) -> int:
    """The code of a tier that can hold spans. Raises `SetupError` naming `option`."""
    if name not in LADDER:
        raise SetupError(f"{option} {name}: no such tier; choose one of {', '.join(LADDER)}")
    return tier_code(name)


def split_assignment(text: str, option: str, example: str) -> tuple[str, str]:
    """The two sides of `NAME=VALUE`. Raises `SetupError` naming `option`."""
    name, equals, value = text.partition("=")
    if not equals or not name or not value:
        raise SetupError(f"{option} {text}: not an assignment; write it like {option} {example}")
    return name, value


def _parse(text: str, units: dict[str, int], option: str, advice: str) -> int:
    match = _NUMBER.fullmatch(text.strip())
    unit = match[3].lower() if match else ""
    if not match or unit not in units:
        raise SetupError(f"{option} {text}: not understood; {advice}")
    scale = units[unit]
    fraction = match[2] or ""
    # Exact: a decimal fraction of a unit, rounded down to the whole of the smallest one.
    value = int(match[1]) * scale + int(fraction or 0) * scale // int("1" + "0" * len(fraction))
    if value == 0 and (int(match[1]) or int(fraction or 0)):
        raise SetupError(f"{option} {text}: less than the smallest unit; {advice}")
    return value


def counted(count: int, noun: str) -> str:
    """`1 request`, `2 requests`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def seconds(ns: int) -> str:
    """Nanoseconds as seconds with three decimals, rounded half away from zero."""
    sign = "-" if ns < 0 else ""
    ms = (abs(ns) + 500_000) // 1_000_000
    return f"{sign}{ms // 1000:,}.{ms % 1000:03d}" if ms else "0.000"


def milliseconds(ns: int) -> str:
    """Nanoseconds as milliseconds with three decimals, rounded half up."""
    us = (ns + 500) // 1000
    return f"{us // 1000:,}.{us % 1000:03d}"


def percent(ppm: int) -> str:
    """Parts per million as a percentage with two decimals, rounded half away from zero."""
    sign = "-" if ppm < 0 else ""
    hundredths = (abs(ppm) + 50) // 100
    return f"{sign if hundredths else ''}{hundredths // 100:,}.{hundredths % 100:02d} %"


def size(size_bytes: int) -> str:
    """Bytes in the largest decimal unit that leaves at least one whole, with two decimals, rounded half up."""
    for unit in ("PB", "TB", "GB", "MB", "kB"):
        scale = _SIZE_UNITS[unit.lower()]
        if size_bytes >= scale:
            hundredths = (size_bytes * 100 + scale // 2) // scale
            return f"{hundredths // 100:,}.{hundredths % 100:02d} {unit}"
    return f"{size_bytes:,} B"
