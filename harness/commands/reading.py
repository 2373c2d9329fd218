"""How a trace is read, as options that every command about a trace has: written once, here.

`reads_a_trace` adds the options to a command whose last parameter is `reading: Options`, and gives it the object.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

TRACE_HELP = "A trace: a file, a folder, a pattern or -, in any known format; plain, gzip, zstd or xz."


def _options(
    trace_format: Annotated[str, typer.Option(help="Read the trace as this format instead of detecting it.")] = "auto",
    block_tokens: Annotated[
        int, typer.Option(help="Tokens per block, where the file does not say; 512 for Mooncake.")
    ] = 0,
    tail: Annotated[
        str, typer.Option(help="Whether a partial last block has an id: ceil (it has), floor (it has not), or auto.")
    ] = "auto",
    time_unit: Annotated[str, typer.Option(help="Unit of the times: s, ms or us; auto is the format's own.")] = "auto",
    id_scope: Annotated[
        str, typer.Option(help="Where a block id means the same: in its file, or global; auto is as the format says.")
    ] = "auto",
    turns: Annotated[
        str,
        typer.Option(
            help="What turns of a session list: cumulative (all), delta (new blocks), delta+outputs; auto refuses."
        ),
    ] = "auto",
    failed_rows: Annotated[str, typer.Option(help="Rows of requests that failed: drop or keep.")] = "drop",
    lenient: Annotated[bool, typer.Option(help="Leave out lines that cannot be read, and count them.")] = False,
    chain_ids: Annotated[
        bool | None,
        typer.Option(
            "--chain-ids/--no-chain-ids", help="Block ids name one block only: chain them with their parents, or not."
        ),
    ] = None,
) -> Any:
    from harness.readers.source import Options

    return Options(
        format=trace_format,
        block_tokens=block_tokens or None,
        lenient=lenient,
        chain_ids=chain_ids,
        tail=tail,
        time_unit=time_unit,
        id_scope=id_scope,
        turns=turns,
        failed_rows=failed_rows,
    )


def reads_a_trace(command: Callable[..., int]) -> Callable[..., int]:
    """The command with the options of reading a trace, which it is given as `reading`."""
    # The object's class is loaded when the command runs, so its annotation cannot be evaluated here.
    command.__annotations__.pop("reading")
    own = inspect.signature(command, eval_str=True)
    added = inspect.signature(_options, eval_str=True).parameters

    @functools.wraps(command)
    def wrapped(**given: Any) -> int:
        reading = _options(**{name: given.pop(name) for name in added})
        return command(reading=reading, **given)

    parameters = [parameter for name, parameter in own.parameters.items() if name != "reading"]
    parameters += [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in added.values()]
    wrapped.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return wrapped
