"""Reads content as a user would: from a file called `x.jsonl` in the current directory."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from harness.errors import TraceError
from harness.readers import read_trace
from harness.trace import Trace

NATIVE_HEADER = '{"kind":"trace","schema":"fakbench.trace/1","block_tokens":16}'


def read(content: bytes | str, **options: Any) -> Trace:
    """The trace that is read from `content`."""
    with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
        Path("x.jsonl").write_bytes(content.encode() if isinstance(content, str) else content)
        return read_trace(Path("x.jsonl"), **options)


def refusal(content: bytes | str, **options: Any) -> str:
    """The message with which `content` is refused."""
    with pytest.raises(TraceError) as caught:
        read(content, **options)
    return str(caught.value)


def joined(lines: Iterable[str]) -> str:
    """Lines, each with its newline."""
    return "".join(f"{line}\n" for line in lines)


def native(*events: str) -> str:
    """A native trace of 16 tokens a block with these events."""
    return joined([NATIVE_HEADER, *events])


def paths(trace: Trace) -> list[list[object]]:
    """The names of every request's blocks."""
    return [[trace.block_names[block] for block in trace.blocks_of(request)] for request in range(trace.requests)]
