"""Latency and bandwidth of a proven tier: measured, the firmware's, derived, or its default and then assumed."""

from __future__ import annotations

from harness.catalog.figures import Kind, MegabytesPerSecond, Nanoseconds
from harness.probing.given import Given
from harness.probing.measure import Measured
from harness.probing.readings import Node, Readings, listed
from harness.probing.topology import Topology
from policy.profiles import TierProfile
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR

_DEFAULT = "the default profile of this tier, as in the catalog's machine reference"
_FIRMWARE = "the firmware's memory attribute table (HMAT) of node {}, as seen from the home socket"
_NO_LATENCY = "No load latency can be measured from Python."
_ACROSS_PCIE = "A load from a CPU; a copy to a GPU across PCIe has about 9,000 ns of its own."


def latency_of(default: TierProfile, topology: Topology, measured: Measured) -> Nanoseconds:
    """The read latency of a tier."""
    tier = default.tier
    if tier in measured.latency:
        return measured.latency[tier]
    if nodes := _told_by_firmware(tier, topology):
        slowest = max(nodes, key=lambda node: node.firmware_latency_ns)
        return Nanoseconds(
            value=slowest.firmware_latency_ns,
            kind="datasheet",
            source=_FIRMWARE.format(slowest.index),
            note=_ACROSS_PCIE,
        )
    why = {
        HBM: "A GPU's latency cannot be read from the host.",
        DISK: _not_measured(tier, measured),
        DRAM: f"{_NO_LATENCY} {_ACROSS_PCIE}",
        NUMA_FAR: f"{_NO_LATENCY} {_ACROSS_PCIE}",
        CXL: f"{_NO_LATENCY} {_ACROSS_PCIE}",
    }
    return Nanoseconds(value=default.read_latency_ns, kind="assumed", source=_DEFAULT, note=why[tier])


def bandwidth_of(
    default: TierProfile, readings: Readings, topology: Topology, measured: Measured, given: Given
) -> MegabytesPerSecond:
    """The read bandwidth of a tier."""
    tier = default.tier
    if tier == HBM:
        return _hbm_bandwidth(default.bandwidth_mb_s, readings, given)
    if tier in measured.bandwidth:
        return measured.bandwidth[tier]
    if nodes := _told_by_firmware(tier, topology):
        kind: Kind = "datasheet" if len(nodes) == 1 else "derived"
        together = "" if len(nodes) == 1 else "; the sum of these nodes"
        return MegabytesPerSecond(
            value=sum(node.firmware_mb_s for node in nodes),
            kind=kind,
            source=_FIRMWARE.format(listed(node.index for node in nodes)) + together,
            note=_not_measured(tier, measured),
        )
    return MegabytesPerSecond(
        value=default.bandwidth_mb_s, kind="assumed", source=_DEFAULT, note=_not_measured(tier, measured)
    )


def _not_measured(tier: int, measured: Measured) -> str:
    return f"Not measured: {measured.missing.get(tier, 'give --measure')}."


def _hbm_bandwidth(default_mb_s: int, readings: Readings, given: Given) -> MegabytesPerSecond:
    gpus = readings.gpus.proven
    if given.hbm_mb_s:
        return MegabytesPerSecond(value=given.hbm_mb_s, kind="assumed", source="given to the probe: --hbm-mb-s")
    if all(gpu.memory_mb_s for gpu in gpus):
        theoretical = sum(gpu.memory_mb_s for gpu in gpus)
        return MegabytesPerSecond(
            value=theoretical * 8 // 10,
            kind="derived",
            source="0.8 of memory clock x bus width x 2 as NVML gives them; 0.8 is the part that the catalog takes",
            note=f"{theoretical:,} theoretical.",
        )
    return MegabytesPerSecond(
        value=default_mb_s * len(gpus),
        kind="assumed",
        source=f"{_DEFAULT}, for each GPU",
        note="NVML does not tell the clock and the width of the memory bus.",
    )


def _told_by_firmware(tier: int, topology: Topology) -> list[Node]:
    """The nodes of a tier where the firmware knows them all as seen from home; it speaks of its initiators only."""
    nodes = topology.nodes.get(tier, [])
    home = {node.index for node in topology.nodes[DRAM]}
    return nodes if all(node.firmware_mb_s and home.intersection(node.initiators) for node in nodes) else []
