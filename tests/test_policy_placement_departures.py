"""What the planner does differently from the original, each by a named parameter: best_rung and use_remote."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import EVICTED_FOR_COST, EVICTED_FOR_ROOM, MIB, SIZE_BYTES, decide, full, planner, priced

from policy.cost import NEVER_NS
from policy.placement import Planner
from policy.tiers import CXL, DISK, DRAM, HBM, NUMA_FAR, REMOTE, TIER_COUNT, TIER_NAMES


def test_strictly_the_first_rung_with_room_decides_even_where_a_farther_one_would_pay() -> None:
    plans = planner()
    priced(plans, DRAM, NEVER_NS)
    assert decide(plans, HBM) == EVICTED_FOR_COST


def test_with_best_rung_the_cheapest_rung_that_pays_is_taken() -> None:
    plans = planner(best_rung=1)
    priced(plans, DRAM, NEVER_NS)
    assert decide(plans, HBM) == ("demote", "numa_far", "offload", "demote_beats_recompute", SIZE_BYTES)
    priced(plans, DISK, 5)
    assert decide(plans, HBM) == ("spill", "disk", "offload", "spill_beats_recompute", SIZE_BYTES)


def test_with_best_rung_a_tie_goes_to_the_hotter_rung() -> None:
    plans = planner(best_rung=1)
    for tier in range(TIER_COUNT):
        priced(plans, tier, 7)
    assert decide(plans, DRAM)[1] == "numa_far"


def test_with_best_rung_exact_bytes_on_any_rung_come_before_compressed_ones_on_a_cheaper_rung() -> None:
    exact_ns = {tier: planner().costs.move_ns(HBM, tier, SIZE_BYTES) for tier in (CXL, DISK)}
    plans = full(planner(best_rung=1), DRAM, NUMA_FAR)
    assert decide(plans, HBM, recompute=exact_ns[CXL], compressed_bytes=MIB)[:2] == ("compress_demote", "cxl")
    priced(plans, DISK, exact_ns[CXL] - 1)
    assert decide(plans, HBM, recompute=exact_ns[CXL], compressed_bytes=MIB)[:2] == ("spill", "disk")


@pytest.mark.parametrize("best_rung", [0, 1])
def test_strictly_remote_is_never_used_and_with_use_remote_it_is_the_last_rung(best_rung: int) -> None:
    assert decide(planner(best_rung), DISK) == EVICTED_FOR_ROOM
    spill = ("spill", "remote", "offload", "spill_beats_recompute", SIZE_BYTES)
    assert decide(planner(best_rung, use_remote=1), DISK) == spill
    assert decide(full(planner(best_rung, use_remote=1), DRAM, NUMA_FAR, CXL, DISK), HBM) == spill
    assert decide(full(planner(best_rung, use_remote=1), REMOTE), DISK) == EVICTED_FOR_ROOM


def test_first_fit_with_use_remote_still_prefers_any_local_rung_with_room() -> None:
    plans = planner(use_remote=1)
    priced(plans, REMOTE, 1)
    assert decide(plans, HBM)[1] == "dram"


rungs = st.lists(st.integers(0, 12), min_size=TIER_COUNT, max_size=TIER_COUNT)
flags = st.lists(st.integers(0, 1), min_size=TIER_COUNT, max_size=TIER_COUNT)
steady = settings(deadline=None, derandomize=True)


def arranged(best_rung: int, use_remote: int, costs: list[int], present: list[int], room: list[int]) -> Planner:
    plans = planner(best_rung, use_remote)
    for tier, cost_ns in enumerate(costs):
        priced(plans, tier, cost_ns)
    return full(plans, *(tier for tier in range(TIER_COUNT) if not (present[tier] and room[tier])))


@steady
@given(costs=rungs, present=flags, room=flags, use_remote=st.integers(0, 1), tier=st.integers(0, 5))
def test_with_best_rung_no_rung_with_room_is_cheaper_than_the_one_taken(
    costs: list[int], present: list[int], room: list[int], use_remote: int, tier: int
) -> None:
    action, to_tier, *_ = decide(arranged(1, use_remote, costs, present, room), tier, recompute=10)
    last = REMOTE if use_remote else DISK
    open_rungs = [rung for rung in range(tier + 1, last + 1) if present[rung] and room[rung]]
    paying = [rung for rung in open_rungs if costs[rung] < 10]
    if paying:
        assert to_tier == TIER_NAMES[min(paying, key=lambda rung: (costs[rung], rung))]
        assert action in ("demote", "spill")
    else:
        assert (action, to_tier) == ("evict", "recompute")


@steady
@given(costs=rungs, present=flags, room=flags, tier=st.integers(0, 5))
def test_strictly_the_first_rung_with_room_is_the_only_one_considered(
    costs: list[int], present: list[int], room: list[int], tier: int
) -> None:
    decision = decide(arranged(0, 0, costs, present, room), tier, recompute=10)
    first = next((rung for rung in range(tier + 1, DISK + 1) if present[rung] and room[rung]), None)
    if first is None:
        assert decision == EVICTED_FOR_ROOM
    elif costs[first] >= 10:
        assert decision == EVICTED_FOR_COST
    else:
        assert decision[:2] == ("spill" if first == DISK else "demote", TIER_NAMES[first])


@steady
@given(costs=rungs, present=flags, room=flags, tier=st.integers(0, 5), use_remote=st.integers(0, 1))
def test_a_departure_never_drops_what_the_strict_form_keeps(
    costs: list[int], present: list[int], room: list[int], tier: int, use_remote: int
) -> None:
    strict = decide(arranged(0, 0, costs, present, room), tier, recompute=10)
    best = decide(arranged(1, use_remote, costs, present, room), tier, recompute=10)
    assert strict[0] == "evict" or best[0] != "evict"
