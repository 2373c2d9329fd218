"""What a recorder has counted at one moment: totals, the breakdown in a fixed order, and what overflowed.

Source: the original plane's recorder snapshot; decisions and occupancy are this project's.
"""

from __future__ import annotations

from dataclasses import dataclass

from harness.metrics.rules import RecorderRules


@dataclass(frozen=True, slots=True)
class BreakdownRow:
    """Events of one key. `from_tier` is empty where source tiers are not told apart."""

    direction: str
    outcome: str
    from_tier: str
    to_tier: str
    memory_class: str
    count: int
    bytes_moved: int
    tokens_moved: int


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """How often something was done to a span, and why; the reason is empty where nobody asked the planner."""

    action: str
    reason: str
    count: int


@dataclass(frozen=True, slots=True)
class OccupancyRow:
    """What a tier holds."""

    tier: str
    used_bytes: int


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The counts of one recorder under its rules.

    `rows` are in order of their labels, `decisions` in that of the planner's tables, `occupancy` from hot to cold.
    Totals count the events that overflowed too.
    """

    rules: RecorderRules
    events: int
    hits: int
    misses: int
    faults: int
    restore_miss: int
    restore_fault: int
    bytes_moved: int
    tokens_moved: int
    rows: tuple[BreakdownRow, ...]
    keys_capped: bool
    overflow_events: int
    overflow_bytes_moved: int
    overflow_tokens_moved: int
    decisions: tuple[DecisionRow, ...]
    occupancy: tuple[OccupancyRow, ...]
