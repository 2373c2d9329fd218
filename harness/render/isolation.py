"""What isolation costs and whom it refused, as columns and rows; no rows where it separates nothing."""

from __future__ import annotations

from typing import Any

from harness.units import percent

Rows = tuple[list[str], list[list[str]]]


def level_rows(report: dict[str, Any]) -> Rows:
    """A row for each level, what share of the input every arm hits."""
    columns = ["isolation", "classes", *(f"{name} hit" for name in report["arms"])]
    levels = report["isolation"]["levels"] if "isolation" in report else []
    return columns, [
        [
            f"+ {level['axes'][-1]}" if level["axes"] else "none",
            f"{level['classes']:,}",
            *(percent(arm["hit_ppm"]) for arm in level["arms"].values()),
        ]
        for level in levels
    ]


def refusal_rows(report: dict[str, Any]) -> Rows:
    """A row for each arm, the tokens by the gate's reason."""
    arms = {name: arm["tokens"]["cold_refused"] for name, arm in report["arms"].items()}
    reasons = [reason for reason in next(iter(arms.values())) if any(refused[reason] for refused in arms.values())]
    rows = [[name, *(f"{refused[reason]:,}" for reason in reasons)] for name, refused in arms.items()]
    return ["arm", *reasons], rows if reasons else []
