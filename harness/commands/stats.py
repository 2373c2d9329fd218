"""`fakbench trace stats`: what is in a trace. Parse, read, count, write, print."""

from __future__ import annotations

import contextlib
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from harness.commands.engine_options import (
    Capacity,
    Catalog,
    Isolation,
    KvBytesPerToken,
    Machine,
    Model,
    TensorParallel,
)
from harness.commands.reading import TRACE_HELP, reads_a_trace
from harness.commands.saying import write

if TYPE_CHECKING:
    from harness.readers.source import Options
    from harness.render.view import View

_MOST_BUCKETS = 10_000


class StatsFormat(StrEnum):
    """How statistics are printed."""

    table = "table"
    json = "json"
    markdown = "markdown"


@reads_a_trace
def stats(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TRACE_HELP)],
    machine: Machine = "h100-sxm",
    model: Model = None,
    capacity: Capacity = None,
    tensor_parallel: TensorParallel = 1,
    kv_bytes_per_token: KvBytesPerToken = 0,
    isolation: Isolation = "all",
    buckets: Annotated[int, typer.Option(help="Stretches of equal length that the time is cut into.")] = 24,
    out: Annotated[Path | None, typer.Option(help="Write the statistics here as a canonical JSON document.")] = None,
    form: Annotated[StatsFormat, typer.Option("--format", help="How to print the statistics.")] = StatsFormat.table,
    catalog: Catalog = None,
    *,
    reading: Options,
) -> int:
    """What is in a trace: its lengths, its times, its sessions, and how much of it comes back, when, from how far.

    The machine and the model turn tokens into bytes, and bytes into a part of HBM; nothing else depends on them.
    """
    from harness.arguments import Arguments
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.documents import canonical_bytes, refuse_shared_paths, whole_file
    from harness.errors import EXIT_OK, SetupError
    from harness.isolation import check_axes, isolate, parse_isolation
    from harness.readers import read_trace
    from harness.resolve import resolve_engine
    from harness.stats.document import StatsOptions, build_stats
    from harness.stats.view import stats_view

    if not 1 <= buckets <= _MOST_BUCKETS:
        raise SetupError(f"--buckets {buckets}: out of range; give 1 to {_MOST_BUCKETS}")
    axes = parse_isolation(isolation)
    check_axes(axes)
    engine_options = Arguments(
        machine=machine,
        model=model,
        capacity=tuple(capacity or []),
        tensor_parallel=tensor_parallel,
        kv_bytes_per_token=kv_bytes_per_token,
        # Nothing here is computed, so a machine need not say how fast it would be.
        prefill_ns_per_token=1,
    ).engine_options()
    refuse_shared_paths({"the trace": trace} | ({"the catalog": catalog} if catalog else {}), {"--out": out})
    engine = resolve_engine(load_catalog(find_catalog(catalog, os.environ)), engine_options)
    with contextlib.ExitStack() as stack:
        out_file = stack.enter_context(whole_file(out)) if out else None
        document = build_stats(isolate(read_trace(trace, reading), axes), engine, StatsOptions(buckets))
        if out_file is not None:
            out_file.write(canonical_bytes(document))
    write([printed(document, stats_view(document), form).encode()])
    return EXIT_OK


def printed(document: dict[str, Any], view: View, form: StatsFormat) -> str:
    """A document in one of the forms."""
    from harness.documents import canonical_bytes

    if form == StatsFormat.json:
        return canonical_bytes(document).decode()
    if form == StatsFormat.markdown:
        from harness.render.markdown import view_as_markdown

        return view_as_markdown(view)
    # rich takes a while to load, and only this form needs it.
    from harness.render.table import view_as_table

    return view_as_table(view)
