"""Trees of /sys and /proc as the kernel of other machines shows them: what a probe reads of them, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GIB_KB = 2**20


@dataclass(frozen=True)
class Box:
    """One node of a tree: its CPUs as the kernel lists them, their socket, its memory, its row of distances."""

    cpus: str
    socket: int
    memory_gib: int
    distances: str
    firmware: tuple[int, int] = (0, 0)
    initiators: tuple[int, ...] = ()


def put(root: Path, name: str, text: str) -> None:
    """Write one file of a tree."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def tree_of(root: Path, *boxes: Box) -> Path:
    """The tree of a machine with these nodes."""
    total = sum(box.memory_gib for box in boxes) * GIB_KB
    put(
        root, "proc/meminfo", f"MemTotal: {total:>14} kB\nMemFree: {total // 2:>14} kB\nMemAvailable: {total // 2} kB\n"
    )
    for index, box in enumerate(boxes):
        node = f"sys/devices/system/node/node{index}"
        kilobytes = box.memory_gib * GIB_KB
        put(root, f"{node}/cpulist", f"{box.cpus}\n")
        put(root, f"{node}/distance", f"{box.distances}\n")
        lines = [f"Node {index} {field}: {value:>14} kB" for field, value in _meminfo(kilobytes)]
        put(root, f"{node}/meminfo", "\n".join(lines) + "\n")
        if box.firmware != (0, 0):
            for name, value in zip(("read_latency", "read_bandwidth"), box.firmware, strict=True):
                put(root, f"{node}/access1/initiators/{name}", f"{value}\n")
            for initiator in box.initiators:
                put(root, f"{node}/access1/initiators/node{initiator}", "")
        for cpu in _cpus(box.cpus):
            put(root, f"sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id", f"{box.socket}\n")
    return root


def _meminfo(kilobytes: int) -> list[tuple[str, int]]:
    return [("MemTotal", kilobytes), ("MemFree", kilobytes // 2), ("MemUsed", kilobytes // 2)]


def _cpus(listed: str) -> list[int]:
    ranges = [part.split("-") for part in listed.split(",") if part]
    return [cpu for ends in ranges for cpu in range(int(ends[0]), int(ends[-1]) + 1)]


def two_sockets(root: Path) -> Path:
    """Two sockets, a node each."""
    return tree_of(root, Box("0-3,8-11", 0, 256, "10 21"), Box("4-7,12-15", 1, 256, "21 10"))


def expander(root: Path) -> Path:
    """One socket, and a memory-only node with figures of the firmware: a CXL expander."""
    return tree_of(
        root,
        Box("0-7", 0, 128, "10 14", firmware=(95, 240_000), initiators=(0,)),
        Box("", 0, 512, "14 10", firmware=(230, 56_000), initiators=(0,)),
    )


def four_nodes(root: Path) -> Path:
    """Two sockets, each split into two nodes (sub-NUMA clustering)."""
    return tree_of(
        root,
        Box("0-1", 0, 64, "10 12 21 21"),
        Box("2-3", 0, 64, "12 10 21 21"),
        Box("4-5", 1, 64, "21 21 10 12"),
        Box("6-7", 1, 32, "21 21 12 10"),
    )


def one_socket_in_four(root: Path) -> Path:
    """One socket, split into four nodes."""
    rows = ("10 12 12 12", "12 10 12 12", "12 12 10 12", "12 12 12 10")
    return tree_of(root, *(Box(str(index), 0, 48, row) for index, row in enumerate(rows)))


def no_numa(root: Path) -> Path:
    """A kernel built without NUMA: no node at all."""
    put(root, "proc/meminfo", "MemTotal:       16777216 kB\nMemFree:         8388608 kB\nMemAvailable:   12582912 kB\n")
    put(root, "sys/devices/system/cpu/online", "0-3\n")
    return root
