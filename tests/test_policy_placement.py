"""The planner in its strict form: keep what is fresh, demote what pays, drop the rest, and say which."""

from __future__ import annotations

import pytest
from planning import (
    EVICTED_FOR_COST,
    EVICTED_FOR_POLICY,
    EVICTED_FOR_ROOM,
    MIB,
    RECOMPUTE_NS,
    SIZE_BYTES,
    Decision,
    decide,
    full,
    planner,
)

from policy.cost import recompute_ns
from policy.decisions import EVICT, REASON_NAMES
from policy.lifecycle import EVICTED, EXPIRED, EXPIRING, FILLING, RESIDENT, SPILLED
from policy.placement import acceptable, has_room
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, RECOMPUTE, REMOTE, TIER_NAMES, UNKNOWN


@pytest.mark.parametrize("state", [FILLING, RESIDENT, SPILLED, EVICTED])
def test_a_span_that_is_not_expiring_stays_where_there_is_room(state: int) -> None:
    assert decide(planner(), DRAM, state, has_own_room=1) == ("keep", "dram", "", "fresh_and_room", 0)


@pytest.mark.parametrize(
    ("tier", "decision"),
    [
        (HBM, ("demote", "dram", "offload", "demote_beats_recompute", SIZE_BYTES)),
        (DRAM, ("demote", "numa_far", "offload", "demote_beats_recompute", SIZE_BYTES)),
        (NUMA_FAR, ("demote", "cxl", "offload", "demote_beats_recompute", SIZE_BYTES)),
        (CXL, ("spill", "disk", "offload", "spill_beats_recompute", SIZE_BYTES)),
        (DISK, EVICTED_FOR_ROOM),
    ],
    ids=["hbm", "dram", "numa_far", "cxl", "disk"],
)
def test_under_pressure_a_long_prefix_walks_down_the_ladder_as_in_the_original_demo(
    tier: int, decision: Decision
) -> None:
    assert decide(planner(), tier) == decision


def test_a_cheap_span_goes_to_dram_but_is_not_worth_a_disk() -> None:
    cheap = {"size_bytes": 48 * 1024, "recompute": recompute_ns(3, 1000)}
    plans = planner()
    assert [plans.costs.move_ns(HBM, tier, 48 * 1024) for tier in (DRAM, DISK)] == [253, 17_021]
    assert decide(plans, HBM, **cheap) == ("demote", "dram", "offload", "demote_beats_recompute", 49_152)
    assert decide(full(plans, DRAM, NUMA_FAR, CXL), HBM, **cheap) == EVICTED_FOR_COST


def test_full_tiers_and_tiers_that_the_machine_lacks_are_skipped() -> None:
    plans = full(planner(), DRAM, NUMA_FAR)
    assert decide(plans, HBM)[:2] == ("demote", "cxl")


@pytest.mark.parametrize("state", [EXPIRING, EXPIRED])
def test_an_expiring_span_is_relocated_even_where_there_is_room(state: int) -> None:
    assert decide(planner(), HBM, state, has_own_room=1)[:2] == ("demote", "dram")


def test_the_no_demotion_policy_binds_only_once_a_span_has_expired() -> None:
    assert decide(planner(), HBM, EXPIRED, demote_on_expiry=0) == EVICTED_FOR_POLICY
    assert decide(planner(), HBM, EXPIRED, has_own_room=1, demote_on_expiry=0) == EVICTED_FOR_POLICY
    assert decide(planner(), HBM, EXPIRING, demote_on_expiry=0)[:2] == ("demote", "dram")
    assert decide(planner(), HBM, RESIDENT, demote_on_expiry=0)[:2] == ("demote", "dram")


def test_a_tie_between_staging_and_recompute_drops_the_span() -> None:
    plans = planner()
    cost_ns = plans.costs.move_ns(HBM, DRAM, SIZE_BYTES)
    assert decide(plans, HBM, recompute=cost_ns) == EVICTED_FOR_COST
    assert decide(plans, HBM, recompute=cost_ns + 1)[:2] == ("demote", "dram")


@pytest.mark.parametrize("tier", [REMOTE, RECOMPUTE, UNKNOWN, UNKNOWN + 1])
@pytest.mark.parametrize(("best_rung", "use_remote"), [(0, 0), (1, 1)])
def test_from_off_the_ladder_nothing_is_ever_colder(tier: int, best_rung: int, use_remote: int) -> None:
    plans = planner(best_rung, use_remote)
    plans.plan(tier, RESIDENT, 0, 1, 1, SIZE_BYTES, RECOMPUTE_NS, 0)
    assert (plans.action, plans.to_tier, REASON_NAMES[plans.reason]) == (EVICT, RECOMPUTE, "no_colder_tier_with_room")


@pytest.mark.parametrize("state", [RESIDENT, EXPIRED])
def test_a_hot_span_is_promoted_one_rung_before_anything_else_is_asked(state: int) -> None:
    decision = decide(planner(), CXL, state, has_own_room=1, hot=1, demote_on_expiry=0)
    assert decision == ("promote", "numa_far", "restore", "hot_entry_promoted", SIZE_BYTES)


def test_a_hot_span_stays_where_the_warmer_rung_is_full_missing_or_not_there_at_all() -> None:
    keep = ("keep", "cxl", "", "fresh_and_room", 0)
    assert decide(full(planner(), NUMA_FAR), CXL, has_own_room=1, hot=1) == keep
    assert decide(planner(), HBM, has_own_room=1, hot=1)[:2] == ("keep", "hbm")


@pytest.mark.parametrize(("origin", "rung"), [(HBM, DRAM), (CXL, DISK)])
def test_compressed_bytes_are_kept_where_the_exact_ones_do_not_pay(origin: int, rung: int) -> None:
    plans = planner()
    between = plans.costs.move_ns(origin, rung, MIB) + 1
    decision = decide(plans, origin, recompute=between, compressed_bytes=MIB)
    assert decision == ("compress_demote", TIER_NAMES[rung], "offload", "compress_demote_beats_recompute", MIB)


def test_exact_bytes_are_preferred_and_compressed_ones_must_pay_too() -> None:
    plans = planner()
    assert decide(plans, HBM, compressed_bytes=MIB)[0] == "demote"
    assert decide(plans, HBM, recompute=plans.costs.move_ns(HBM, DRAM, MIB), compressed_bytes=MIB) == EVICTED_FOR_COST


@pytest.mark.parametrize("compressed_bytes", [0, -1])
def test_without_a_compressed_form_its_cost_is_not_looked_at(compressed_bytes: int) -> None:
    plans = planner()
    assert decide(plans, HBM, recompute=1000, compressed_bytes=compressed_bytes) == EVICTED_FOR_COST


@pytest.mark.parametrize(
    ("reading", "room"),
    [
        (-1.0, True),
        (0.0, True),
        (0.9999999999999999, True),
        (1.0, False),
        (1.5, False),
        (float("nan"), False),
        (float("inf"), False),
        (float("-inf"), True),
    ],
)
def test_a_tier_has_room_while_its_fullness_reads_below_one(reading: float, room: bool) -> None:
    assert has_room(reading) is room


@pytest.mark.parametrize(
    ("measured", "delta", "bound", "verdict"),
    [
        (True, 0.02, 0.02, True),
        (True, 0.03, 0.02, False),
        (True, 9.0, 0.0, True),
        (True, 9.0, -1.0, True),
        (False, 0.0, 0.02, False),
    ],
)
def test_lossy_bytes_are_acceptable_when_measured_and_within_a_bound_if_there_is_one(
    measured: bool, delta: float, bound: float, verdict: bool
) -> None:
    assert acceptable(measured, delta, bound) is verdict
