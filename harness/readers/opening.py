"""From a path to decompressed bytes, in bounded pieces: the first bytes of a file say what it is, never its name."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from harness.errors import TraceError
from harness.readers.decompress import PIECE_BYTES, gunzip, unxz, unzstd

_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
# A zstd file may also begin with a skippable frame: one of sixteen magic numbers.
_ZSTD_SKIPPABLE = tuple(bytes((0x50 + low,)) + b"\x2a\x4d\x18" for low in range(16))

_XZ = b"\xfd7zXZ\x00"

_NOT_READ = (
    (b"BZh", "bzip2-compressed", "decompress it first"),
    (b"PK\x03\x04", "zip-compressed", "decompress it first"),
    (b"PK\x05\x06", "zip-compressed", "decompress it first"),
    (b"\x04\x22\x4d\x18", "lz4-compressed", "decompress it first"),
    (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8 first"),
    (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8 first"),
)


def open_file(path: Path) -> BinaryIO:
    """The file, open for reading. Raises `TraceError` where it cannot be opened."""
    try:
        return path.open("rb")
    except OSError as error:
        raise TraceError(cannot_read(str(path), error)) from None
    except ValueError:
        raise TraceError(f"{str(path)!r} is not a file name") from None


def cannot_read(path: str, error: OSError) -> str:
    """One sentence about a file that the system refuses to read."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: no such file"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a directory, not a trace file"
    if isinstance(error, PermissionError):
        return f"{path}: permission denied"
    return f"{path}: cannot be read: {error.strerror or 'input/output error'}"


def content(file: BinaryIO, path: str) -> Iterator[bytes]:
    """The file's content, decompressed, in pieces of about a MiB.

    Raises `TraceError` for a kind of file that is recognised but not read, and `BrokenStreamError` from `decompress`.
    """
    head = file.read(PIECE_BYTES)
    for magic, what, advice in _NOT_READ:
        if head.startswith(magic):
            raise TraceError(f"{path}: {what}: not supported, {advice}")
    if head.startswith(_GZIP):
        return gunzip(_pieces(head, file))
    if head.startswith((_ZSTD, *_ZSTD_SKIPPABLE)):
        return unzstd(_pieces(head, file))
    if head.startswith(_XZ):
        return unxz(_pieces(head, file))
    return _pieces(head, file)


def _pieces(head: bytes, file: BinaryIO) -> Iterator[bytes]:
    while head:
        yield head
        head = file.read(PIECE_BYTES)
