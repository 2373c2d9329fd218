"""A machine: accelerators, the tiers a KV span can live in, and the links that are narrower than the tiers they join.

The figures of `hbm` and of `accelerators` are for one accelerator; those of every other tier are for the whole node.
A link with `per_accelerator` gives its figures for one accelerator, any other link for the whole node.
"""

from __future__ import annotations

from typing import Literal, get_args

from harness.catalog.figures import (
    AcceleratorCount,
    Bytes,
    CapacityBytes,
    Gigaflops,
    MegabytesPerSecond,
    MemoryBytes,
    Nanoseconds,
    Note,
    PartsPerMillion,
    Record,
    Text,
    UsdMicros,
)
from policy.tiers import LADDER

Share = Literal["", "mmap", "cxl_hdm", "rdma", "dmabuf"]
SHARES: tuple[str, ...] = get_args(Share)
TierName = Literal["hbm", "dram", "numa_far", "cxl", "disk", "remote"]


class Tier(Record, frozen=True, kw_only=True):
    """A place a span can live: latency, bandwidth, capacity and what may be done with bytes there.

    `share` says how another process gets at them without a copy; "" is a copy.
    """

    read_latency_ns: Nanoseconds
    bandwidth_mb_s: MegabytesPerSecond
    capacity_bytes: CapacityBytes
    byte_addressable: bool
    coherent: bool
    persistent: bool
    share: Share
    note: Note = ""

    @property
    def attendable(self) -> bool:
        """Usable in place, without staging: byte-addressable and coherent."""
        return self.byte_addressable and self.coherent


class Tiers(Record, frozen=True, kw_only=True):
    """The tiers of a machine, by name; only `hbm` is required."""

    hbm: Tier
    dram: Tier | None = None
    numa_far: Tier | None = None
    cxl: Tier | None = None
    disk: Tier | None = None
    remote: Tier | None = None

    def present(self) -> list[tuple[str, Tier]]:
        """The tiers that exist, hot to cold."""
        every: list[tuple[str, Tier | None]] = [(name, getattr(self, name)) for name in LADDER]
        return [(name, tier) for name, tier in every if tier is not None]


class AcceleratorGroup(Record, frozen=True, kw_only=True):
    """The accelerators of a node, all alike. `mfu_ppm` is the part of the dense rate that a prefill reaches.

    `kv_memory_utilisation_ppm` is the part of the memory that the engine may use for weights, activations and KV.
    `overhead_bytes` is what activations, graphs and communication buffers take on each accelerator.
    """

    name: Text
    count: AcceleratorCount
    memory_bytes: MemoryBytes
    memory_bandwidth_mb_s: MegabytesPerSecond
    bf16_dense_gflops: Gigaflops
    fp8_dense_gflops: Gigaflops | None = None
    mfu_ppm: PartsPerMillion
    kv_memory_utilisation_ppm: PartsPerMillion
    overhead_bytes: Bytes


class Link(Record, frozen=True, kw_only=True):
    """A path between two tiers, `a` the hotter, that is narrower than one of them.

    `both_mb_s` is what both directions reach together when both are busy.
    """

    a: TierName
    b: TierName
    a_to_b_mb_s: MegabytesPerSecond
    b_to_a_mb_s: MegabytesPerSecond
    both_mb_s: MegabytesPerSecond | None = None
    per_accelerator: bool


class TierPrices(Record, frozen=True, kw_only=True):
    """What a gigabyte (10**9 bytes) of a tier costs to buy."""

    hbm: UsdMicros | None = None
    dram: UsdMicros | None = None
    numa_far: UsdMicros | None = None
    cxl: UsdMicros | None = None
    disk: UsdMicros | None = None
    remote: UsdMicros | None = None

    def present(self) -> list[tuple[str, UsdMicros]]:
        """The tiers that have a price, hot to cold."""
        every: list[tuple[str, UsdMicros | None]] = [(name, getattr(self, name)) for name in LADDER]
        return [(name, price) for name, price in every if price is not None]


class Price(Record, frozen=True, kw_only=True):
    """What the node costs an hour, what its tiers cost to buy, and what its drives are rated to take."""

    usd_micros_per_hour: UsdMicros | None = None
    usd_micros_per_gb: TierPrices | None = None
    rated_drive_write_bytes: Bytes | None = None


class Machine(Record, frozen=True, kw_only=True):
    """One node: its accelerators (none where only the tiers are known), tiers, links and prices."""

    title: Text
    accelerators: AcceleratorGroup | None = None
    tiers: Tiers
    links: tuple[Link, ...] = ()
    price: Price | None = None
    note: Note = ""

    @property
    def accelerator_count(self) -> int:
        """Accelerators of the node; 1 where the machine only lists tiers."""
        return self.accelerators.count.value if self.accelerators is not None else 1
