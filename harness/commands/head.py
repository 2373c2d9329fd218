"""`fakbench trace head`: the first requests as the reader understood them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from harness.commands.reading import TRACE_HELP, reads_a_trace
from harness.commands.saying import write
from harness.commands.stats import StatsFormat, printed

if TYPE_CHECKING:
    from harness.readers.source import Options


@reads_a_trace
def head(
    trace: Annotated[Path, typer.Argument(metavar="TRACE", help=TRACE_HELP)],
    requests: Annotated[int, typer.Option("--requests", "-n", help="How many requests to show.")] = 10,
    form: Annotated[StatsFormat, typer.Option("--format", help="How to print them.")] = StatsFormat.table,
    *,
    reading: Options,
) -> int:
    """Show the first requests of a trace as they were understood, and the controls between them.

    All of the trace is read, so that what is shown is the beginning of something that is whole.
    """
    from harness.errors import EXIT_OK, SetupError
    from harness.readers import read_trace
    from harness.stats.head import build_head, head_view

    if requests < 1:
        raise SetupError(f"--requests {requests}: out of range; give at least 1")
    document = build_head(read_trace(trace, reading), requests)
    write([printed(document, head_view(document), form).encode()])
    return EXIT_OK
