"""Random lives of a span: what holds after any sequence of operations."""

from __future__ import annotations

from array import array

from hypothesis import given, settings
from hypothesis import strategies as st

from policy.lifecycle import RESIDENT, SPILLED, Lifecycle, Ttls
from policy.tiers import HBM

# What is done, to which tier, and after how long.
Step = tuple[int, int, int]

# HBM, DRAM, NUMA-far and CXL can be attended in place, disk and remote cannot.
ATTENDABLE = array("q", [1, 1, 1, 1, 0, 0])


def columns(lives: Lifecycle) -> list[int]:
    clocks = (lives.admitted, lives.entered, lives.since, lives.last_access)
    return [lives.state[0], lives.tier[0], *(clock[0] for clock in clocks), lives.accesses[0]]


steps = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.integers(0, 200)), max_size=30)


def walk(restart_on_revival: int, ttl_on_spilled: int, script: list[Step], start: int) -> list[list[int]]:
    """The state after every step of a random life whose clock begins at `start`; a step takes some time."""
    lives = Lifecycle(1, ATTENDABLE, restart_on_revival, ttl_on_spilled)
    now = start
    lives.start(0, script[0][1] if script else HBM, now)
    seen = [columns(lives)]
    for kind, tier, elapsed in script:
        now += elapsed
        if kind == 0:
            lives.mark_resident(0, now)
        elif kind == 1:
            lives.touch(0, now)
        elif kind == 2:
            lives.advance(0, Ttls(100, 50, 1), now)
        elif kind == 3:
            lives.move_to(0, tier, now)
        else:
            lives.evict(0, now)
        seen.append(columns(lives))
    return seen


@settings(deadline=None, derandomize=True)
@given(script=steps, shift=st.integers(-(10**12), 10**12), restart=st.integers(0, 1), spilled=st.integers(0, 1))
def test_shifting_every_time_shifts_the_clocks_and_nothing_else(
    script: list[Step], shift: int, restart: int, spilled: int
) -> None:
    here = walk(restart, spilled, script, 0)
    there = walk(restart, spilled, script, shift)
    assert [[*row[:2], *(clock - shift for clock in row[2:6]), row[6]] for row in there] == here


@settings(deadline=None, derandomize=True)
@given(script=steps)
def test_strictly_a_span_at_rest_is_resident_exactly_where_it_can_be_attended(
    script: list[Step],
) -> None:
    for state, tier, *_ in walk(0, 0, script, 0):
        if state in (RESIDENT, SPILLED):
            assert (state == RESIDENT) == bool(ATTENDABLE[tier])
