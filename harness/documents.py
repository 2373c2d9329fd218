"""Canonical documents: bytes that are the same wherever they are made, written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import orjson

from harness.errors import FakbenchError


def canonical_bytes(document: dict[str, Any]) -> bytes:
    """JSON in the order of the document's keys, two-space indent, final newline."""
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """Write `path` under a temporary name beside it; it takes its name only when everything was written."""
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise FakbenchError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
        # mkstemp makes files private; a report is as readable as any other new file.
        mask = os.umask(0)
        os.umask(mask)
        temporary.chmod(0o666 & ~mask)
        os.replace(temporary, path)
    except OSError as error:
        raise FakbenchError(f"{path}: cannot be written ({error.strerror}); choose another place") from None
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, data: bytes) -> None:
    """Write `data` to `path`, whole or not at all."""
    with whole_file(path) as stream:
        stream.write(data)
