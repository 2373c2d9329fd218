"""`fakbench trace synth`: a recipe, or a workload's name and a seed, becomes a native trace."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.saying import write

_COPY_BYTES = 2**20


def synth(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe file (docs/synth.md); traces/recipes has some.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(metavar="NAME", help="A workload with every knob at its default, instead of a recipe.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of --workload.")] = 1,
    out: Annotated[
        Path | None, typer.Option(help="Write the trace here, whole or not at all, instead of printing it.")
    ] = None,
    show_recipe: Annotated[
        bool, typer.Option("--show-recipe", help="The recipe with every knob, instead of the trace.")
    ] = False,
    list_workloads: Annotated[bool, typer.Option("--list", help="The workloads and their knobs.")] = False,
) -> None:
    """Make a synthetic trace from a recipe: the same recipe gives the same bytes on every machine."""
    from harness.documents import refuse_shared_paths, whole_file
    from harness.synth.describe import recipe_bytes, workload_tables
    from harness.synth.load import default_recipe, load_recipe
    from harness.synth.recipe import RecipeError
    from harness.synth.write import trace_lines

    if list_workloads:
        write([workload_tables().encode()])
        return
    if (recipe is None) == (workload is None):
        raise RecipeError("synth takes a recipe file or --workload NAME, one of the two; --list names the workloads")
    if out is not None and out.suffix in (".gz", ".zst"):
        raise RecipeError(f"{out}: would not be compressed; name it without {out.suffix} and compress it afterwards")
    chosen = default_recipe(workload, seed) if workload is not None else load_recipe(recipe or Path())
    if recipe is not None:
        refuse_shared_paths({"the recipe": recipe}, {"--out": out})
    lines = iter([recipe_bytes(chosen)]) if show_recipe else trace_lines(chosen)
    if out is None:
        # A trace that turns out to be impossible half-way must not leave a half that looks whole.
        with tempfile.TemporaryFile() as spool:
            spool.writelines(lines)
            spool.seek(0)
            write(iter(lambda: spool.read(_COPY_BYTES), b""))
        return
    with whole_file(out) as file:
        file.writelines(lines)
