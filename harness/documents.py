"""Canonical documents: bytes that are the same wherever they are made, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from harness.errors import FakbenchError


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """JSON in the order of the document's keys, two-space indent, final newline.

    Raises `FakbenchError` for an integer beyond 64 bits, which JSON's readers would not agree on.
    """
    try:
        return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    except TypeError as error:
        raise FakbenchError(
            f"the report has a figure that no reader would agree on ({error}); check sizes, rates and times"
        ) from None


class WholeFile:
    """A file that is being written; where it cannot be, the error names it."""

    def __init__(self, path: Path, stream: IO[bytes]) -> None:
        self._path = path
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Append `data`. Raises `FakbenchError`."""
        try:
            self._stream.write(data)
        except OSError as error:
            raise cannot_write(self._path, error) from None

    def writelines(self, lines: Iterable[bytes]) -> None:
        """Append every line. Raises `FakbenchError`."""
        for line in lines:
            self.write(line)

    def close(self) -> None:
        """Everything is on its way to the disk. Raises `FakbenchError`."""
        try:
            self._stream.close()
        except OSError as error:
            raise cannot_write(self._path, error) from None


def cannot_write(path: Path, error: OSError) -> FakbenchError:
    """The sentence about a file that cannot be written."""
    return FakbenchError(f"{path}: cannot be written ({error.strerror}); choose another place")


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[WholeFile]:
    """Write `path` under a temporary name beside it; it takes its name only when everything was written.

    A link is followed. What is no file (a device, a pipe) is written as it is, since a rename would replace it.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FakbenchError(f"{path}: is a directory; name a file")
    with contextlib.ExitStack() as stack:
        temporary = None
        try:
            if target.exists() and not target.is_file():
                stream: IO[bytes] = target.open("wb")
            else:
                handle, temporary = tempfile.mkstemp(prefix=".fakbench-", dir=target.parent)
                stack.callback(Path(temporary).unlink, missing_ok=True)
                stream = os.fdopen(handle, "wb")
        except (OSError, ValueError) as error:
            reason = error if isinstance(error, OSError) else OSError(0, str(error))
            raise cannot_write(path, reason) from None
        file = WholeFile(path, stream)
        stack.callback(_close_quietly, stream)
        yield file
        file.close()
        if temporary is not None:
            _take_name(Path(temporary), target, path)


def _close_quietly(stream: IO[bytes]) -> None:
    """On the way out of a failure, which is what has to be told."""
    with contextlib.suppress(OSError):
        stream.close()


def _take_name(temporary: Path, target: Path, path: Path) -> None:
    """Rename, with the rights that the target had, or those of any other new file: mkstemp's are private."""
    try:
        if target.exists():
            mode = target.stat().st_mode & 0o7777
        else:
            mask = os.umask(0)
            os.umask(mask)
            mode = 0o666 & ~mask
        temporary.chmod(mode)
        os.replace(temporary, target)
    except OSError as error:
        raise cannot_write(path, error) from None


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all."""
    with whole_file(path) as stream:
        stream.write(data)


def refuse_shared_paths(read: dict[str, Path], written: dict[str, Path | None]) -> None:
    """No file is written twice, or over what is read: by option, what is read and what is to be written.

    Devices may be shared. Raises `FakbenchError` naming the two options.
    """
    taken = {os.path.realpath(path): option for option, path in read.items()}
    for option, path in written.items():
        if path is None:
            continue
        place = os.path.realpath(path)
        if Path(place).exists() and not Path(place).is_file():
            continue
        if place in taken:
            raise FakbenchError(f"{option} {path}: is the same file as {taken[place]}; name another")
        taken[place] = option
