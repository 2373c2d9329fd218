"""Catalogs for tests: the shipped one with one thing changed, named by its path."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

from harness.catalog import canonical_bytes

SHIPPED = Path(__file__).resolve().parent.parent / "catalog.json"
_DOCUMENT: dict[str, Any] = json.loads(SHIPPED.read_bytes())
ABSENT = object()


def edited(*changes: tuple[str, object]) -> bytes:
    """The shipped catalog in canonical form, each `path` (parts joined by "/") set to a value, or taken out."""
    document = copy.deepcopy(_DOCUMENT)
    for path, value in changes:
        *parents, last = path.split("/")
        place: Any = document
        for part in parents:
            place = place[int(part)] if isinstance(place, list) else place[part]
        key: Any = int(last) if isinstance(place, list) else last
        if value is ABSENT:
            del place[key]
        else:
            place[key] = copy.deepcopy(value)
    return canonical_bytes(document)


def figure(value: object) -> dict[str, object]:
    """A figure with a kind and a source."""
    return {"value": value, "kind": "assumed", "source": "a test"}


def shipped_part(path: str) -> Any:
    """What the shipped catalog holds at a path."""
    place: Any = _DOCUMENT
    for part in path.split("/"):
        place = place[int(part)] if isinstance(place, list) else place[part]
    return copy.deepcopy(place)
