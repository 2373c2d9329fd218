"""From readings to tiers: what is proven becomes a tier of the catalog, what is not is dropped with the reason.

Source: the original plane's probed profiles (`policy.probe`), here without the two tiers that it claims unmeasured.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.catalog.figures import MAX_CAPACITY_BYTES, CapacityBytes
from harness.catalog.machine import Share, Tier
from harness.catalog.magnitude import GIBIBYTE
from harness.probing.given import Given
from harness.probing.measure import Measured
from harness.probing.rates import bandwidth_of, latency_of
from harness.probing.readings import Readings, listed
from harness.probing.spill import IN_MEMORY, OVER_NETWORK
from harness.probing.topology import HOST_TIERS, Topology
from harness.units import size
from policy.probe import CapacityProbe, probed_profiles
from policy.tiers import CXL, DISK, DRAM, HBM, LADDER, NUMA_FAR, REMOTE

_SHARES: dict[str, Share] = {"": "", "mmap": "mmap", "cxl_hdm": "cxl_hdm", "rdma": "rdma", "dmabuf": "dmabuf"}
_ABSENT = {
    DRAM: "no node that can be read has both CPUs and memory",
    NUMA_FAR: "no other socket's memory is proven",
    CXL: "no node with memory and without CPUs is proven",
}


@dataclass(slots=True)
class Ladder:
    """The tiers that are proven and why the others are not, by name, hot to cold."""

    tiers: dict[str, Tier] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Capacities:
    """Capacities by tier code, and for the other tiers why there is none."""

    proven: dict[int, CapacityBytes] = field(default_factory=dict)
    dropped: dict[int, str] = field(default_factory=dict)

    def add(self, tier: int, capacity: CapacityBytes) -> None:
        """Take a capacity that the catalog would take: not so small that it looks like gigabytes."""
        if capacity.value >= GIBIBYTE.least:
            self.proven[tier] = capacity
        else:
            what = f"{size(capacity.value)} ({capacity.source})"
            self.dropped[tier] = f"{what} is less than the 1 GiB that a tier of the catalog has at least"

    def bytes_of(self, tier: int) -> int:
        """The capacity of a tier; 0 where it has none."""
        return self.proven[tier].value if tier in self.proven else 0


def build_ladder(readings: Readings, topology: Topology, measured: Measured, given: Given) -> Ladder:
    """The ladder of a machine."""
    capacities = _Capacities()
    _add_hbm(readings, given, capacities)
    _add_host(readings, topology, capacities)
    _add_disk(readings, capacities)
    capacities.dropped[REMOTE] = "a probe of one machine cannot see it"
    probe = CapacityProbe(
        hbm_bytes=capacities.bytes_of(HBM),
        hbm_present=HBM in capacities.proven,
        dram_bytes=capacities.bytes_of(DRAM),
        disk_bytes=capacities.bytes_of(DISK),
        numa_far_bytes=capacities.bytes_of(NUMA_FAR),
        numa_far_present=NUMA_FAR in capacities.proven,
        cxl_bytes=capacities.bytes_of(CXL),
        cxl_present=CXL in capacities.proven,
    )
    ladder = Ladder(dropped={LADDER[tier]: why for tier, why in sorted(capacities.dropped.items())})
    for tier, profile in probed_profiles(probe, drop_unmeasured=True).items():
        ladder.tiers[LADDER[tier]] = Tier(
            read_latency_ns=latency_of(profile, topology, measured),
            bandwidth_mb_s=bandwidth_of(profile, readings, topology, measured, given),
            capacity_bytes=capacities.proven[tier],
            byte_addressable=profile.byte_addressable,
            coherent=profile.coherent,
            persistent=profile.persistent,
            share=_SHARES[profile.share],
            note=_note(tier, readings),
        )
    return ladder


def _add_hbm(readings: Readings, given: Given, capacities: _Capacities) -> None:
    gpus = readings.gpus.proven
    if given.hbm_bytes:
        assumed = CapacityBytes(value=given.hbm_bytes, kind="assumed", source="given to the probe: --hbm-bytes")
        capacities.add(HBM, assumed)
    elif gpus:
        each = [gpu.memory_bytes for gpu in gpus]
        counted = [f"{each.count(one)} x {one}" for one in dict.fromkeys(each)]
        memory = CapacityBytes(
            value=sum(each),
            kind="measured",
            source=f"the memory of {', '.join(counted)} bytes of GPUs, from NVML"[:400],
        )
        capacities.add(HBM, memory)
    else:
        capacities.dropped[HBM] = f"no GPU is proven: {readings.gpus.why_not}"


def _add_host(readings: Readings, topology: Topology, capacities: _Capacities) -> None:
    """Host memory; where this process is limited, hotter tiers have the limit first."""
    left_bytes = readings.limit_bytes
    for tier in HOST_TIERS:
        nodes = topology.nodes[tier]
        if not nodes:
            capacities.dropped[tier] = _ABSENT[tier]
            continue
        total_bytes = sum(node.total_bytes for node in nodes)
        whose = f"NUMA node{'s' if len(nodes) > 1 else ''} {listed(node.index for node in nodes)}"
        if readings.limit_bytes and total_bytes > left_bytes:
            capacity = CapacityBytes(
                value=left_bytes,
                kind="derived",
                source="the memory limit of this process's control group, less what hotter tiers take of it",
                note=f"MemTotal of {whose} is {total_bytes}.",
            )
        else:
            capacity = CapacityBytes(
                value=total_bytes, kind="measured", source=f"MemTotal of {whose}, as the kernel gives it"
            )
        left_bytes -= min(left_bytes, capacity.value)
        capacities.add(tier, capacity)


def _add_disk(readings: Readings, capacities: _Capacities) -> None:
    spill = readings.spill
    if spill is None:
        capacities.dropped[DISK] = "no spill directory is named; give --spill DIR"
    elif spill.kind in IN_MEMORY:
        capacities.dropped[DISK] = f"the spill directory is in memory ({spill.kind}), counted already; name another"
    elif spill.free_bytes > MAX_CAPACITY_BYTES:
        # Network file systems without a quota claim exabytes; that is no reading.
        capacities.dropped[DISK] = f"the spill directory claims {spill.free_bytes} free bytes, which is no reading"
    else:
        source = "free space of the spill directory's file system (statvfs), for an unprivileged user"
        capacities.add(DISK, CapacityBytes(value=spill.free_bytes, kind="measured", source=source))


def _note(tier: int, readings: Readings) -> str:
    if tier == CXL:
        return "Nodes without CPUs: persistent memory and on-package memory look the same as a CXL expander."
    if tier == DISK and readings.spill is not None and readings.spill.kind in OVER_NETWORK:
        return f"Mounted over a network ({readings.spill.kind}): rather a remote tier than a disk."
    return ""
