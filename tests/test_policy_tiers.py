"""The ladder: which tiers there are, which is hotter, and what each is made of by default."""

from __future__ import annotations

import pytest

from policy.profiles import GIB, TIB, TierProfile, default_profiles
from policy.share import COPY, DMABUF
from policy.tiers import (
    CXL,
    DISK,
    DRAM,
    HBM,
    LADDER,
    LOCAL_COUNT,
    NO_TIER,
    NUMA_FAR,
    PROVIDER,
    RECOMPUTE,
    REMOTE,
    TIER_COUNT,
    TIER_NAMES,
    UNKNOWN,
    is_local,
    memory_class,
    next_colder,
    next_warmer,
    rank,
    tier_code,
)

# A name that is no tier, where its name must survive, gets a code of its own above UNKNOWN.
TAPE = UNKNOWN + 1


def test_the_ladder_goes_from_hot_to_cold() -> None:
    assert LADDER == ("hbm", "dram", "numa_far", "cxl", "disk", "remote")
    assert [tier_code(name) for name in LADDER] == [HBM, DRAM, NUMA_FAR, CXL, DISK, REMOTE]
    assert (TIER_COUNT, LOCAL_COUNT) == (6, 5)


def test_every_name_has_its_rank_as_its_code() -> None:
    assert [tier_code(name) for name in TIER_NAMES] == list(range(9))
    assert [rank(code) for code in range(9)] == list(range(9))


@pytest.mark.parametrize("name", ["HBM", "tape", "Dram", " hbm", "gpu", ""])
def test_any_other_name_is_unknown_and_names_are_case_sensitive(name: str) -> None:
    assert tier_code(name) == UNKNOWN


def test_everything_unknown_is_coldest_alike() -> None:
    assert rank(TAPE) == rank(TAPE + 7) == rank(UNKNOWN) == 8
    assert (next_colder(TAPE), next_warmer(TAPE), is_local(TAPE), memory_class(TAPE)) == (
        NO_TIER,
        NO_TIER,
        False,
        "unknown",
    )


def test_relocation_goes_rung_by_rung_down_to_disk_and_then_drops_the_bytes() -> None:
    walked = [HBM]
    while walked[-1] != RECOMPUTE:
        walked.append(next_colder(walked[-1]))
    assert walked == [HBM, DRAM, NUMA_FAR, CXL, DISK, RECOMPUTE]


def test_warmer_undoes_colder_between_local_tiers() -> None:
    assert [next_warmer(next_colder(tier)) for tier in range(DISK)] == [HBM, DRAM, NUMA_FAR, CXL]
    assert next_warmer(HBM) == NO_TIER


@pytest.mark.parametrize("tier", [REMOTE, PROVIDER, RECOMPUTE, UNKNOWN])
def test_off_the_relocation_ladder_there_is_no_way_up_or_down(tier: int) -> None:
    assert (next_colder(tier), next_warmer(tier)) == (NO_TIER, NO_TIER)


def test_the_tiers_of_this_machine_end_at_disk() -> None:
    assert [TIER_NAMES[tier] for tier in range(9) if is_local(tier)] == ["hbm", "dram", "numa_far", "cxl", "disk"]


def test_events_are_counted_by_memory_class() -> None:
    assert [memory_class(tier) for tier in range(9)] == [
        "kv_cache",
        "ddr_cache",
        "ddr_cache",
        "ddr_cache",
        "offload",
        "offload",
        "offload",
        "unknown",
        "unknown",
    ]


def test_the_default_profiles_are_the_original_ones() -> None:
    rows = [
        (
            profile.read_latency_ns,
            profile.bandwidth_mb_s,
            profile.capacity_bytes,
            profile.byte_addressable,
            profile.coherent,
            profile.persistent,
            profile.share,
        )
        for profile in default_profiles().values()
    ]
    assert rows == [
        (200, 2_000_000, 80 * GIB, True, True, False, "dmabuf"),
        (90, 300_000, 512 * GIB, True, True, False, "mmap"),
        (140, 200_000, 512 * GIB, True, True, False, "mmap"),
        (300, 64_000, 2 * TIB, True, True, False, "cxl_hdm"),
        (10_000, 7_000, 8 * TIB, False, False, True, ""),
        (100_000, 12_000, 0, False, False, False, "rdma"),
    ]
    assert [(tier, profile.tier) for tier, profile in default_profiles().items()] == [(t, t) for t in range(TIER_COUNT)]


def test_the_default_profiles_are_a_fresh_table_each_time() -> None:
    del default_profiles()[HBM]
    assert list(default_profiles()) == [HBM, DRAM, NUMA_FAR, CXL, DISK, REMOTE]


@pytest.mark.parametrize("byte_addressable", [False, True])
@pytest.mark.parametrize("coherent", [False, True])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("share", [COPY, DMABUF])
def test_attendable_in_place_is_byte_addressable_and_coherent_whatever_else(
    byte_addressable: bool, coherent: bool, persistent: bool, share: str
) -> None:
    profile = TierProfile(DRAM, 90, 300_000, 0, byte_addressable, coherent, persistent, share)
    assert profile.attendable_in_place() == (byte_addressable and coherent)


def test_another_capacity_changes_nothing_else() -> None:
    disk = default_profiles()[DISK]
    assert vars(disk.with_capacity(4096)) == vars(disk) | {"capacity_bytes": 4096}
    assert disk.capacity_bytes == 8 * TIB
