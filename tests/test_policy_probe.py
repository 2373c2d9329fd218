"""Profiles from a capacity probe: a tier that is not measured is not claimed, except as the original claims two."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from policy.probe import CapacityProbe, probed_profiles
from policy.profiles import GIB, TIB, default_profiles
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, TIER_NAMES

FULL = CapacityProbe(
    hbm_bytes=1,
    hbm_present=True,
    dram_bytes=2,
    disk_bytes=3,
    numa_far_bytes=4,
    numa_far_present=True,
    cxl_bytes=5,
    cxl_present=True,
)


def changed(**readings: Any) -> CapacityProbe:
    return replace(FULL, **readings)


def capacities(probe: CapacityProbe, drop_unmeasured: bool = False) -> dict[str, int]:
    profiles = probed_profiles(probe, drop_unmeasured=drop_unmeasured)
    return {TIER_NAMES[tier]: profile.capacity_bytes for tier, profile in profiles.items()}


@pytest.mark.parametrize("drop_unmeasured", [False, True])
def test_every_measured_tier_is_there_hot_to_cold_and_remote_never_is(drop_unmeasured: bool) -> None:
    measured = capacities(FULL, drop_unmeasured)
    assert list(measured.items()) == [("hbm", 1), ("dram", 2), ("numa_far", 4), ("cxl", 5), ("disk", 3)]


def test_only_the_capacity_is_measured() -> None:
    defaults = default_profiles()
    for tier, profile in probed_profiles(FULL).items():
        assert vars(profile) == vars(defaults[tier]) | {"capacity_bytes": profile.capacity_bytes}


@pytest.mark.parametrize("reading", [0, -1, -(2**63)])
@pytest.mark.parametrize(
    ("tier", "field"),
    [(HBM, "hbm_bytes"), (NUMA_FAR, "numa_far_bytes"), (CXL, "cxl_bytes")],
    ids=["hbm", "numa", "cxl"],
)
def test_a_tier_that_is_present_but_reads_nothing_is_dropped(tier: int, field: str, reading: int) -> None:
    assert tier not in probed_profiles(changed(**{field: reading}))


@pytest.mark.parametrize(
    ("tier", "field"),
    [(HBM, "hbm_present"), (NUMA_FAR, "numa_far_present"), (CXL, "cxl_present")],
    ids=["hbm", "numa", "cxl"],
)
def test_a_reading_of_a_tier_that_is_absent_is_dropped(tier: int, field: str) -> None:
    assert tier not in probed_profiles(changed(**{field: False}))


def test_as_in_the_original_unmeasured_dram_and_disk_keep_their_claim() -> None:
    assert capacities(CapacityProbe()) == {"dram": 512 * GIB, "disk": 8 * TIB}
    assert capacities(CapacityProbe(dram_bytes=-5, disk_bytes=7)) == {"dram": 512 * GIB, "disk": 7}


def test_with_drop_unmeasured_a_claim_that_was_not_measured_is_dropped_too() -> None:
    assert capacities(CapacityProbe(), drop_unmeasured=True) == {}
    assert capacities(CapacityProbe(dram_bytes=-5, disk_bytes=7), drop_unmeasured=True) == {"disk": 7}
    assert set(probed_profiles(CapacityProbe(dram_bytes=9), drop_unmeasured=True)) == {DRAM}
    assert DISK not in probed_profiles(changed(disk_bytes=0), drop_unmeasured=True)
