"""What a probe read of a machine, before anything is concluded from it: plain records, equal where readings are.

No host name, user name, path or serial number is among them, so nothing that is made from them can give one away.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

UNKNOWN = -1


@dataclass(frozen=True, slots=True)
class Node:
    """One NUMA node. `cpus` is None where the kernel's list could not be read, and empty where there are none.

    `distances` is to every node in order of index, in the firmware's unit (10 is local). `initiators` are the nodes
    for which the firmware's own figures hold; a figure of 0 is none.
    """

    index: int
    cpus: tuple[int, ...] | None
    socket: int = UNKNOWN
    total_bytes: int = 0
    free_bytes: int = 0
    distances: tuple[int, ...] = ()
    initiators: tuple[int, ...] = ()
    firmware_latency_ns: int = 0
    firmware_mb_s: int = 0


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU as NVML describes it. Rates are theoretical, in MB/s; 0 is unknown.

    `near_node` is the NUMA node that its slot belongs to, `own_node` the one that its memory is (C2C systems).
    """

    name: str
    memory_bytes: int
    memory_mb_s: int = 0
    pcie_mb_s: int = 0
    coherent_link: bool = False
    near_node: int = UNKNOWN
    own_node: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class Gpus:
    """The GPUs that are proven, and why there are no others."""

    proven: tuple[Gpu, ...] = ()
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class Spill:
    """The file system of the spill directory. `kind` is its type as mounted, "" where unknown."""

    free_bytes: int
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Readings:
    """Everything that was read. `limit_bytes` is what this process may use, 0 where nothing limits it.

    `allowed_nodes` are those it may allocate from, None where unknown. `notes` name what could not be read.
    """

    total_bytes: int = 0
    available_bytes: int = 0
    limit_bytes: int = 0
    nodes: tuple[Node, ...] = ()
    allowed_nodes: tuple[int, ...] | None = None
    gpus: Gpus = Gpus()
    spill: Spill | None = None
    notes: tuple[str, ...] = ()


def listed(indices: Iterable[int]) -> str:
    """Node indices as the kernel lists them: `0-3,8`."""
    parts: list[list[int]] = []
    for index in sorted(indices):
        if parts and index == parts[-1][1] + 1:
            parts[-1][1] = index
        else:
            parts.append([index, index])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)
