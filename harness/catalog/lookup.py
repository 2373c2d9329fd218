"""Finding and loading a catalog: the option, the environment, the packaged copy, the checkout."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from harness.catalog.checking import check
from harness.catalog.document import MAX_FILE_BYTES
from harness.catalog.findings import Finding, near_misses, shown
from harness.catalog.machine import Machine
from harness.catalog.model import Model
from harness.errors import CatalogError, FakbenchError
from harness.packaged import data_file

ENVIRONMENT_NAME = "FAKBENCH_CATALOG"
FILE_NAME = "catalog.json"

_SHOWN_ERRORS = 3

Entry = TypeVar("Entry", bound=Machine | Model)


class Catalog:
    """A catalog that passed every check: `machines` and `models` by id, in order of their ids."""

    def __init__(self, machines: Mapping[str, Machine], models: Mapping[str, Model]) -> None:
        self.machines = machines
        self.models = models

    def machine(self, name: str) -> Machine:
        """The machine with this id. Raises CatalogError, naming near misses and what there is."""
        return _pick(name, "machine", self.machines)

    def model(self, name: str) -> Model:
        """The model with this id. Raises CatalogError, naming near misses and what there is."""
        return _pick(name, "model", self.models)

    def entry(self, name: str) -> Machine | Model:
        """The machine or model with this id, a machine first. Raises CatalogError like the others."""
        entries: dict[str, Machine | Model] = {**self.models, **self.machines}
        return _pick(name, "machine or model", entries)


def find_catalog(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    """The path of the catalog to use: `explicit`, then FAKBENCH_CATALOG, then the packaged copy, then the checkout's.

    A path that somebody named is returned unseen, so that a misspelt one is an error and never another catalog.
    Raises CatalogError where nothing is named and no copy exists.
    """
    if explicit is not None:
        return explicit
    if environ.get(ENVIRONMENT_NAME):
        return Path(environ[ENVIRONMENT_NAME])
    try:
        return data_file(FILE_NAME)
    except FakbenchError as error:
        raise CatalogError(
            f"no {FILE_NAME} comes with this installation; name one with --catalog or {ENVIRONMENT_NAME}"
        ) from error


def read_catalog_bytes(path: Path) -> bytes:
    """The bytes of a catalog file, a little over the largest size allowed at most. Raises CatalogError."""
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CatalogError(f"{path}: cannot be read ({reason}); name a catalog file") from error


def load_catalog(path: Path) -> Catalog:
    """Load a catalog. Raises CatalogError with the first errors; form alone (key order, indent) is accepted."""
    checked = check(read_catalog_bytes(path))
    if checked.errors:
        raise CatalogError(error_text(path, checked.errors))
    return Catalog(checked.machines, checked.models)


def error_text(path: Path, errors: list[Finding], most: int = _SHOWN_ERRORS) -> str:
    """The first errors of a catalog, one a line, and how to see the rest."""
    lines = [f"{path}: {error}" for error in errors[:most]]
    if len(errors) > most:
        lines.append(f"{path}: and {len(errors) - most} more; run `fakbench catalog validate` to see them all")
    return "\n".join(lines)


def _pick(name: str, what: str, entries: Mapping[str, Entry]) -> Entry:
    if name in entries:
        return entries[name]
    meant = near_misses(name, list(entries))
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ";"
    raise CatalogError(f"{shown(name)} is not a {what} of this catalog{hint} it has {', '.join(entries)}")
