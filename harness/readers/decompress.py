"""gzip and zstd as bounded streams: every member or frame, no bomb, and never the beginning of a file for the whole.

The standard readers fail in opposite ways on a file that was cut: gzip raises from three modules, zstd's stream
reader just ends. Here both are one error, `BrokenStreamError`, raised when the cut or the corruption is reached.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator

import zstandard

PIECE_BYTES = 1 << 20
BOMB_BYTES = 16 << 20
BOMB_RATIO = 200

# Four bytes of zstd can stand for 128 KiB, and its decompressor takes no output bound: feed it little at a time.
_ZSTD_FEED_BYTES = 512
_ZSTD_WINDOW_BYTES = 128 << 20
# Every member copies what was fed after it: a file of tiny members would be copied once for each.
_GZIP_FEED_BYTES = 16 << 10
_GZIP_WINDOW_BITS = 31

# What a member or frame that follows another can begin with; a zstd frame may also be one to skip.
_GZIP_FIRST_BYTE = 0x1F
_ZSTD_FIRST_BYTES = frozenset((0x28, *range(0x50, 0x60)))


class BrokenStreamError(Exception):
    """Content that ends or breaks before its end: what is wrong, and what to do."""

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.advice = advice


def _cut(codec: str) -> BrokenStreamError:
    return BrokenStreamError(f"the {codec} data is cut short", "get the whole file again")


def _corrupt(codec: str) -> BrokenStreamError:
    return BrokenStreamError(f"the {codec} data is corrupt", "get the file again")


def _trailing(codec: str) -> BrokenStreamError:
    return BrokenStreamError(
        f"what follows the {codec} data is not {codec}", f"cut the file at the end of its {codec} data"
    )


class _Meter:
    """Bytes in and out of a decompressor, against bombs."""

    def __init__(self, codec: str) -> None:
        self.codec = codec
        self.consumed = 0
        self.produced = 0

    def add(self, consumed: int, produced: int) -> None:
        """Count one step; raises `BrokenStreamError` where far more came out so far than went in."""
        self.consumed += consumed
        self.produced += produced
        if self.produced > BOMB_BYTES and self.produced > BOMB_RATIO * self.consumed:
            raise BrokenStreamError(
                f"the {self.codec} data expands {self.produced // self.consumed} times, "
                f"over {BOMB_RATIO} is refused past {BOMB_BYTES >> 20} MiB",
                "decompress it first if it is meant",
            )


def gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of every gzip member in turn. Zero bytes after a member are padding, as gzip itself has it."""
    meter = _Meter("gzip")
    member = zlib.decompressobj(_GZIP_WINDOW_BITS)
    begun, members = False, 0
    for fed in _slices(pieces, _GZIP_FEED_BYTES):
        rest, full = fed, False
        while rest or full:
            if members and not begun:
                rest = rest.lstrip(b"\0")
                if not rest:
                    break
                if rest[0] != _GZIP_FIRST_BYTE:
                    raise _trailing("gzip")
            begun = True
            try:
                out = member.decompress(rest, PIECE_BYTES)
            except zlib.error:
                raise _corrupt("gzip") from None
            left = member.unused_data if member.eof else member.unconsumed_tail
            meter.add(len(rest) - len(left), len(out))
            if out:
                yield out
            # A full piece can mean that more waits inside the decompressor, whose input is used up.
            rest, full = left, len(out) == PIECE_BYTES and not member.eof
            if member.eof:
                member, begun, members = zlib.decompressobj(_GZIP_WINDOW_BITS), False, members + 1
    if begun:
        raise _cut("gzip")


def unzstd(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of every zstd frame in turn, skippable frames skipped."""
    meter = _Meter("zstd")
    decompressor = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    frame = decompressor.decompressobj()
    begun = False
    for fed in _slices(pieces, _ZSTD_FEED_BYTES):
        rest = fed
        while rest:
            if not begun and rest[0] not in _ZSTD_FIRST_BYTES:
                raise _trailing("zstd")
            begun = True
            try:
                out = frame.decompress(rest)
            except zstandard.ZstdError:
                raise _corrupt("zstd") from None
            left = frame.unused_data if frame.eof else b""
            meter.add(len(rest) - len(left), len(out))
            if out:
                yield out
            rest = left
            if frame.eof:
                frame, begun = decompressor.decompressobj(), False
    if begun:
        raise _cut("zstd")


def _slices(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]
