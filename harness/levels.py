"""What isolation costs: the same trace replayed with none, then with one more of the chosen axes at a time.

An axis in which the requests do not differ separates nothing and has no level. The last level is the run itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.isolation import Isolated, isolate, separating_axes
from harness.ledger import Books
from harness.trace import Trace
from harness.verdict import ratio_ppm
from policy.decisions import COLD
from policy.identity import NOT_STATED

# Replays a trace under every arm; the text says which level it is, for whoever waits.
ReplayArms = Callable[[Trace, str], Mapping[str, Books]]


@dataclass(frozen=True, slots=True)
class Level:
    """One level: its axes, how many classes they make, and the books of every arm."""

    axes: tuple[str, ...]
    classes: int
    books: Mapping[str, Books]


def replay_levels(isolated: Isolated, books: Mapping[str, Books], replay: ReplayArms) -> list[Level]:
    """Every level up to the run, whose own `books` are the last; none where the run separates nothing."""
    if not isolated.separates:
        return []
    axes = separating_axes(isolated.source, isolated.axes)
    levels = []
    for count in range(len(axes)):
        coarser = isolate(isolated.source, axes[:count])
        replayed = replay(coarser.trace, f"isolation {count} of {len(axes)}")
        levels.append(Level(axes[:count], len(coarser.classes), replayed))
    return [*levels, Level(axes, len(isolated.classes), books)]


def isolation_section(isolated: Isolated, levels: list[Level]) -> dict[str, Any]:
    """The part of a report that says it."""
    return {
        "axes": list(isolated.axes),
        "identities": sum(identity != NOT_STATED for identity in isolated.source.identities),
        "classes": len(isolated.classes),
        "levels": [
            {
                "axes": list(level.axes),
                "classes": level.classes,
                "arms": {name: _figures(books) for name, books in level.books.items()},
            }
            for level in levels
        ],
    }


def _figures(books: Books) -> dict[str, int]:
    hit_tokens = sum(books.hit_tokens)
    return {
        "hit_tokens": hit_tokens,
        "hit_ppm": ratio_ppm(hit_tokens, books.input_tokens),
        "reprefilled_tokens": sum(books.computed_tokens) - books.computed_tokens[COLD],
        "cold_tokens": books.computed_tokens[COLD],
    }
