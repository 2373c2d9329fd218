"""The life of a span: when it may serve, when it expires, what revives it, and what a move does to it."""

from __future__ import annotations

from array import array

import pytest

from policy.decisions import OFFLOAD, RESTORE
from policy.lifecycle import (
    EVICTED,
    EXPIRED,
    EXPIRING,
    FILLING,
    RESIDENT,
    SPILLED,
    STATE_NAMES,
    Lifecycle,
    Ttls,
    access_rate,
    serveable,
)
from policy.tiers import CXL, DISK, DRAM, HBM, PROVIDER, RECOMPUTE, REMOTE, UNKNOWN

# HBM, DRAM, NUMA-far and CXL can be attended in place, disk and remote cannot.
ATTENDABLE = array("q", [1, 1, 1, 1, 0, 0])


def table(restart_on_revival: int = 0, ttl_on_spilled: int = 0, spans: int = 1) -> Lifecycle:
    return Lifecycle(spans, ATTENDABLE, restart_on_revival, ttl_on_spilled)


def living(tier: int, now: int = 0, **departures: int) -> Lifecycle:
    """One span that finished filling in `tier` at `now`."""
    lives = table(**departures)
    lives.start(0, tier, now)
    lives.mark_resident(0, now)
    return lives


def in_state(state: int, tier: int = DRAM) -> Lifecycle:
    lives = living(tier)
    lives.state[0] = state
    return lives


def ttls(default_ttl: int = 100, grace: int = 50) -> Ttls:
    return Ttls(default_ttl, grace, 1)


def columns(lives: Lifecycle) -> list[int]:
    return [
        column[0]
        for column in (
            lives.state,
            lives.tier,
            lives.admitted,
            lives.entered,
            lives.since,
            lives.last_access,
            lives.accesses,
        )
    ]


def test_a_span_may_serve_while_resident_expiring_or_spilled() -> None:
    assert [STATE_NAMES[state] for state in range(6) if serveable(state)] == ["resident", "expiring", "spilled"]
    assert not serveable(-1)


def test_a_span_nobody_started_is_evicted_and_a_started_one_is_filling_with_every_clock_at_now() -> None:
    lives = table(spans=2)
    assert list(lives.state) == [EVICTED, EVICTED]
    lives.start(0, CXL, 7)
    assert columns(lives) == [FILLING, CXL, 7, 7, 7, 7, 0]
    assert lives.state[1] == EVICTED


def test_starting_again_forgets_the_life_before() -> None:
    lives = living(DRAM)
    lives.touch(0, 3)
    lives.start(0, HBM, 9)
    assert columns(lives) == [FILLING, HBM, 9, 9, 9, 9, 0]


@pytest.mark.parametrize(
    ("tier", "state"), [(HBM, RESIDENT), (CXL, RESIDENT), (DISK, SPILLED), (REMOTE, SPILLED), (PROVIDER, SPILLED)]
)
def test_a_filled_span_is_resident_where_it_can_be_attended_and_spilled_elsewhere(tier: int, state: int) -> None:
    lives = table()
    lives.start(0, tier, 1)
    lives.mark_resident(0, 5)
    assert columns(lives) == [state, tier, 1, 1, 5, 1, 0]


@pytest.mark.parametrize("state", [RESIDENT, EXPIRING, EXPIRED, SPILLED, EVICTED])
def test_only_a_filling_span_can_become_resident_by_filling(state: int) -> None:
    lives = in_state(state)
    before = columns(lives)
    lives.mark_resident(0, 5)
    assert columns(lives) == before


@pytest.mark.parametrize("state", [FILLING, RESIDENT, EXPIRED, SPILLED, EVICTED])
def test_an_access_is_counted_in_every_state_and_changes_nothing_else(state: int) -> None:
    lives = in_state(state)
    assert not lives.touch(0, 5)
    assert columns(lives) == [state, DRAM, 0, 0, 0, 5, 1]


def test_a_ttl_is_counted_from_entering_the_tier_and_binds_at_exactly_its_length() -> None:
    lives = living(DRAM)
    lives.touch(0, 99)
    assert not lives.advance(0, ttls(), 99)
    assert lives.advance(0, ttls(), 100)
    assert columns(lives) == [EXPIRING, DRAM, 0, 0, 100, 99, 1]


def test_grace_is_counted_from_expiring_and_binds_at_exactly_its_length() -> None:
    lives = living(DRAM)
    lives.advance(0, ttls(), 130)
    assert not lives.advance(0, ttls(), 179)
    assert lives.advance(0, ttls(), 180)
    assert (lives.state[0], lives.since[0]) == (EXPIRED, 180)


@pytest.mark.parametrize("grace", [0, -5])
def test_one_call_takes_at_most_one_step_even_without_grace(grace: int) -> None:
    lives = living(DRAM)
    assert lives.advance(0, ttls(grace=grace), 500)
    assert lives.state[0] == EXPIRING
    assert lives.advance(0, ttls(grace=grace), 500)
    assert lives.state[0] == EXPIRED


@pytest.mark.parametrize("state", [FILLING, EXPIRED, SPILLED, EVICTED])
def test_time_alone_changes_no_other_state(state: int) -> None:
    lives = in_state(state)
    before = columns(lives)
    assert not lives.advance(0, ttls(grace=0), 10**12)
    assert columns(lives) == before


def test_a_clock_that_steps_back_is_simply_not_yet() -> None:
    lives = living(DRAM, now=1000)
    assert not lives.advance(0, ttls(), -(10**9))
    assert lives.state[0] == RESIDENT


@pytest.mark.parametrize("default_ttl", [0, -1])
def test_a_ttl_of_zero_or_less_never_expires(default_ttl: int) -> None:
    assert not living(DRAM).advance(0, ttls(default_ttl), 2**62)


def test_a_tiers_own_ttl_holds_even_where_it_is_zero() -> None:
    lifetimes = ttls(100)
    lifetimes.set(DRAM, 0)
    lifetimes.set(CXL, 7)
    assert [lifetimes.ttl_for(tier) for tier in (HBM, DRAM, CXL)] == [100, 0, 7]
    assert not living(DRAM).advance(0, lifetimes, 2**62)


def test_a_tier_beyond_the_table_has_the_default_ttl() -> None:
    assert [ttls(100).ttl_for(tier) for tier in (PROVIDER, UNKNOWN)] == [100, 100]


def test_strictly_a_revived_span_keeps_its_tier_clock_and_falls_back_at_the_next_look() -> None:
    lives = living(DRAM)
    lives.advance(0, ttls(), 100)
    assert lives.touch(0, 120)
    assert columns(lives) == [RESIDENT, DRAM, 0, 0, 120, 120, 1]
    assert lives.advance(0, ttls(), 120)
    assert lives.state[0] == EXPIRING


def test_with_restart_on_revival_a_revived_span_has_a_whole_ttl_again() -> None:
    lives = living(DRAM, restart_on_revival=1)
    lives.advance(0, ttls(), 100)
    assert lives.touch(0, 120)
    assert columns(lives) == [RESIDENT, DRAM, 0, 120, 120, 120, 1]
    assert not lives.advance(0, ttls(), 219)
    assert lives.advance(0, ttls(), 220)


@pytest.mark.parametrize("restart_on_revival", [0, 1])
def test_an_access_to_a_fresh_span_never_moves_its_tier_clock(restart_on_revival: int) -> None:
    lives = living(DRAM, restart_on_revival=restart_on_revival)
    lives.touch(0, 60)
    assert lives.entered[0] == 0


def test_strictly_a_spilled_span_never_expires() -> None:
    lives = living(DISK)
    assert not lives.advance(0, ttls(), 10**12)
    assert lives.state[0] == SPILLED


def test_with_ttl_on_spilled_a_spilled_span_expires_like_any_other() -> None:
    lives = living(DISK, ttl_on_spilled=1)
    assert not lives.advance(0, ttls(), 99)
    assert lives.advance(0, ttls(), 100)
    assert lives.state[0] == EXPIRING
    assert lives.advance(0, ttls(), 150)
    assert lives.state[0] == EXPIRED


@pytest.mark.parametrize(("tier", "state"), [(DISK, SPILLED), (DRAM, RESIDENT)])
def test_with_ttl_on_spilled_a_revived_span_is_what_its_tier_allows(tier: int, state: int) -> None:
    lives = living(tier, ttl_on_spilled=1)
    lives.advance(0, ttls(), 100)
    assert lives.touch(0, 101)
    assert lives.state[0] == state


@pytest.mark.parametrize(
    ("source", "destination", "directive", "state"),
    [
        (HBM, DRAM, OFFLOAD, RESIDENT),
        (DRAM, DISK, OFFLOAD, SPILLED),
        (DISK, REMOTE, OFFLOAD, SPILLED),
        (DISK, HBM, RESTORE, RESIDENT),
        (CXL, DRAM, RESTORE, RESIDENT),
        (CXL, CXL, RESTORE, RESIDENT),
        (DRAM, UNKNOWN + 1, OFFLOAD, SPILLED),
    ],
)
def test_a_move_restarts_the_tier_clock_and_is_an_offload_only_towards_the_cold(
    source: int, destination: int, directive: int, state: int
) -> None:
    lives = living(source)
    lives.touch(0, 3)
    assert lives.move_to(0, destination, 9) == directive
    assert columns(lives) == [state, destination, 0, 9, 9, 3, 1]


@pytest.mark.parametrize("nowhere", [RECOMPUTE, UNKNOWN])
def test_a_move_to_nowhere_is_an_eviction(nowhere: int) -> None:
    lives = living(CXL)
    assert lives.move_to(0, nowhere, 9) == OFFLOAD
    assert columns(lives) == [EVICTED, CXL, 0, 0, 9, 0, 0]


def test_an_eviction_keeps_the_tier_and_the_clocks_as_the_record_of_where_the_span_was() -> None:
    lives = living(CXL)
    lives.touch(0, 4)
    assert lives.evict(0, 9) == OFFLOAD
    assert columns(lives) == [EVICTED, CXL, 0, 0, 9, 4, 1]


def test_strictly_a_move_revives_an_evicted_span_and_completes_a_filling_one() -> None:
    for state in (EVICTED, FILLING):
        lives = in_state(state)
        lives.move_to(0, CXL, 9)
        assert lives.state[0] == RESIDENT


def test_the_access_rate_is_the_mean_since_admission_per_second() -> None:
    assert access_rate(10, 1000, 3000) == 5.0
    assert access_rate(0, 1000, 3000) == 0.0


@pytest.mark.parametrize("now_ms", [1000, 999])
def test_the_access_rate_is_zero_before_any_time_has_passed(now_ms: int) -> None:
    assert access_rate(10, 1000, now_ms) == 0.0
