"""What a tier is made of: latency, bandwidth, capacity, and whether it can be attended in place.

Source of the defaults: the original plane's default tier profiles. They are figures to be overridden by measured
ones; the catalog's machine `reference` holds the same digits and a test keeps the two equal.
"""

from policy.share import COPY, CXL_HDM, DMABUF, MMAP, RDMA
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, REMOTE

GIB = 2**30
TIB = 2**40


class TierProfile:
    """One tier of one machine. `capacity_bytes` 0 is unbounded; bandwidth is in MB/s of 10**6 bytes."""

    def __init__(
        self,
        tier: int,
        read_latency_ns: int,
        bandwidth_mb_s: int,
        capacity_bytes: int,
        byte_addressable: bool,
        coherent: bool,
        persistent: bool,
        share: str,
    ) -> None:
        self.tier = tier
        self.read_latency_ns = read_latency_ns
        self.bandwidth_mb_s = bandwidth_mb_s
        self.capacity_bytes = capacity_bytes
        self.byte_addressable = byte_addressable
        self.coherent = coherent
        self.persistent = persistent
        self.share = share

    def attendable_in_place(self) -> bool:
        """Usable where it is, without staging: byte-addressable and coherent, whatever else it is."""
        return self.byte_addressable and self.coherent

    def with_capacity(self, capacity_bytes: int) -> "TierProfile":
        """The same tier with another capacity."""
        return TierProfile(
            self.tier,
            self.read_latency_ns,
            self.bandwidth_mb_s,
            capacity_bytes,
            self.byte_addressable,
            self.coherent,
            self.persistent,
            self.share,
        )


def default_profiles() -> dict[int, TierProfile]:
    """A fresh table of the original's default profiles, by tier code, hot to cold."""
    rows = (
        TierProfile(HBM, 200, 2_000_000, 80 * GIB, True, True, False, DMABUF),
        TierProfile(DRAM, 90, 300_000, 512 * GIB, True, True, False, MMAP),
        TierProfile(NUMA_FAR, 140, 200_000, 512 * GIB, True, True, False, MMAP),
        TierProfile(CXL, 300, 64_000, 2 * TIB, True, True, False, CXL_HDM),
        TierProfile(DISK, 10_000, 7_000, 8 * TIB, False, False, True, COPY),
        TierProfile(REMOTE, 100_000, 12_000, 0, False, False, False, RDMA),
    )
    return {row.tier: row for row in rows}
