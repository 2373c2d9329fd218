"""`fakbench replay`: the main job. Parse, check, replay, print, write."""

from __future__ import annotations

import contextlib
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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


class Format(StrEnum):
    """How the report is printed: the rows of `harness.render.registry`."""

    table = "table"
    json = "json"
    markdown = "markdown"


@reads_a_trace
def replay(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TRACE_HELP)],
    now: Annotated[int, typer.Option(help="The clock's reading at the first event, in milliseconds.")],
    machine: Machine = "h100-sxm",
    model: Model = None,
    policy: Annotated[str, typer.Option(help="The policy in question (`fakbench policies`).")] = "tiered",
    against: Annotated[
        list[str] | None, typer.Option(help="A policy to hold it against; repeatable, the first is the baseline.")
    ] = None,
    capacity: Capacity = None,
    drop_tier: DropTier = None,
    tensor_parallel: TensorParallel = 1,
    kv_bytes_per_token: KvBytesPerToken = 0,
    prefill_ns_per_token: PrefillNsPerToken = 0,
    ttl: Annotated[
        list[str] | None,
        typer.Option(metavar="TIER=DURATION", help="How long a span stays fresh in a tier: 500ms, 5s, 2m. Repeatable."),
    ] = None,
    grace: Annotated[
        str, typer.Option(metavar="DURATION", help="How long an expiring span can still be revived.")
    ] = "0",
    demote_on_expiry: Annotated[
        bool,
        typer.Option("--demote-on-expiry/--no-demote-on-expiry", help="Expired spans move colder, or are dropped."),
    ] = True,
    span_tokens: SpanTokens = 4096,
    isolation: Isolation = "all",
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="A rule of the policy (`fakbench policies`). Repeatable."),
    ] = None,
    replicas: Annotated[int, typer.Option(help="Engines of this kind that share the traffic.")] = 1,
    pool: Annotated[
        list[str] | None,
        typer.Option(metavar="TIER=HOSTS", help="A tier that so many replicas share: cxl=8. Repeatable."),
    ] = None,
    router: Annotated[
        str, typer.Option(help="Who gets a request: round-robin, least-loaded or prefix.")
    ] = "round-robin",
    out: Annotated[Path | None, typer.Option(help="Write the JSON report here.")] = None,
    directives: Annotated[Path | None, typer.Option(help="Write the policy's directive stream here (JSONL).")] = None,
    per_request: Annotated[Path | None, typer.Option(help="Write a line for each request here (JSONL).")] = None,
    metrics: Annotated[
        Path | None, typer.Option(help="Write metrics of the policy's cache events here (Prometheus text).")
    ] = None,
    metrics_port: Annotated[
        int | None, typer.Option(help="Serve them on this port while the replay runs; 0 is any that is free.")
    ] = None,
    metrics_host: Annotated[
        str | None, typer.Option(help="Serve them at this address, instead of to this machine alone.")
    ] = None,
    form: Annotated[Format, typer.Option("--format", help="How to print the report.")] = Format.table,
    catalog: Catalog = None,
    *,
    reading: Options,
) -> int:
    """Replay a trace through a policy and hold it against others: what is saved, where hits come from, and why.

    A span used by a request is usable by the next one at once, equal times included, and output lengths are taken as
    known. The ceiling (`infinite`) always runs beside the policies named. Exit code 1: the accounts do not balance.
    """
    from harness.arguments import Arguments
    from harness.catalog.lookup import find_catalog, load_catalog
    from harness.commands.metrics import replay_metrics
    from harness.commands.progress import progress_bar
    from harness.comparison import check_tiers, compare
    from harness.documents import canonical_bytes, refuse_shared_paths, whole_file
    from harness.errors import EXIT_DIFFERENCE, EXIT_OK
    from harness.per_request import request_file
    from harness.readers import read_trace
    from harness.render.registry import RENDERERS
    from harness.report import build_report
    from harness.resolve import resolve_engine

    arguments = Arguments(
        now=now,
        machine=machine,
        model=model,
        policy=policy,
        against=tuple(against or ["blind-lru"]),
        capacity=tuple(capacity or []),
        drop_tier=tuple(drop_tier or []),
        tensor_parallel=tensor_parallel,
        kv_bytes_per_token=kv_bytes_per_token,
        prefill_ns_per_token=prefill_ns_per_token,
        ttl=tuple(ttl or []),
        grace=grace,
        demote_on_expiry=demote_on_expiry,
        span_tokens=span_tokens,
        isolation=isolation,
        set=tuple(setting or []),
        replicas=replicas,
        pool=tuple(pool or []),
        router=router,
    )
    refuse_shared_paths(
        {"the trace": trace} | ({"the catalog": catalog} if catalog else {}),
        {"--out": out, "--directives": directives, "--per-request": per_request, "--metrics": metrics},
    )
    options = arguments.replay_options()
    engine = resolve_engine(load_catalog(find_catalog(catalog, os.environ)), arguments.engine_options())
    check_tiers(options, engine)
    loaded = read_trace(trace, reading)
    with contextlib.ExitStack() as stack:
        # Every output is opened before the replay, and takes its name only when all of it is done.
        out_file = stack.enter_context(whole_file(out)) if out else None
        directive_file = stack.enter_context(whole_file(directives)) if directives else None
        on_request = stack.enter_context(request_file(per_request, loaded, replicas)) if per_request else None
        followed = stack.enter_context(replay_metrics(metrics, metrics_port, metrics_host))
        on_progress = stack.enter_context(progress_bar(loaded.requests))
        follow = followed.follow if followed else None
        comparison = compare(loaded, engine, options, directive_file, on_request, on_progress, follow)
        report = build_report(comparison)
        data = canonical_bytes(report)
        if out_file is not None:
            out_file.write(data)
    write([RENDERERS[form.value](report).encode()])
    return EXIT_OK if report["audit"]["balanced"] else EXIT_DIFFERENCE
