"""Every figure of an entry with its path, in declared order: to show them, and to check that each has a source."""

from __future__ import annotations

from collections.abc import Iterator

from harness.catalog.figures import Figure, Record


def figures_of(entry: Record, path: str = "") -> Iterator[tuple[str, Figure]]:
    """The figures of a machine or model, each with its path inside the entry. Links are named by their ends."""
    for name in entry.__struct_fields__:
        yield from _figures(getattr(entry, name), f"{path}.{name}" if path else name)


def _figures(value: object, path: str) -> Iterator[tuple[str, Figure]]:
    if isinstance(value, Figure):
        yield path, value
    elif isinstance(value, Record):
        yield from figures_of(value, path)
    elif isinstance(value, tuple):
        for part in value:
            yield from _figures(part, f"{path}.{part.a}-{part.b}")
