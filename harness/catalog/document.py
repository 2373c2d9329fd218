"""The outer shape of a catalog file: bytes to entries, and what is wrong with the file as a file.

orjson reads it (it bounds depth and refuses bad UTF-8, NaN and lone surrogates). Like every fast reader it keeps the
last of two equal keys, so a file that is not canonical is read once more, only to name its duplicates.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import orjson

from harness.catalog.canonical import canonical_bytes
from harness.catalog.findings import Finding, near_misses, shown, shown_name

SCHEMA = "fakbench.catalog/1"
MAX_FILE_BYTES = 2**24

_ID = re.compile(r"[a-z0-9][a-z0-9.-]{0,63}")
_SECTIONS = ("machines", "models")
NOT_CANONICAL = "is not in canonical form (sorted keys, two-space indent, final newline); run `fakbench catalog format`"


class Document:
    """A catalog file taken apart: raw entries by id, errors of the file, and whether it is canonical."""

    def __init__(self) -> None:
        self.entries: dict[str, dict[str, object]] = {section: {} for section in _SECTIONS}
        self.errors: list[Finding] = []
        self.canonical = False


def read_document(data: bytes) -> Document:
    """Take a catalog apart. Nothing is raised: whatever is wrong is in `errors`."""
    document = Document()
    if len(data) > MAX_FILE_BYTES:
        document.errors.append(Finding("", f"the file is larger than {MAX_FILE_BYTES} bytes; split it"))
        return document
    try:
        top = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        document.errors.append(Finding("", f"is not JSON at {where}: {shown_name(error.msg)}; correct it there"))
        return document
    document.canonical = _is_canonical(top, data)
    if not document.canonical:
        document.errors += _duplicates(data)
    _take_apart(top, document)
    return document


def _is_canonical(top: object, data: bytes) -> bool:
    try:
        return canonical_bytes(top) == data
    except orjson.JSONEncodeError:  # deeper than orjson writes
        return False


def _take_apart(top: object, document: Document) -> None:
    if not isinstance(top, dict):
        document.errors.append(Finding("", f"{shown(top)} is not a catalog; write an object with a schema"))
        return
    if "schema" not in top:
        document.errors.append(Finding("schema", f"is missing; add {shown(SCHEMA)}"))
    elif top["schema"] != SCHEMA:
        document.errors.append(Finding("schema", f"{shown(top['schema'])} is unknown; use {shown(SCHEMA)}"))
    for name in top:
        if name not in ("schema", *_SECTIONS):
            meant = near_misses(name, _SECTIONS)
            advice = f"did you mean {shown(meant[0])}?" if meant else "remove it"
            document.errors.append(Finding(shown_name(name), f"is not a field of a catalog; {advice}"))
    for section in _SECTIONS:
        entries = top.get(section)
        if section not in top:
            document.errors.append(Finding(section, "is missing; add an object of entries by id"))
        elif not isinstance(entries, dict):
            document.errors.append(Finding(section, f"{shown(entries)} does not fit; write an object of entries by id"))
        else:
            _take_section(section, entries, document)


def _take_section(section: str, entries: dict[str, object], document: Document) -> None:
    for name in sorted(entries):
        if _ID.fullmatch(name):
            document.entries[section][name] = entries[name]
        else:
            document.errors.append(
                Finding(
                    f"{section}.{shown_name(name)}",
                    "is not an id; use at most 64 lower-case letters, digits, '.' and '-', a letter or digit first",
                )
            )


class _Pairs(dict[str, Any]):
    """An object that remembers which of its keys came twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.twice = sorted(name for name, count in counts.items() if count > 1)


def _duplicates(data: bytes) -> list[Finding]:
    try:
        top = json.loads(data, object_pairs_hook=_Pairs)
    except (RecursionError, ValueError):  # deeper, or longer numbers, than the standard reader takes
        return [Finding("", "cannot be searched for duplicate keys: nested too deeply, or a number is too long")]
    found: list[Finding] = []
    _walk(top, "", found)
    return found


def _walk(value: object, path: str, found: list[Finding]) -> None:
    if isinstance(value, _Pairs):
        for name in value.twice:
            found.append(Finding(_join(path, name), "is given twice; keep one of them"))
        for name, part in value.items():
            _walk(part, _join(path, name), found)
    elif isinstance(value, list):
        for index, part in enumerate(value):
            _walk(part, f"{path}[{index}]", found)


def _join(path: str, name: str) -> str:
    return f"{path}.{shown_name(name)}" if path else shown_name(name)
