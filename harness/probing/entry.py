"""A probed ladder as a catalog of one machine, checked as any catalog is, ready to be copied into a pull request."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from harness.catalog.canonical import canonical_bytes
from harness.catalog.checking import check
from harness.catalog.document import SCHEMA, read_document
from harness.catalog.figures import MegabytesPerSecond
from harness.catalog.findings import Finding
from harness.catalog.lookup import read_catalog_bytes
from harness.catalog.machine import Link, Machine, TierName, Tiers
from harness.probing.errors import ProbeError
from harness.probing.ladder import Ladder
from harness.probing.readings import Readings

DEFAULT_ID = "probed"
_MOST_NAMES = 3


@dataclass(frozen=True, slots=True)
class Entry:
    """A machine, the bytes of a catalog that has only it, and what deserves a second look in it."""

    machine: Machine
    data: bytes
    warnings: list[Finding]


def check_name(name: str) -> None:
    """Raises `ProbeError` where `name` cannot be the id of a machine."""
    skeleton = canonical_bytes({"schema": SCHEMA, "machines": {name: {}}, "models": {}})
    for error in read_document(skeleton).errors:
        raise ProbeError(f"--id {error.path.removeprefix('machines.')}: {error.message}")


def check_target(path: Path, name: str) -> None:
    """Raises `ProbeError` where `path` cannot be, or is a catalog whose other entries one machine would replace."""
    if not path.parent.is_dir():
        raise ProbeError(f"--out {path}: its directory does not exist; choose another place")
    if not path.is_file():
        return
    entries = read_document(read_catalog_bytes(path)).entries
    others = sorted(entries["machines"].keys() - {name}) + sorted(entries["models"])
    if others:
        raise ProbeError(
            f"--out {path}: is a catalog with other entries ({', '.join(others[:_MOST_NAMES])}) that would be lost;"
            " name a new file and copy the machine over"
        )


def machine_of(readings: Readings, ladder: Ladder, title: str) -> Machine:
    """The machine. All GPUs together are its one `hbm`: no probe sees the compute rates that each alone would need."""
    return Machine(
        title=title or _title(readings, ladder),
        tiers=Tiers(**ladder.tiers),
        links=_links(readings, ladder),
        note=(
            "Made by fakbench probe. It lists tiers only: hbm is all GPUs together, for one engine over all of them,"
            " and what weights take is not subtracted (--capacity hbm=SIZE says what is left for KV)."
        ),
    )


def build_entry(name: str, machine: Machine) -> Entry:
    """The catalog. Raises `ProbeError` with the first reason why it would not be valid."""
    data = canonical_bytes({"schema": SCHEMA, "machines": {name: msgspec.to_builtins(machine)}, "models": {}})
    checked = check(data)
    for error in checked.errors_and_form():
        raise ProbeError(f"the entry would not be valid: {error}")
    return Entry(machine, data, checked.warnings)


def _title(readings: Readings, ladder: Ladder) -> str:
    names = [gpu.name for gpu in readings.gpus.proven]
    kinds = [f"{names.count(name)} x {name}" for name in dict.fromkeys(names)]
    nodes = sum(1 for node in readings.nodes if node.total_bytes)
    words = [*(kinds or ["GPU assumed"]), f"{nodes} NUMA node{'s' if nodes != 1 else ''}", "/".join(ladder.tiers)]
    return f"Probed: {', '.join(words)}"[:200]


def _links(readings: Readings, ladder: Ladder) -> tuple[Link, ...]:
    """The GPUs' PCIe slots, where they are known and narrower than a tier that they join."""
    gpus = readings.gpus.proven
    if not gpus or any(gpu.coherent_link or not gpu.pcie_mb_s for gpu in gpus):
        return ()
    theoretical = sum(gpu.pcie_mb_s for gpu in gpus)
    width = MegabytesPerSecond(
        value=theoretical * 25 // 32,
        kind="derived",
        source="PCIe generation and lanes of each GPU as NVML gives them, times 25/32",
        note=f"{theoretical:,} theoretical; 25/32 is what the catalog's PCIe 4 and 5 links reach (50,000 of 64,000).",
    )
    hbm_mb_s = ladder.tiers["hbm"].bandwidth_mb_s.value
    names: tuple[TierName, ...] = ("dram", "numa_far", "cxl")
    return tuple(
        Link(a="hbm", b=name, a_to_b_mb_s=width, b_to_a_mb_s=width, per_accelerator=False)
        for name in names
        if name in ladder.tiers and width.value < max(hbm_mb_s, ladder.tiers[name].bandwidth_mb_s.value)
    )
