"""A table as plain rows of text, whatever form it is printed in."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table. The first `left` columns are words, the others numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    left: int = 1
