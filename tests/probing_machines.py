"""Readings of machines under test, and what is concluded from them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from harness.probing.given import Given
from harness.probing.host import read_host
from harness.probing.ladder import Ladder, build_ladder
from harness.probing.measure import Measured
from harness.probing.probe import Asked, Probed, probe_machine
from harness.probing.readings import Gpu, Gpus, Readings, Spill
from harness.probing.topology import classify
from harness.probing.tree import Tree

GIB = 2**30
DISK = Spill(900 * GIB, "ext4")
ASSUMED = Given(80 * GIB, 3_350_000)
NO_GPU = Gpus(why_not="NVML lists no GPU")


def read(root: Path, *gpus: Gpu, spill: Spill | None = DISK, limit_bytes: int = 0) -> Readings:
    readings = read_host(Tree(root))
    return dataclasses.replace(
        readings, gpus=Gpus(gpus) if gpus else NO_GPU, spill=spill, limit_bytes=limit_bytes or readings.limit_bytes
    )


def ladder_of(readings: Readings, given: Given | None = None, measured: Measured | None = None) -> Ladder:
    return build_ladder(readings, classify(readings), measured or Measured(), given or Given())


def capacities(ladder: Ladder) -> dict[str, tuple[int, str]]:
    return {name: (tier.capacity_bytes.value, tier.capacity_bytes.kind) for name, tier in ladder.tiers.items()}


def probed(readings: Readings, asked: Asked) -> Probed:
    return probe_machine(readings, asked, None)
