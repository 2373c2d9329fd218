"""Tier profiles from a capacity probe: prove it or drop it.

Source: the original plane's probed profiles. A probe measures sizes only, so latency, bandwidth, flags and share stay
at their defaults, and remote, which it cannot see, is never in the answer. The original keeps the default *claim* of
512 GiB of DRAM and 8 TiB of disk where it measured neither; `drop_unmeasured` drops those two like any other tier.
"""

from dataclasses import dataclass

from policy.profiles import TierProfile, default_profiles
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR


@dataclass(frozen=True)
class CapacityProbe:
    """What a probe read, in bytes; 0 or less is no reading. A tier that may be missing also says that it is there."""

    hbm_bytes: int = 0
    hbm_present: bool = False
    dram_bytes: int = 0
    disk_bytes: int = 0
    numa_far_bytes: int = 0
    numa_far_present: bool = False
    cxl_bytes: int = 0
    cxl_present: bool = False


def probed_profiles(probe: CapacityProbe, *, drop_unmeasured: bool = False) -> dict[int, TierProfile]:
    """The tiers that `probe` proves, by tier code, hot to cold, at their measured capacity.

    DRAM and disk, which every machine has, keep their default capacity without a reading, unless `drop_unmeasured`.
    """
    defaults = default_profiles()
    profiles: dict[int, TierProfile] = {}
    for tier, present, capacity_bytes, always in (
        (HBM, probe.hbm_present, probe.hbm_bytes, False),
        (DRAM, True, probe.dram_bytes, True),
        (NUMA_FAR, probe.numa_far_present, probe.numa_far_bytes, False),
        (CXL, probe.cxl_present, probe.cxl_bytes, False),
        (DISK, True, probe.disk_bytes, True),
    ):
        if present and capacity_bytes > 0:
            profiles[tier] = defaults[tier].with_capacity(capacity_bytes)
        elif always and not drop_unmeasured:
            profiles[tier] = defaults[tier]
    return profiles
