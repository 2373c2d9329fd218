"""Compressed spans before the gate: served while requests accept their loss, an approximate fault where they do not."""

from __future__ import annotations

from typing import Any

import pytest
from builders import BLOCK_BYTES, Ask, arm_of, comparison_of, engine_of, moves, reprefilled, trace_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import engines, moderate, run_options, traces

import policy.serving
from harness.engine import Engine
from harness.trace import Trace
from policy.lossy import lossy_serves
from policy.rules import Rules

# Moving a block to DRAM takes 103 ns, a quarter of it 93 ns; computing it takes 96 ns.
ONLY_SMALL_ONES_PAY = engine_of({"hbm": 2 * BLOCK_BYTES, "dram": 8 * BLOCK_BYTES}, prefill_ns_per_token=24)
LOSSY = {"compress_ppm": 250_000, "compress_measured": 1, "compress_delta_ppm": 5, "compress_bound_ppm": 10}
EXACT = {"exact_view": 1}


@pytest.mark.parametrize(
    ("measured", "delta_ppm", "bound_ppm", "exact_view", "serves"),
    [
        (1, 5, 10, 0, 1),
        (1, 10, 10, 0, 1),
        (1, 11, 10, 0, 0),
        (1, 5, 10, 1, 0),
        # A bound of 0 is none to the gate, and "nothing may be lost" to the ladder: both refuse a loss.
        (1, 5, 0, 0, 0),
        # A measured loss of 0 is exact, for either.
        (1, 0, 0, 0, 1),
        (1, 0, 0, 1, 1),
        (1, 0, 10, 1, 1),
        # What was not measured is not known to be exact, whatever it says.
        (0, 0, 10, 0, 0),
        (0, 0, 10, 1, 0),
    ],
)
def test_the_gate_is_asked_in_its_own_words(
    measured: int, delta_ppm: int, bound_ppm: int, exact_view: int, serves: int
) -> None:
    rules = Rules(
        {
            "compress_measured": measured,
            "compress_delta_ppm": delta_ppm,
            "compress_bound_ppm": bound_ppm,
            "exact_view": exact_view,
        }
    )
    assert lossy_serves(rules) == serves


def replayed(**settings: int) -> dict[str, Any]:
    """a and b are computed, pushed out by c and d, compressed, and asked for again."""
    rows = [Ask("ab", 0), Ask("cd", 1), Ask("ab", 2)]
    return arm_of(trace_of(*rows), ONLY_SMALL_ONES_PAY, settings={**LOSSY, **settings})


def test_requests_that_accept_the_loss_are_served_from_compressed_spans() -> None:
    arm = replayed()
    assert (arm["tokens"]["hit"], reprefilled(arm)) == ({"hbm": 0, "dram": 7}, {})
    assert arm["tokens"]["obligatory"] == 1


def test_requests_that_want_exact_kv_find_approximate_faults_and_compute_anew() -> None:
    """The refused copies are dropped before their spans are computed, the one behind the gap for the same reason."""
    arm = replayed(exact_view=1)
    assert (arm["tokens"]["hit"], reprefilled(arm)) == ({"hbm": 0, "dram": 0}, {"approximate_fault": 8})
    assert [move for move in moves(arm) if move[0] in ("drop", "restore", "fill")] == [
        ("fill", "", "hbm", 6),
        ("drop", "dram", "recompute", 2),
    ]


def test_a_loss_of_nothing_is_exact_to_everyone() -> None:
    for bound_ppm in (0, 10):
        arm = replayed(exact_view=1, compress_delta_ppm=0, compress_bound_ppm=bound_ppm)
        assert (arm["tokens"]["hit"], reprefilled(arm)) == ({"hbm": 0, "dram": 7}, {})


def test_a_refused_span_ends_the_leading_run_and_what_is_before_it_serves() -> None:
    """c pushes out b alone, the deepest: a is exact, in HBM."""
    rows = [Ask("ab", 0), Ask("c", 1), Ask("ab", 2)]
    arm = arm_of(trace_of(*rows), ONLY_SMALL_ONES_PAY, settings={**LOSSY, **EXACT})
    assert (arm["tokens"]["hit"], reprefilled(arm)) == ({"hbm": 4, "dram": 0}, {"approximate_fault": 4})


def test_what_is_computed_anew_is_exact_again() -> None:
    rows = [Ask("ab", 0), Ask("cd", 1), Ask("ab", 2), Ask("ab", 3)]
    arm = arm_of(trace_of(*rows), ONLY_SMALL_ONES_PAY, settings={**LOSSY, **EXACT})
    assert (arm["tokens"]["hit"], reprefilled(arm)) == ({"hbm": 7, "dram": 0}, {"approximate_fault": 8})


def test_the_gate_is_asked_once_by_an_arm_that_compresses(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Rules] = []

    def counted(rules: Rules) -> int:
        asked.append(rules)
        return lossy_serves(rules)

    monkeypatch.setattr(policy.serving, "lossy_serves", counted)
    arms = comparison_of(trace_of(*[Ask("ab", t) for t in range(9)]), ONLY_SMALL_ONES_PAY, settings=LOSSY).arms
    # The others never compress, so there is nothing to ask.
    assert (len(asked), len(arms)) == (1, 3)


@moderate(40)
@given(trace=traces(accesses=False), engine=engines, options=run_options, size_ppm=st.sampled_from([1, 250_000]))
def test_an_exact_view_serves_no_span_that_is_smaller_than_it_was(
    trace: Trace, engine: Engine, options: dict[str, Any], size_ppm: int
) -> None:
    arm = arm_of(trace, engine, settings={**LOSSY, **EXACT, "compress_ppm": size_ppm}, **options)
    for row in arm["moves"]:
        if row["action"] in ("restore", "stream", "attend") and row["outcome"] == "ok":
            assert row["bytes"] == row["tokens"] * engine.kv_bytes_per_token


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_a_view_makes_no_difference_to_what_lost_nothing(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    lossless = {**LOSSY, "compress_delta_ppm": 0}
    here, there = (arm_of(trace, engine, settings={**lossless, "exact_view": view}, **options) for view in (0, 1))
    assert {**here, "rules": None} == {**there, "rules": None}
