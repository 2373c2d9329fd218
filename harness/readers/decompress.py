"""gzip, zstd and xz as bounded streams: every member or frame, no bomb, never the beginning of a file for the whole.

The standard readers fail in opposite ways on a file that was cut: gzip raises from three modules, zstd's stream
reader just ends. Here all are one error, `BrokenStreamError`, raised when the cut or the corruption is reached.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Iterable, Iterator

import zstandard

PIECE_BYTES = 1 << 20
BOMB_BYTES = 16 << 20
# Agentic traces list long prompts again and again: real ones of a few MiB shrink 64 times in gzip, 170 in zstd and 280
# in xz, and longer ones more. Zeros shrink 1,000, 16,000 and 7,000 times.
BOMB_RATIOS = {"gzip": 200, "zstd": 1000, "xz": 2000}

# Four bytes of zstd can stand for 128 KiB, and its decompressor takes no output bound: feed it little at a time.
_ZSTD_FEED_BYTES = 512
_ZSTD_WINDOW_BYTES = 128 << 20
# Every member copies what was fed after it: a file of tiny members would be copied once for each.
_GZIP_FEED_BYTES = 16 << 10
_GZIP_WINDOW_BITS = 31
# It holds back what it was fed and has not used, which would pass for consumed; and `xz -9` asks for 65 MiB.
_XZ_FEED_BYTES = 512
_XZ_MEMORY_BYTES = 256 << 20

# What a member or frame that follows another can begin with; a zstd frame may also be one to skip.
_GZIP_FIRST_BYTE = 0x1F
_XZ_FIRST_BYTE = 0xFD
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
        most = BOMB_RATIOS[self.codec]
        if self.produced > BOMB_BYTES and self.produced > most * self.consumed:
            raise BrokenStreamError(
                f"the {self.codec} data expands {self.produced // self.consumed} times, "
                f"over {most} is refused past {BOMB_BYTES >> 20} MiB",
                "decompress it first if it is meant",
            )


def gunzip(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of every gzip member in turn. Zero bytes after a member are padding, as gzip itself has it."""
    meter = _Meter("gzip")
    member = zlib.decompressobj(_GZIP_WINDOW_BITS)
    begun, members = False, 0
    for fed in slices(pieces, _GZIP_FEED_BYTES):
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
    for fed in slices(pieces, _ZSTD_FEED_BYTES):
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


def unxz(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The content of every xz stream in turn. Zero bytes after a stream are padding."""
    meter = _Meter("xz")
    stream: lzma.LZMADecompressor | None = None
    streams = 0
    for fed in slices(pieces, _XZ_FEED_BYTES):
        rest = fed
        while rest or (stream is not None and not stream.needs_input):
            if stream is None:
                rest = rest.lstrip(b"\0") if streams else rest
                if not rest:
                    break
                if rest[0] != _XZ_FIRST_BYTE:
                    raise _trailing("xz")
                stream = lzma.LZMADecompressor(lzma.FORMAT_XZ, _XZ_MEMORY_BYTES)
            try:
                out = stream.decompress(rest, PIECE_BYTES)
            except lzma.LZMAError as error:
                raise _too_much_memory() if "memory" in str(error).lower() else _corrupt("xz") from None
            # What was fed and not used waits inside the decompressor until the stream ends.
            left = stream.unused_data if stream.eof else b""
            meter.add(len(rest) - len(left), len(out))
            if out:
                yield out
            rest = left
            if stream.eof:
                stream, streams = None, streams + 1
    if stream is not None:
        raise _cut("xz")


def _too_much_memory() -> BrokenStreamError:
    return BrokenStreamError(
        f"the xz data asks for more than {_XZ_MEMORY_BYTES >> 20} MiB to be decompressed", "decompress it first"
    )


def slices(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """Pieces cut to at most `size` bytes."""
    for piece in pieces:
        for start in range(0, len(piece), size):
            yield piece[start : start + size]
