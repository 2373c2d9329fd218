"""Host memory as the kernel tells it: how much there is, its NUMA nodes, and what this process may have of it.

Sources: Linux `Documentation/ABI/stable/sysfs-devices-node`, `admin-guide/mm/numaperf.rst` (firmware figures) and
`admin-guide/cgroup-v2.rst` (limits).
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from harness.catalog.figures import MAX_CAPACITY_BYTES
from harness.probing.readings import UNKNOWN, Node, Readings
from harness.probing.tree import Tree, parse_list

_NODES = "sys/devices/system/node"
_CPUS = "sys/devices/system/cpu"
_MOST_LATENCY_NS = 10**6
_MOST_MB_S = 10**8


def read_host(tree: Tree) -> Readings:
    """The memory part of a probe's readings."""
    notes: list[str] = []
    meminfo = tree.text("proc/meminfo") or ""
    total_bytes = _kilobytes(meminfo, "MemTotal")
    if not total_bytes:
        notes.append("proc/meminfo: gives no MemTotal")
    nodes = _read_nodes(tree, notes)
    if not nodes and total_bytes:
        notes.append("the kernel shows no NUMA nodes: all memory is taken as one node")
        cpus = tree.listed(f"{_CPUS}/online")
        nodes = (Node(0, cpus or (), total_bytes=total_bytes, free_bytes=_kilobytes(meminfo, "MemFree")),)
    return Readings(
        total_bytes=total_bytes,
        available_bytes=_kilobytes(meminfo, "MemAvailable"),
        limit_bytes=_memory_limit(tree),
        nodes=nodes,
        allowed_nodes=_allowed_nodes(tree),
        notes=tuple(notes),
    )


def _kilobytes(text: str, field: str) -> int:
    """The bytes of a `field: N kB` line; 0 where there is none or it is no size of a memory."""
    match = re.search(rf"\b{field}:\s+(\d{{1,16}}) kB$", text, re.ASCII | re.MULTILINE)
    size_bytes = int(match[1]) * 1024 if match else 0
    return size_bytes if size_bytes <= MAX_CAPACITY_BYTES else 0


def _read_nodes(tree: Tree, notes: list[str]) -> tuple[Node, ...]:
    found = (re.fullmatch(r"node(\d{1,4})", name, re.ASCII) for name in tree.names(_NODES))
    return tuple(_read_node(tree, index, notes) for index in sorted(int(match[1]) for match in found if match))


def _read_node(tree: Tree, index: int, notes: list[str]) -> Node:
    where = f"{_NODES}/node{index}"
    cpus = tree.listed(f"{where}/cpulist")
    if cpus is None:
        notes.append(f"node{index}/cpulist: cannot be read as a list of CPUs")
    meminfo = tree.text(f"{where}/meminfo") or ""
    if "MemTotal: " not in meminfo:
        notes.append(f"node{index}/meminfo: gives no MemTotal")
    distances = (tree.text(f"{where}/distance") or "").split()
    if not distances or not all(re.fullmatch(r"\d{1,3}", part, re.ASCII) for part in distances):
        notes.append(f"node{index}/distance: cannot be read as a list of distances")
        distances = []
    initiators, latency_ns, mb_s = _firmware_figures(tree, where)
    return Node(
        index=index,
        cpus=cpus,
        socket=_socket(tree, cpus or ()),
        total_bytes=_kilobytes(meminfo, "MemTotal"),
        free_bytes=_kilobytes(meminfo, "MemFree"),
        distances=tuple(int(part) for part in distances),
        initiators=initiators,
        firmware_latency_ns=latency_ns,
        firmware_mb_s=mb_s,
    )


def _socket(tree: Tree, cpus: tuple[int, ...]) -> int:
    """The package of the first CPU that tells; a CPU that is offline does not."""
    for cpu in cpus:
        package = tree.number(f"{_CPUS}/cpu{cpu}/topology/physical_package_id")
        if package is not None and package >= 0:
            return package
    return UNKNOWN


def _firmware_figures(tree: Tree, where: str) -> tuple[tuple[int, ...], int, int]:
    """Initiators, read latency and read bandwidth from the firmware's attribute table (HMAT), where it has one.

    Access class 1 knows CPUs only; class 0, all there is on older kernels, may be about another device.
    """
    for access in ("access1", "access0"):
        folder = f"{where}/{access}/initiators"
        latency_ns = tree.number(f"{folder}/read_latency") or 0
        mb_s = tree.number(f"{folder}/read_bandwidth") or 0
        if 0 < latency_ns <= _MOST_LATENCY_NS and 0 < mb_s <= _MOST_MB_S:
            linked = (re.fullmatch(r"node(\d{1,4})", name, re.ASCII) for name in tree.names(folder))
            return tuple(sorted(int(match[1]) for match in linked if match)), latency_ns, mb_s
    return (), 0, 0


def _allowed_nodes(tree: Tree) -> tuple[int, ...] | None:
    match = re.search(r"^Mems_allowed_list:\s*(\S+)$", tree.text("proc/self/status") or "", re.MULTILINE)
    return parse_list(match[1]) if match else None


def _memory_limit(tree: Tree) -> int:
    """The narrowest memory limit of this process's control groups and of all above them; 0 where there is none."""
    limits: list[int] = []
    for line in (tree.text("proc/self/cgroup") or "").splitlines():
        hierarchy, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if hierarchy == "0":
            places, file = ["sys/fs/cgroup", "sys/fs/cgroup/unified"], "memory.max"
        elif "memory" in controllers.split(","):
            places, file = ["sys/fs/cgroup/memory"], "memory.limit_in_bytes"
        else:
            continue
        # A path outside the container's own view begins with `..`; what is mounted is then the nearest known group.
        group = PurePosixPath("/" if ".." in path else path)
        for above in (group, *group.parents):
            for place in places:
                limit = tree.number(f"{place}/{str(above).strip('/')}/{file}")
                if limit is not None and 0 < limit <= MAX_CAPACITY_BYTES:
                    limits.append(limit)
    return min(limits, default=0)
