"""From pieces of bytes to lines that know where they are: physical number, byte offset, and whether they ended.

Lines come in chunks, so that a format whose lines are all alike can be parsed a chunk at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.readers.decompress import BrokenStreamError, slices

MAX_LINE_BYTES = 16 << 20

_BOM = b"\xef\xbb\xbf"
# What a chunk becomes when it is parsed should fit a processor's cache.
_CHUNK_BYTES = 64 << 10


class Chunk(NamedTuple):
    """Whole lines that follow each other: the number and the offset of the first, and all with their newlines."""

    number: int
    offset: int
    content: bytes


class Line(NamedTuple):
    """A physical line without its newline. `ended` is False for a last line that has none."""

    number: int
    offset: int
    content: bytes
    ended: bool


def chunks(pieces: Iterable[bytes]) -> Iterator[Chunk]:
    """Every line, blank ones too; a last line without a newline is in a chunk of its own.

    Raises `BrokenStreamError` for a line longer than 16 MiB.
    """
    number, offset = 1, 0
    begun: list[bytes] = []
    begun_bytes = 0
    for piece in slices(pieces, _CHUNK_BYTES):
        first_end = piece.find(b"\n")
        if begun_bytes + (first_end if first_end >= 0 else len(piece)) > MAX_LINE_BYTES:
            raise _too_long(number)
        if first_end < 0:
            begun.append(piece)
            begun_bytes += len(piece)
            continue
        end = piece.rfind(b"\n") + 1
        content = b"".join((*begun, piece[:end]))
        yield Chunk(number, offset, content)
        number, offset = number + content.count(b"\n"), offset + len(content)
        begun = [piece[end:]]
        begun_bytes = len(begun[0])
    if begun_bytes:
        yield Chunk(number, offset, b"".join(begun))


def lines_of(chunk: Chunk) -> Iterator[Line]:
    """The lines of a chunk; a UTF-8 byte order mark at the start of a file is dropped, carriage returns are kept."""
    number, offset, content = chunk
    *ended, rest = content.split(b"\n")
    # What a named tuple's own way of making one spends most of its time on is its names.
    make = tuple.__new__
    for text in ended:
        yield make(Line, (number, offset, text.removeprefix(_BOM) if number == 1 else text, True))
        number, offset = number + 1, offset + len(text) + 1
    if rest:
        yield Line(number, offset, rest.removeprefix(_BOM) if number == 1 else rest, False)


def _too_long(number: int) -> BrokenStreamError:
    return BrokenStreamError(
        f"line {number} is longer than {MAX_LINE_BYTES >> 20} MiB", "a trace has one request a line: split the line"
    )
