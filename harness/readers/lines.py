"""From pieces of bytes to lines that know where they are: physical number, byte offset, and whether they ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from harness.readers.decompress import BrokenStreamError

MAX_LINE_BYTES = 16 << 20

_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """A physical line without its newline. `ended` is False for a last line that has none."""

    number: int
    offset: int
    content: bytes
    ended: bool


def lines(pieces: Iterable[bytes]) -> Iterator[Line]:
    """Every line, blank ones too; a UTF-8 byte order mark at the start is dropped, carriage returns are kept.

    Raises `BrokenStreamError` for a line longer than 16 MiB.
    """
    number, offset = 1, 0
    # What a named tuple's own way of making one spends most of its time on is its names.
    make = tuple.__new__
    begun: list[bytes] = []
    begun_bytes = 0
    for piece in pieces:
        first, *others = piece.split(b"\n")
        begun.append(first)
        begun_bytes += len(first)
        if begun_bytes > MAX_LINE_BYTES:
            raise _too_long(number)
        if not others:
            continue
        yield _line(number, offset, b"".join(begun), True)
        number, offset = number + 1, offset + begun_bytes + 1
        last = others.pop()
        for content in others:
            yield make(Line, (number, offset, content, True))
            number, offset = number + 1, offset + len(content) + 1
        begun, begun_bytes = [last], len(last)
    if begun_bytes:
        yield _line(number, offset, b"".join(begun), False)


def _line(number: int, offset: int, content: bytes, ended: bool) -> Line:
    return Line(number, offset, content.removeprefix(_BOM) if number == 1 else content, ended)


def _too_long(number: int) -> BrokenStreamError:
    return BrokenStreamError(
        f"line {number} is longer than {MAX_LINE_BYTES >> 20} MiB", "a trace has one request a line: split the line"
    )
