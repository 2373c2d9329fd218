"""Golden reports: every row of `reports/index.json` is a replay whose report is kept, byte for byte, beside it.

A row names a trace, and the options of the replay as `fakbench replay` takes them, so a golden can be made by hand too.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec
import orjson

from harness.arguments import Arguments
from harness.catalog.lookup import Catalog
from harness.comparison import check_tiers, compare
from harness.documents import canonical_bytes, write_whole
from harness.errors import FakbenchError
from harness.readers import read_trace
from harness.report import build_report
from harness.resolve import resolve_engine

INDEX = "reports/index.json"
SCHEMA = "fakbench.goldens/1"

_MOST_BYTES = 2**26


class Golden(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One golden report: the report's and the trace's paths from the root, and the options of the replay."""

    report: str
    trace: str


class _Index(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    schema: str
    goldens: tuple[Golden, ...]


@dataclass(frozen=True, slots=True)
class Drift:
    """A golden report that no longer comes out: the fields that differ, as `path: kept -> made`."""

    report: str
    differences: list[str]


def load_index(root: Path) -> tuple[Golden, ...]:
    """The rows of the index under `root`. Raises `FakbenchError` where it is missing or not understood."""
    path = root / INDEX
    try:
        index = msgspec.json.decode(_bounded(path), type=_Index)
    except OSError as error:
        raise FakbenchError(f"{INDEX}: cannot be read ({error.strerror}); run in a checkout, or name one") from None
    except msgspec.MsgspecError as error:
        raise FakbenchError(f"{INDEX}: {error}; correct that row") from None
    except RecursionError:
        raise FakbenchError(f"{INDEX}: is nested too deeply; correct it") from None
    if index.schema != SCHEMA:
        raise FakbenchError(f"{INDEX}: schema {index.schema!r} is not {SCHEMA!r}; correct it")
    for golden in index.goldens:
        _refuse_outside(golden)
    return index.goldens


def _refuse_outside(golden: Golden) -> None:
    """A row names a report in reports/ and a trace under the root: nothing else is read or written for it."""
    for path, folder in ((golden.report, "reports"), (golden.trace, "traces")):
        parts = PurePosixPath(path).parts
        if not path.isprintable() or parts[:1] != (folder,) or ".." in parts or len(parts) < 2 or path == INDEX:
            raise FakbenchError(f"{INDEX}: {path!r} is not a file in {folder}/; correct that row")


def _bounded(path: Path) -> bytes:
    """The bytes of a file of reasonable size."""
    if path.exists() and not path.is_file():
        raise FakbenchError(f"{path.name}: is not a file; put a report there")
    with path.open("rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise FakbenchError(f"{path.name}: is larger than {_MOST_BYTES} bytes; a report is not")
    return data


def derive(golden: Golden, root: Path, catalog: Catalog) -> bytes:
    """The report of a row, made anew."""
    engine = resolve_engine(catalog, golden.engine_options())
    options = golden.replay_options()
    check_tiers(options, engine)
    comparison = compare(read_trace(root / golden.trace), engine, options)
    return canonical_bytes(build_report(comparison))


def check_golden(golden: Golden, root: Path, catalog: Catalog) -> Drift | None:
    """Make a report anew and hold it against the kept one, bytes first; None where they are equal."""
    made = derive(golden, root, catalog)
    try:
        kept = _bounded(root / golden.report)
    except OSError:
        return Drift(golden.report, ["is missing; run `make golden` and read the difference"])
    if kept == made:
        return None
    try:
        differences = list(differing(orjson.loads(kept), orjson.loads(made), ""))
    except (orjson.JSONDecodeError, RecursionError):
        differences = ["the kept report is not JSON, or is nested too deeply"]
    return Drift(golden.report, differences or ["the fields are equal, their bytes are not (order or white space)"])


def refresh(golden: Golden, root: Path, catalog: Catalog) -> bool:
    """Write a report anew; returns whether it changed."""
    made = derive(golden, root, catalog)
    path = root / golden.report
    if path.is_file() and _bounded(path) == made:
        return False
    write_whole(path, made)
    return True


def differing(kept: Any, made: Any, path: str) -> list[str]:
    """The leaves at which two documents differ, as `path: kept -> made`."""
    if isinstance(kept, dict) and isinstance(made, dict):
        found = []
        for key in [*kept, *(key for key in made if key not in kept)]:
            where = f"{path}.{key}" if path else str(key)
            if key not in made:
                found.append(f"{where}: gone")
            elif key not in kept:
                found.append(f"{where}: new")
            else:
                found += differing(kept[key], made[key], where)
        return found
    if isinstance(kept, list) and isinstance(made, list) and len(kept) == len(made):
        return [
            line
            for index, (a, b) in enumerate(zip(kept, made, strict=True))
            for line in differing(a, b, f"{path}[{index}]")
        ]
    if type(kept) is type(made) and kept == made:
        return []
    return [f"{path}: {_short(kept)} -> {_short(made)}"]


def _short(value: Any) -> str:
    try:
        text = orjson.dumps(value).decode()
    except TypeError:
        return "something nested too deeply"
    return text if len(text) <= 60 else f"{text[:57]}..."
