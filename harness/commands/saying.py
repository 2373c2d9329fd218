"""What a command prints: text to standard output, until its reader has had enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import typer


def say(text: str) -> None:
    """Print `text` and a newline."""
    write([f"{text}\n".encode()])


def write(pieces: Iterable[bytes]) -> None:
    """Print UTF-8 `pieces` as they are. Where nobody reads any more, end quietly: nothing went wrong."""
    try:
        sys.stdout.flush()
        sys.stdout.buffer.writelines(pieces)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        # The interpreter flushes once more as it ends; let that go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
