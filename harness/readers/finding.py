"""What a person means by a trace: one file, the files of a folder, those that a shell pattern names, or `-`.

The order of several files is that of their names, so that it is the same everywhere. Files whose names begin with a
dot and folders within the folder are left out, as a shell's `*` does.
"""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from harness.errors import TraceError
from harness.readers.opening import cannot_read, open_file

STANDARD_INPUT = "-"
_PATTERN = "*?["


class Found(NamedTuple):
    """A file of a trace: where it is, and its name among the others. `path` None is the standard input."""

    path: Path | None
    name: str

    @property
    def shown(self) -> str:
        """As messages name it."""
        return STANDARD_INPUT if self.path is None else str(self.path)

    @contextlib.contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """The file, for reading. Raises `TraceError` where it cannot be opened."""
        if self.path is not None:
            with open_file(self.path) as file:
                yield file
        elif sys.stdin is None:
            raise TraceError("-: there is no standard input; name a file")
        else:
            yield sys.stdin.buffer


class Files(NamedTuple):
    """The files of a trace in order, and what to call it. `several` is how they were named: a folder may hold one."""

    name: str
    several: bool
    files: tuple[Found, ...]


def find(path: Path) -> Files:
    """The files that `path` means. Raises `TraceError` where there are none."""
    text = str(path)
    if text == STANDARD_INPUT:
        return Files(STANDARD_INPUT, False, (Found(None, STANDARD_INPUT),))
    try:
        if path.is_dir():
            return _several(readable(path.resolve()), [entry for entry in path.iterdir() if _counts(entry)], text)
        if not path.exists() and not path.is_symlink() and any(sign in text for sign in _PATTERN):
            matches = [Path(match) for match in glob.glob(text)]
            return _several(readable(path), [match for match in matches if match.is_file()], text)
    except OSError as error:
        raise TraceError(cannot_read(text, error)) from None
    except ValueError:
        raise TraceError(f"{text!r} is not a file name") from None
    return Files(readable(path), False, (Found(path, readable(path)),))


def readable(path: Path) -> str:
    """The last part of a path."""
    return _text(path.name)


def _text(name: str) -> str:
    """A name is text whatever bytes and locale it came through: a report must be the same bytes everywhere."""
    return os.fsencode(name).decode("utf-8", "replace")


def _counts(entry: Path) -> bool:
    return not entry.name.startswith(".") and not entry.is_dir()


def _several(name: str, paths: list[Path], shown: str) -> Files:
    if not paths:
        raise TraceError(f"{shown}: no files there; name a trace file, a folder of them, a pattern, or -")
    # Beneath the folder that all of them share, so that two files of one name in two folders stay two.
    shared = os.path.commonpath([os.path.abspath(path.parent) for path in paths])
    names = {path: _text(os.path.relpath(path, shared)) for path in paths}
    ordered = sorted(paths, key=lambda path: os.fsencode(names[path]))
    return Files(name, True, tuple(Found(path, names[path]) for path in ordered))
