"""Carrying out a decision: the span's life follows the plan, and the adapter is told."""

from __future__ import annotations

from array import array

import pytest

from policy.apply import apply
from policy.decisions import (
    COMPRESS_DEMOTE,
    DEMOTE,
    EVICT,
    FILL,
    KEEP,
    NO_DIRECTIVE,
    OFFLOAD,
    PROMOTE,
    RESTORE,
    SPILL,
)
from policy.lifecycle import EVICTED, RESIDENT, SPILLED, Lifecycle
from policy.tiers import CXL, DISK, DRAM, HBM, RECOMPUTE


def life(state: int = RESIDENT) -> Lifecycle:
    lives = Lifecycle(1, array("q", [1, 1, 1, 1, 0, 0]), restart_on_revival=0, ttl_on_spilled=0)
    lives.start(0, DRAM, 1)
    lives.state[0] = state
    return lives


@pytest.mark.parametrize(
    ("action", "to_tier", "directive", "state"),
    [
        (PROMOTE, HBM, RESTORE, RESIDENT),
        (DEMOTE, CXL, OFFLOAD, RESIDENT),
        (SPILL, DISK, OFFLOAD, SPILLED),
        (COMPRESS_DEMOTE, CXL, OFFLOAD, RESIDENT),
    ],
)
def test_applying_a_move_moves_the_span_and_returns_its_directive(
    action: int, to_tier: int, directive: int, state: int
) -> None:
    lives = life()
    assert apply(action, to_tier, lives, 0, 9) == directive
    assert (lives.tier[0], lives.state[0], lives.entered[0], lives.since[0]) == (to_tier, state, 9, 9)


def test_applying_an_eviction_evicts_and_keeps_the_tier() -> None:
    lives = life()
    assert apply(EVICT, RECOMPUTE, lives, 0, 9) == OFFLOAD
    assert (lives.tier[0], lives.state[0], lives.entered[0], lives.since[0]) == (DRAM, EVICTED, 1, 9)


@pytest.mark.parametrize("action", [KEEP, FILL, -1, 99])
def test_applying_anything_else_changes_nothing(action: int) -> None:
    lives = life()
    assert apply(action, CXL, lives, 0, 9) == NO_DIRECTIVE
    assert (lives.tier[0], lives.state[0], lives.entered[0], lives.since[0]) == (DRAM, RESIDENT, 1, 1)


def test_strictly_applying_a_move_to_an_evicted_span_brings_it_back() -> None:
    lives = life(EVICTED)
    apply(DEMOTE, CXL, lives, 0, 9)
    assert lives.state[0] == RESIDENT
