"""Figures in the wrong unit: gigabytes where bytes are asked for, dollars for micro-dollars, per cent for ppm.

Each row is a floor below which a value of its kind is almost surely a slip. Zero is not judged here: where zero makes
sense it means unbounded or free, and where it does not its own check says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.catalog.figures import Figure
from harness.catalog.findings import Finding


class Floor(NamedTuple):
    """The least plausible value, the unit a smaller one looks like, and how to write it right."""

    least: int
    looks_like: str
    write: str


GIBIBYTE = Floor(2**30, "gigabytes, not bytes", "write bytes: 80 GB is 80000000000")
MEGABYTES = Floor(2**20, "gigabytes, not bytes", "write bytes: 3 GB is 3000000000")
WEIGHTS = Floor(10**8, "gigabytes, not bytes", "write bytes: 16 GB is 16000000000")
WEAR = Floor(10**12, "terabytes, not bytes", "write bytes: 1 TB is 1000000000000")
MEMORY_RATE = Floor(10_000, "GB/s, not MB/s", "write MB/s: 3350 GB/s is 3350000")
GFLOPS = Floor(3_000, "TFLOP/s, not GFLOP/s", "write GFLOP/s: 989 TFLOP/s is 989000")
PARTS = Floor(1_000, "per cent, not parts per million", "write ppm: 50 % is 500000")
PARAMS = Floor(10**6, "billions, not parameters", "write parameters: 8 billion is 8000000000")
USD_PER_HOUR = Floor(10_000, "dollars, not micro-dollars", "write micro-dollars: 1 USD is 1000000")
USD_PER_GB = Floor(1_000, "dollars, not micro-dollars", "write micro-dollars: 1 USD is 1000000")


def too_small(figure: Figure, path: str, floor: Floor) -> Iterator[Finding]:
    """A finding where the figure is positive and below the floor."""
    if 0 < figure.value < floor.least:
        yield Finding(f"{path}.value", f"{figure.value} looks like {floor.looks_like}; {floor.write}")
