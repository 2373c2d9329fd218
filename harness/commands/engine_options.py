"""The options of commands that price a trace on an engine: machine, model, how much of it, and who shares blocks."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Machine = Annotated[str, typer.Option(help="A machine of the catalog (`fakbench machines`).")]
Model = Annotated[
    str | None, typer.Option(help="A model of the catalog (`fakbench models`); llama-3.1-8b where none is named.")
]
Capacity = Annotated[
    list[str] | None,
    typer.Option(metavar="TIER=SIZE", help="What this engine gets of a tier: 400GB, 512GiB, bytes; 0 is unbounded."),
]
DropTier = Annotated[list[str] | None, typer.Option(metavar="TIER", help="Do without a tier. Repeatable.")]
TensorParallel = Annotated[int, typer.Option(help="Accelerators of the engine; it gets its part of the node.")]
KvBytesPerToken = Annotated[int, typer.Option(help="KV bytes per token, instead of the model's.")]
PrefillNsPerToken = Annotated[int, typer.Option(help="A flat prefill cost, instead of a roofline.")]
SpanTokens = Annotated[int, typer.Option(help="Longest span in tokens; 0 is one block per span.")]
Isolation = Annotated[
    str,
    typer.Option(
        metavar="AXES",
        help="Who shares nothing: none, all that the trace states, or axes joined with +, like tenant+adapter.",
    ),
]
Catalog = Annotated[Path | None, typer.Option(help="Another catalog.")]
