"""libCacheSim's oracleGeneral: 24 bytes a request, little-endian: u32 time (s), u64 object, u32 bytes, i64 next use.

Source: libCacheSim. An object is a span of one token and of its own size in bytes, since it has no tokens; requests
for no bytes are left out and counted, as there. There is no magic number: a file is of this kind where the first
requests are in order of time and each says that its object is next used later, or never. Left out: that next use.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from harness.readers.builder import TraceBuilder
from harness.readers.fields import TIME_UNITS_US
from harness.readers.problems import TRUNCATED_TAIL, BadLineError
from harness.readers.source import Source

RECORD = struct.Struct("<IQIq")
TOKENS = 1

_LOOKED_AT = 100
_NEVER = (-1, 2**63 - 1)


def sniff(head: bytes) -> bool:
    """True where the first requests make sense as such, and none is text."""
    whole = len(head) // RECORD.size
    if not whole or head[:1] in b"{[" or (whole < _LOOKED_AT and len(head) % RECORD.size):
        return False
    before = 0
    for index in range(min(whole, _LOOKED_AT)):
        time, _, _, following = RECORD.unpack_from(head, index * RECORD.size)
        # It counts requests from 1, so the next use of the first, number 1, is 2 at the earliest.
        if time < before or not (following in _NEVER or index + 1 < following < 2**40):
            return False
        before = time
    return True


def read(source: Source, builder: TraceBuilder) -> None:
    """Every request is an access of its object."""
    builder.without_blocks()
    unit_us = TIME_UNITS_US[builder.time_unit("s")]
    builder.convention("tokens", f"{TOKENS} an object, of its own bytes (format)")
    builder.counted_in(source.problems, "record")
    for number, (time, name, size_bytes, _) in enumerate(_records(source), 1):
        source.problems.lines += 1
        if not size_bytes:
            builder.notice("requests_without_bytes")
            continue
        try:
            builder.access(number, time * unit_us, name, TOKENS, size_bytes, 0)
        except BadLineError as bad:
            source.problems.add(number, 0, bad.kind, bad.sentence)


def _records(source: Source) -> Iterator[tuple[int, int, int, int]]:
    rest = b""
    number = 1
    for piece in source.content:
        content = rest + piece
        whole = len(content) // RECORD.size * RECORD.size
        yield from RECORD.iter_unpack(content[:whole])
        number += whole // RECORD.size
        rest = content[whole:]
    if rest:
        source.problems.lines += 1
        source.problems.add(number, 0, TRUNCATED_TAIL, f"the last record has {len(rest)} of {RECORD.size} bytes")
