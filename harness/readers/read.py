"""The public entry: one file, by content and not by name, into one `Trace`, or one sentence why not."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.errors import TraceError
from harness.readers.builder import TraceBuilder
from harness.readers.decompress import BrokenStreamError
from harness.readers.lines import Line, lines
from harness.readers.opening import cannot_read, content, open_file
from harness.readers.problems import Problems
from harness.readers.records import Records
from harness.readers.registry import format_named
from harness.readers.sniffing import sniff
from harness.readers.source import Options, Source
from harness.trace import Trace


def read_trace(
    path: Path,
    *,
    format: str = "auto",  # noqa: A002 - the word that callers know it by
    block_tokens: int | None = None,
    lenient: bool = False,
    chain_ids: bool = False,
    tail: str = "auto",
) -> Trace:
    """Read a trace file: plain, gzip or zstd.

    `format` is a name of `registry.FORMATS` or "auto". `block_tokens` is for formats that do not state it. `lenient`
    leaves out lines that cannot be read and counts them in `Trace.notices`. `chain_ids` takes a block id together
    with its parents. `tail` says whether a partial last block has an id ("ceil"), has none ("floor"), or either.
    Raises `TraceError`: the message names the file, and the lines where it is about lines.
    """
    options = Options(block_tokens, lenient, chain_ids, tail)
    named = None if format == "auto" else format_named(format)
    shown_path = str(path)
    builder = TraceBuilder(options)
    trace = builder.trace
    # A name is text whatever bytes and locale it came through: a report must be the same bytes everywhere.
    trace.name = os.fsencode(path.name).decode("utf-8", "replace")
    problems = Problems(shown_path, lenient, trace.notices)
    digest = hashlib.sha256()
    with open_file(path) as file:
        try:
            source: Iterable[Line] = lines(_digested(content(file, shown_path), digest))
            if named is None:
                named, source = sniff(source, shown_path)
            records = Records(source, problems)
            trace.format = named.name
            named.read(Source(shown_path, options, iter(records), problems), builder)
        except BrokenStreamError as broken:
            so_far = f"rows read so far: {trace.requests}"
            raise TraceError(f"{shown_path}: {broken.reason}, {so_far}; {broken.advice}") from None
        except OSError as error:
            raise TraceError(cannot_read(shown_path, error)) from None
    problems.refuse_any(records.lines)
    if not trace.requests:
        raise TraceError(f"{shown_path}: {_why_no_requests(records.lines, problems.kinds)}")
    trace.sha256 = digest.hexdigest()
    return trace


def _digested(pieces: Iterator[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for piece in pieces:
        digest.update(piece)
        yield piece


def _why_no_requests(lines_read: int, left_out: dict[str, int]) -> str:
    if not lines_read:
        return "is empty: a trace needs at least one request"
    counts = ", ".join(f"{kind} {count}" for kind, count in left_out.items())
    return "holds no requests" + (f" that can be read ({counts})" if counts else "")
