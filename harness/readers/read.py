"""The public entry: one file or several, by content and not by name, into one `Trace`, or one sentence why not."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from harness.errors import TraceError
from harness.readers.builder import TraceBuilder
from harness.readers.decompress import BrokenStreamError
from harness.readers.finding import Files, Found, find
from harness.readers.lines import chunks
from harness.readers.opening import cannot_read, content
from harness.readers.problems import Problems
from harness.readers.registry import BYTES, Format, format_named
from harness.readers.sniffing import sniff_bytes, sniff_lines
from harness.readers.source import AUTO, Options, Source
from harness.trace import Trace

# Longer than any recording: what looks like it was read in the wrong unit.
_LONGEST_YEARS = 5
_YEAR_US = 365 * 86_400 * 1_000_000


def read_trace(path: Path, options: Options | None = None, **settings: Any) -> Trace:
    """Read a trace: a file, a folder of files, a shell pattern, or `-`; each plain, gzip, zstd or xz.

    `settings` are fields of `Options`, for callers that have no object of it. Requests stay in file order, files in
    order of their names: the replay puts them in order of time. Raises `TraceError`: the message names the file, and
    the lines where it is about lines.
    """
    options = dataclasses.replace(options or Options(), **settings)
    named = None if options.format == AUTO else format_named(options.format)
    files = find(path)
    builder = TraceBuilder(options)
    trace = builder.trace
    trace.name = files.name
    formats: dict[str, None] = {}
    digests = []
    for file in files.files:
        before = trace.requests
        builder.start_file(file.name, len(files.files) > 1)
        problems = Problems(file.shown, options.lenient, trace.notices)
        digest, row = _read_file(file, named, options, problems, builder)
        formats[row.name] = None
        digests.append((file.name, digest))
        problems.refuse_any()
        builder.end_file()
        if trace.requests == before:
            raise TraceError(f"{file.shown}: {_why_no_requests(problems)}")
    trace.format = "+".join(formats)
    trace.sha256 = digests[0][1] if not files.several else _digest_of(digests)
    if files.several:
        trace.name, trace.notes = files.name, ""
    builder.finish()
    _refuse_absurd_span(trace, files)
    return trace


def _read_file(
    file: Found, named: Format | None, options: Options, problems: Problems, builder: TraceBuilder
) -> tuple[str, Format]:
    """Give one file's requests to `builder`; returns the digest of its content, and its format."""
    trace, before = builder.trace, builder.trace.requests
    digest = hashlib.sha256()
    with file.open() as opened:
        try:
            row, source = _open(opened, file, named, options, problems, digest)
            builder.take_format(row.name, row.id_scope)
            row.read(source, builder)
            # A format that stops before the end of its content has read all of it, or this reads it for the digest.
            for _ in chain(source.content, source.chunks):
                pass
        except BrokenStreamError as broken:
            so_far = f"rows read so far: {trace.requests - before}"
            raise TraceError(f"{file.shown}: {broken.reason}, {so_far}; {broken.advice}") from None
        except OSError as error:
            raise TraceError(cannot_read(file.shown, error)) from None
    return digest.hexdigest(), row


def _open(
    opened: BinaryIO, file: Found, named: Format | None, options: Options, problems: Problems, digest: hashlib._Hash
) -> tuple[Format, Source]:
    pieces = _digested(content(opened, file.shown), digest)
    row = named
    if row is None:
        row, pieces = sniff_bytes(pieces)
    source = Source(file.shown, file.name, options, problems)
    if row is not None and row.shape == BYTES:
        source.content = pieces
        return row, source
    source.chunks = chunks(pieces)
    if row is None:
        row, source.chunks = sniff_lines(source.chunks, file.shown)
    return row, source


def _digested(pieces: Iterator[bytes], digest: hashlib._Hash) -> Iterator[bytes]:
    for piece in pieces:
        digest.update(piece)
        yield piece


def _digest_of(digests: list[tuple[str, str]]) -> str:
    """That of a list such as `sha256sum` prints, of the names of the files and the digests of their content."""
    listing = "".join(f"{digest}  {name}\n" for name, digest in digests)
    return hashlib.sha256(listing.encode()).hexdigest()


def _why_no_requests(problems: Problems) -> str:
    if not problems.lines:
        return "is empty: a trace needs at least one request"
    counts = ", ".join(f"{kind} {count}" for kind, count in problems.kinds.items())
    return "holds no requests" + (f" that can be read ({counts})" if counts else "")


def _refuse_absurd_span(trace: Trace, files: Files) -> None:
    years = (max(trace.t_us) - min(trace.t_us)) // _YEAR_US
    unit = trace.conventions["time_unit"]
    if years > _LONGEST_YEARS and "declared" not in unit:
        shown = files.files[0].shown if not files.several else trace.name
        raise TraceError(
            f"{shown}: spans {years} years, with times in {unit}: pass --time-unit s, ms or us if they are in another "
            "unit, and read files whose times begin at different points apart"
        )
