"""From a recipe file, or a workload's name, to a checked recipe; or one sentence that names the file and the field."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec

from harness.synth.recipe import SCHEMA, Fault, Recipe, RecipeError
from harness.synth.registry import WORKLOADS, AnyRecipe

_MAX_BYTES = 1 << 20
_LIST = "`fakbench trace synth --list` names the workloads and their knobs"


def load_recipe(path: Path) -> Recipe:
    """Read and check a recipe file. Raises `RecipeError`."""
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES + 1)
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read ({error.strerror}); name a recipe file") from None
    if len(data) > _MAX_BYTES:
        raise RecipeError(f"{path}: is longer than {_MAX_BYTES} bytes; a recipe is a few lines of JSON")
    try:
        recipe: Recipe = msgspec.json.decode(data, type=AnyRecipe)
    except msgspec.ValidationError as error:
        raise RecipeError(f"{path}: {_sentence(error)}; {_LIST}") from None
    except RecursionError:
        raise RecipeError(f"{path}: is nested too deeply; a recipe is a few lines of JSON") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}{_line(data, str(error))}: is not JSON ({error}); correct it") from None
    return _checked(recipe, str(path))


def default_recipe(workload: str, seed: int) -> Recipe:
    """A workload with every knob at its default. Raises `RecipeError`."""
    if workload not in WORKLOADS:
        raise RecipeError(f"--workload {workload}: is not one of {', '.join(WORKLOADS)}; {_LIST}")
    fields = {"schema": SCHEMA, "workload": workload, "seed": seed}
    try:
        recipe: Recipe = msgspec.convert(fields, type=AnyRecipe)
    except msgspec.ValidationError as error:
        raise RecipeError(f"--seed {seed}: {_sentence(error)}; choose another") from None
    return _checked(recipe, f"--workload {workload}")


def _checked(recipe: Recipe, where: str) -> Recipe:
    for number, event in enumerate(recipe.events):
        if isinstance(event, Fault) and event.until_ms <= event.t_ms:
            raise RecipeError(
                f"{where}: `events[{number}].until_ms` {event.until_ms} is not after `t_ms` {event.t_ms}; make it later"
            )
    return recipe


def _sentence(error: msgspec.ValidationError) -> str:
    """msgspec's sentence with the field in front: "`sessions`: expected `int` >= 1"."""
    what, _, where = str(error).partition(" - at ")
    what = what[:1].lower() + what[1:]
    field = where.strip("`").removeprefix("$").removeprefix(".")
    if field == "schema":
        what += f" where this version needs '{SCHEMA}'"
    return f"`{field}`: {what}" if field else what


def _line(data: bytes, reason: str) -> str:
    found = re.search(r"\(byte (\d+)\)", reason)
    if found is None:
        return ""
    lines_before = data.count(b"\n", 0, int(found.group(1)))
    return f":{lines_before + 1}"
