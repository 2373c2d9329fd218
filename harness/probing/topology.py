"""Which tier each NUMA node is: the home socket's memory is DRAM, other sockets' NUMA-far, CPU-less nodes CXL.

Source: the original plane's far-memory probe. A node whose place cannot be read is no tier at all: prove it or drop it.
The home socket is the first GPU's where its slot says so, otherwise that of the lowest node with CPUs and memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from harness.probing.readings import UNKNOWN, Node, Readings
from policy.tiers import CXL, DRAM, NUMA_FAR

HOST_TIERS = (DRAM, NUMA_FAR, CXL)


@dataclass(slots=True)
class Topology:
    """The nodes of each host tier by tier code, and for every other node why it is in none."""

    nodes: dict[int, list[Node]] = field(default_factory=lambda: {tier: [] for tier in HOST_TIERS})
    unproven: list[tuple[int, str]] = field(default_factory=list)
    home_socket: int = UNKNOWN
    home_cpus: tuple[int, ...] = ()


def classify(readings: Readings) -> Topology:
    """The tier of every node."""
    topology = Topology()
    gpu_nodes = {gpu.own_node for gpu in readings.gpus.proven}
    usable: list[Node] = []
    for node in readings.nodes:
        if why := _why_unusable(node, readings, gpu_nodes):
            topology.unproven.append((node.index, why))
        else:
            usable.append(node)
    home = _home(usable, readings)
    if home is None:
        _without_home(usable, readings.nodes, topology)
        return topology
    topology.home_socket = home.socket
    for node in usable:
        tier, why = _place(node, home)
        if tier is None:
            topology.unproven.append((node.index, why))
        else:
            topology.nodes[tier].append(node)
    topology.home_cpus = _cpus_of(readings.nodes, home)
    return topology


def _why_unusable(node: Node, readings: Readings, gpu_nodes: set[int]) -> str:
    if node.index in gpu_nodes:
        return "is the memory of a GPU"
    if not node.total_bytes:
        return "has no memory that can be read"
    if node.cpus is None:
        return "does not tell whether it has CPUs"
    if readings.allowed_nodes is not None and node.index not in readings.allowed_nodes:
        return "may not be used by this process (its CPU set leaves it out)"
    return ""


def _home(usable: Sequence[Node], readings: Readings) -> Node | None:
    with_cpus = [node for node in usable if node.cpus]
    slots = {gpu.near_node for gpu in readings.gpus.proven[:1]}
    for near in (node for node in readings.nodes if node.index in slots):
        for node in with_cpus:
            if node.index == near.index or node.socket == near.socket != UNKNOWN:
                return node
    return with_cpus[0] if with_cpus else None


def _place(node: Node, home: Node) -> tuple[int | None, str]:
    if not node.cpus:
        return CXL, ""
    if node.index == home.index:
        return DRAM, ""
    if UNKNOWN in (node.socket, home.socket):
        return None, f"does not tell whether its socket is that of node {home.index}"
    return (DRAM if node.socket == home.socket else NUMA_FAR), ""


def _without_home(usable: list[Node], nodes: Sequence[Node], topology: Topology) -> None:
    """Some virtual machines keep CPUs and memory on different nodes: one such node is DRAM, several are a riddle."""
    if len(usable) == 1:
        topology.nodes[DRAM] = usable
        topology.home_cpus = tuple(cpu for node in nodes for cpu in node.cpus or ())
        return
    topology.unproven += [(node.index, "has no CPUs, and no other node has both CPUs and memory") for node in usable]


def _cpus_of(nodes: Sequence[Node], home: Node) -> tuple[int, ...]:
    """The CPUs of the home socket, those of nodes without memory too."""
    same = [node for node in nodes if node.index == home.index or (node.socket == home.socket != UNKNOWN)]
    return tuple(cpu for node in same for cpu in node.cpus or ())
