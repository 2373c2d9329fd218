"""One probe from beginning to end: read, classify, measure where asked, conclude, and say it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.probing.bounds import Bounds, steady_clock
from harness.probing.entry import DEFAULT_ID, Entry, build_entry, check_name, check_target, machine_of
from harness.probing.errors import ProbeError
from harness.probing.given import Given
from harness.probing.gpus import read_gpus
from harness.probing.host import read_host
from harness.probing.ladder import Ladder, build_ladder
from harness.probing.measure import Measured, Measurer
from harness.probing.memory_speed import Hands
from harness.probing.placement import allowed_cpus
from harness.probing.readings import Gpus, Readings
from harness.probing.spill import read_spill
from harness.probing.topology import Topology, classify
from harness.probing.tree import Tree
from harness.probing.view import probe_view

OTHER_MACHINE = "the tree of another machine says nothing about its GPUs"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person asked of a probe, but for measuring."""

    spill: Path | None = None
    given: Given = field(default_factory=Given)
    name: str = DEFAULT_ID
    title: str = ""
    out: Path | None = None


@dataclass(frozen=True, slots=True)
class Probed:
    """What a probe says, and the entry where one can be made."""

    text: str
    entry: Entry | None


def read_machine(root: Path, spill: Path | None, nvml: Any, *, here: bool) -> Readings:
    """Everything that is read. `here` is false where `root` is another machine's tree, whose GPUs NVML cannot see."""
    tree = Tree(root)
    return dataclasses.replace(
        read_host(tree),
        gpus=read_gpus(nvml, tree) if here else Gpus(why_not=OTHER_MACHINE),
        spill=read_spill(spill, tree) if spill is not None else None,
    )


def measurer_of(root: Path, bounds: Bounds) -> Measurer:
    """What measures the machine that this runs on."""
    return Measurer(Tree(root), bounds, Hands(steady_clock), allowed_cpus())


def probe_machine(readings: Readings, asked: Asked, measurer: Measurer | None) -> Probed:
    """Conclude from readings. Raises `ProbeError`, before anything is measured, where what is asked for cannot be."""
    check_name(asked.name)
    if asked.out is not None:
        check_target(asked.out, asked.name)
    if not readings.gpus.proven and bool(asked.given.hbm_bytes) != bool(asked.given.hbm_mb_s):
        raise ProbeError("--hbm-bytes and --hbm-mb-s: one alone makes no tier where no GPU is proven; give both")
    topology = classify(readings)
    measured = Measured()
    concluded = _conclude(readings, topology, measured, asked)
    if measurer is not None:
        measured = measurer.measure(readings, topology, asked.spill)
        concluded = _conclude(readings, topology, measured, asked)
    ladder, entry = concluded
    bounds = measurer.bounds.words() if measurer is not None else ""
    return Probed(probe_view(readings, topology, ladder, measured, bounds, entry), entry)


def _conclude(readings: Readings, topology: Topology, measured: Measured, asked: Asked) -> tuple[Ladder, Entry | None]:
    """The ladder and the entry; a catalog has no machine without `hbm`."""
    ladder = build_ladder(readings, topology, measured, asked.given)
    if "hbm" in ladder.tiers:
        return ladder, build_entry(asked.name, machine_of(readings, ladder, asked.title))
    if asked.out is not None:
        raise ProbeError(
            f"--out {asked.out}: a machine of the catalog needs the tier hbm and there is none"
            f" ({ladder.dropped['hbm']}); give --hbm-bytes and --hbm-mb-s to assume one"
        )
    return ladder, None
