"""`fakbench curve`: every capacity and every split into tiers from one pass. Parse, check, pass, write, print."""

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
    DropTier,
    Isolation,
    KvBytesPerToken,
    Machine,
    Model,
    PrefillNsPerToken,
    SpanTokens,
    TensorParallel,
)
from harness.commands.reading import TRACE_HELP, reads_a_trace
from harness.commands.saying import write

if TYPE_CHECKING:
    from harness.readers.source import Options


class CurveFormat(StrEnum):
    """How a curve is printed."""

    table = "table"
    json = "json"
    markdown = "markdown"
    csv = "csv"


@reads_a_trace
def curve(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TRACE_HELP)],
    at: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TIER=SIZE,…", help="A split to answer, like hbm=80GB,dram=1TiB; 0 is unbounded. Repeatable."
        ),
    ] = None,
    machine: Machine = "h100-sxm",
    model: Model = None,
    capacity: Capacity = None,
    drop_tier: DropTier = None,
    tensor_parallel: TensorParallel = 1,
    kv_bytes_per_token: KvBytesPerToken = 0,
    prefill_ns_per_token: PrefillNsPerToken = 0,
    span_tokens: SpanTokens = 4096,
    isolation: Isolation = "all",
    window: Annotated[
        str, typer.Option(metavar="DURATION", help="The knees of every such stretch of time too: 10m, 1h; 0 is none.")
    ] = "0",
    sample: Annotated[
        int, typer.Option(metavar="PPM", help="Follow so many spans of a million (SHARDS); 1000000 is exact.")
    ] = 1_000_000,
    out: Annotated[Path | None, typer.Option(help="Write the curve here as a canonical JSON document.")] = None,
    form: Annotated[CurveFormat, typer.Option("--format", help="How to print the curve.")] = CurveFormat.table,
    catalog: Catalog = None,
    *,
    reading: Options,
) -> int:
    """What every cache capacity would hit, from one pass over a trace: the curve, its knees, and any split into tiers.

    Equal to replays of blind LRU to the token, as far as no request exceeds the capacity; the document says from where
    on. Clear, fault and pressure events are left out, and counted.
    """
    from harness.arguments import Arguments
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.curve.axis import Axis
    from harness.curve.document import build_document, check_splits
    from harness.curve.options import curve_options
    from harness.curve.sweep import sweep
    from harness.documents import canonical_bytes, refuse_shared_paths, whole_file
    from harness.errors import EXIT_OK
    from harness.isolation import check_axes, isolate, parse_isolation
    from harness.readers import read_trace
    from harness.resolve import resolve_engine
    from harness.workload import prepare

    options = curve_options(span_tokens, at or [], window, sample)
    check_splits(options)
    axes = parse_isolation(isolation)
    check_axes(axes)
    engine_options = Arguments(
        machine=machine,
        model=model,
        capacity=tuple(capacity or []),
        drop_tier=tuple(drop_tier or []),
        tensor_parallel=tensor_parallel,
        kv_bytes_per_token=kv_bytes_per_token,
        prefill_ns_per_token=prefill_ns_per_token,
    ).engine_options()
    refuse_shared_paths({"the trace": trace} | ({"the catalog": catalog} if catalog else {}), {"--out": out})
    known = load_catalog(find_catalog(catalog, os.environ))
    engine = resolve_engine(known, engine_options)
    loaded = read_trace(trace, reading)
    axis = Axis(engine, known.machine(machine), tensor_parallel, loaded.block_tokens)
    with contextlib.ExitStack() as stack:
        # The output is opened before the pass, and takes its name only when all of it is done.
        out_file = stack.enter_context(whole_file(out)) if out else None
        workload = prepare(isolate(loaded, axes).trace, engine, options.span_tokens, 0)
        swept = sweep(workload, options.rate_ppm, options.window_us)
        document = build_document(swept, engine, axis, options)
        if out_file is not None:
            out_file.write(canonical_bytes(document))
    write([_printed(document, form).encode()])
    return EXIT_OK


def _printed(document: dict[str, Any], form: CurveFormat) -> str:
    from harness.curve.view import curve_csv, curve_view
    from harness.documents import canonical_bytes

    if form == CurveFormat.csv:
        return curve_csv(document)
    if form == CurveFormat.json:
        return canonical_bytes(document).decode()
    if form == CurveFormat.markdown:
        from harness.render.markdown import view_as_markdown

        return view_as_markdown(curve_view(document))
    # rich takes a while to load, and only this form needs it.
    from harness.render.table import view_as_table

    return view_as_table(curve_view(document))
