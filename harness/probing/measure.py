"""What a probe measures, tier by tier: host memory by copies, the spill directory by reads; and what it could not.

Every figure carries its method; every tier without one carries the reason. Nothing here is worth more than the
machine was idle: the best is to run it alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.catalog.figures import MegabytesPerSecond, Nanoseconds
from harness.probing.bounds import Bounds
from harness.probing.disk_speed import PIECE_BYTES, THREADS, measure_disk
from harness.probing.errors import NotMeasuredError
from harness.probing.memory_speed import MOST_THREADS, Hands, Reader, copy_mb_s
from harness.probing.readings import Node, Readings, listed
from harness.probing.spill import IN_MEMORY
from harness.probing.topology import HOST_TIERS, Topology
from harness.probing.tree import Tree, parse_list
from harness.units import size
from policy.tiers import DISK, TIER_NAMES

# Below this the copies would be served by the caches and say nothing about the memory behind them.
_TIMES_THE_CACHES = 4
_CACHE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}


@dataclass(slots=True)
class Measured:
    """Figures by tier code, why there is none for others, and a line for each node measured on its own."""

    bandwidth: dict[int, MegabytesPerSecond] = field(default_factory=dict)
    latency: dict[int, Nanoseconds] = field(default_factory=dict)
    missing: dict[int, str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Measurer:
    """Measures one machine, the one it runs on: `tree` is that machine's, `cpus` are those that may be used."""

    tree: Tree
    bounds: Bounds
    hands: Hands
    cpus: frozenset[int]

    def measure(self, readings: Readings, topology: Topology, spill: Path | None) -> Measured:
        """Everything that can be measured soundly within the bounds."""
        measured = Measured()
        for tier in HOST_TIERS:
            if topology.nodes[tier]:
                self._memory(tier, readings, topology, measured)
        if spill is not None and readings.spill is not None and readings.spill.kind not in IN_MEMORY:
            self._disk(spill, readings.spill.free_bytes, measured)
        return measured

    def _memory(self, tier: int, readings: Readings, topology: Topology, measured: Measured) -> None:
        nodes = topology.nodes[tier]
        try:
            if len(nodes) > 1:
                for node in nodes:
                    mb_s, threads = self._copy([node], readings, topology)
                    measured.lines.append(
                        f"node {node.index} ({TIER_NAMES[tier]}), copied by {_threads(threads)}: {mb_s:,} MB/s"
                    )
            mb_s, threads = self._copy(nodes, readings, topology)
        except NotMeasuredError as error:
            measured.missing[tier] = str(error)
            return
        measured.bandwidth[tier] = MegabytesPerSecond(
            value=mb_s,
            kind="measured",
            source=(
                f"fakbench probe --measure: copies inside node {listed(node.index for node in nodes)}"
                f" by {_threads(threads)} on the home socket,"
                f" {size(self.bounds.memory_bytes)} of buffers, {self.bounds.time_ns // 10**6:,} ms;"
                " read and written bytes counted, as STREAM does"
            ),
            note="A lower bound: what these CPUs reach, not what a device's own transfers reach.",
        )

    def _copy(self, nodes: Sequence[Node], readings: Readings, topology: Topology) -> tuple[int, int]:
        readers = self._readers(nodes, readings, topology)
        self._check_memory(readers, nodes, readings)
        memories = sum(1 for node in readings.nodes if node.total_bytes)
        verify = self.tree if memories > 1 else None
        bounds = self.bounds
        return copy_mb_s(readers, bounds.memory_bytes, bounds.time_ns, self.hands, verify), len(readers)

    def _readers(self, nodes: Sequence[Node], readings: Readings, topology: Topology) -> list[Reader]:
        """A reader for each CPU of the home socket: on its own node where that is one of `nodes`, else dealt out."""
        usable = [cpu for cpu in topology.home_cpus if cpu in self.cpus][:MOST_THREADS]
        if not usable:
            raise NotMeasuredError("this process may not run on the CPUs of the home socket")
        own = {cpu: node for node in nodes for cpu in node.cpus or ()}
        readers = []
        for position, cpu in enumerate(usable):
            node = own.get(cpu, nodes[position % len(nodes)])
            touching = [other for other in node.cpus or () if other in self.cpus]
            # Where there is one memory only, every CPU touches it.
            anywhere = cpu if len(readings.nodes) == 1 else None
            touch_cpu = cpu if cpu in touching else touching[0] if touching else anywhere
            readers.append(Reader(cpu, node.index, touch_cpu))
        return readers

    def _check_memory(self, readers: Sequence[Reader], nodes: Sequence[Node], readings: Readings) -> None:
        wanted = self.bounds.memory_bytes
        least = _TIMES_THE_CACHES * self._cache_bytes([reader.cpu for reader in readers])
        if wanted < least:
            raise NotMeasuredError(
                f"{size(wanted)} of buffers would be served by the CPU caches;"
                f" give --measure-memory {-(-least // 2**20)}MiB or more"
            )
        # A node filled to the brim, or a full control group, would get somebody killed.
        room = min(sum(node.free_bytes for node in nodes), readings.available_bytes)
        if readings.limit_bytes:
            room = min(room, readings.limit_bytes // 2)
        if wanted * 2 > room:
            raise NotMeasuredError(f"{size(wanted)} of buffers are more than half of the {size(room)} that are free")

    def _cache_bytes(self, cpus: Sequence[int]) -> int:
        """The last-level caches of `cpus` together, each counted once however many CPUs share it; 0 where unknown."""
        caches: dict[tuple[int, ...], int] = {}
        for cpu in cpus:
            folder = f"sys/devices/system/cpu/cpu{cpu}/cache"
            levels = {self.tree.number(f"{folder}/{name}/level") or 0: name for name in self.tree.names(folder)}
            if not levels:
                continue
            last = f"{folder}/{levels[max(levels)]}"
            match = re.fullmatch(r"(\d{1,9})([KMG])", self.tree.text(f"{last}/size") or "", re.ASCII)
            shared = parse_list(self.tree.text(f"{last}/shared_cpu_list") or "") or (cpu,)
            caches[shared] = int(match[1]) * _CACHE_UNITS[match[2]] if match else 0
        return sum(caches.values())

    def _disk(self, spill: Path, free_bytes: int, measured: Measured) -> None:
        bounds = self.bounds
        try:
            if bounds.disk_bytes * 2 > free_bytes:
                raise NotMeasuredError(f"{size(bounds.disk_bytes)} are more than half of what is free there")
            speed = measure_disk(spill, bounds.disk_bytes, bounds.time_ns, self.hands.clock)
            if not speed.mb_s:
                raise NotMeasuredError("it reads less than 1 MB/s")
        except NotMeasuredError as error:
            measured.missing[DISK] = str(error)
            return
        how = "direct I/O" if speed.direct else "without direct I/O"
        wrote = f"on a file of {size(speed.file_bytes)} just written, {how}"
        note = (
            "Caches of the drive or of a virtual machine's host may have answered."
            if speed.direct
            else "The file system refuses direct I/O: the page cache may have answered, so this is an upper bound."
        )
        measured.bandwidth[DISK] = MegabytesPerSecond(
            value=speed.mb_s,
            kind="measured",
            source=f"fakbench probe --measure: reads of {PIECE_BYTES // 2**20} MiB by {_threads(THREADS)} {wrote}",
            note=note,
        )
        measured.latency[DISK] = Nanoseconds(
            value=speed.latency_ns,
            kind="measured",
            source=f"fakbench probe --measure: median of {speed.reads:,} single reads of 4 KiB {wrote}",
            note=f"{note} About a microsecond of it is the interpreter's.",
        )


def _threads(count: int) -> str:
    return "1 thread" if count == 1 else f"{count} threads"
