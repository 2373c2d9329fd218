"""What a command prints: text to standard output, until its reader has had enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

from harness.errors import FakbenchError
from harness.render.text import printable


def say(text: str) -> None:
    """Print `text`, whose words may be anybody's, and a newline."""
    write([f"{''.join(map(_safe, text.splitlines(keepends=True)))}\n".encode()])


def write(pieces: Iterable[bytes]) -> None:
    """Print UTF-8 `pieces` as they are. Where nobody reads any more, go on quietly: the exit code still counts."""
    # Python has no standard output at all where the descriptor was closed before it started.
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _let_go()
    except OSError as error:
        _let_go()
        raise FakbenchError(f"standard output: cannot be written ({error.strerror}); send it elsewhere") from None


def _safe(line: str) -> str:
    ending = "\n" if line.endswith("\n") else ""
    return printable(line.removesuffix("\n")) + ending


def _let_go() -> None:
    """The interpreter flushes once more as it ends; let that go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
