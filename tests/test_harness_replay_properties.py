"""What must hold of every replay, whatever the trace and the machine."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import pytest
from builders import (
    BLOCK_BYTES,
    Ask,
    Tier,
    arm_of,
    engine_of,
    moves,
    options_of,
    outcome,
    report_of,
    reprefilled,
    trace_of,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import SEEDS, engines, grow_rows, moderate, run_options, traces

from harness.comparison import check_options, compare
from harness.documents import canonical_bytes
from harness.engine import Engine
from harness.errors import SetupError
from harness.report import build_report
from harness.trace import Trace
from policy.tiers import HBM, TIER_NAMES

AGAINST = ("blind-lru", "tiered-reference")
LENGTHS = st.integers(1, 40)


def computed(arm: dict[str, Any]) -> int:
    """Tokens computed although blocks name them."""
    return int(arm["tokens"]["cold"] + sum(arm["tokens"]["reprefilled"].values()))


# --- accounts ---


@moderate(60)
@given(trace=traces(), engine=engines, options=run_options)
def test_every_token_is_accounted_for_once_in_every_arm(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    report = report_of(trace, engine, against=AGAINST, **options)
    for arm in report["arms"].values():
        tokens = arm["tokens"]
        parts = sum(tokens["hit"].values()) + tokens["obligatory"] + tokens["unidentified"] + computed(arm)
        assert parts == tokens["input"] == sum(trace.input_tokens) == report["trace"]["input_tokens"]
        assert tokens["unidentified"] == sum(trace.unidentified_tokens)
        assert min(*tokens["hit"].values(), *tokens["reprefilled"].values(), tokens["obligatory"], 0) == 0


@moderate(60)
@given(trace=traces(), engine=engines, options=run_options)
def test_no_arm_computes_less_than_the_ceiling_and_all_have_its_cold_tokens(
    trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    arms = report_of(trace, engine, against=AGAINST, **options)["arms"]
    for arm in arms.values():
        assert arm["tokens"]["cold"] == arms["infinite"]["tokens"]["cold"]
        assert computed(arm) >= computed(arms["infinite"])
        assert arm["time_ns"]["prefill"] >= arms["infinite"]["time_ns"]["prefill"]


@moderate(60)
@given(trace=traces(), engine=engines, options=run_options)
def test_what_flows_into_a_tier_less_what_flows_out_is_what_it_holds(
    trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    for arm in report_of(trace, engine, against=AGAINST, **options)["arms"].values():
        held = dict.fromkeys(TIER_NAMES, 0)
        for row in arm["moves"]:
            if row["outcome"] == "ok" and row["action"] not in ("attend", "stream"):
                held[row["from"]] -= row["bytes"]
                held[row["to"]] += row["bytes"]
        for tier, figures in arm["occupancy_bytes"].items():
            assert held[tier] == figures["end"] <= figures["peak"]
            assert 0 <= figures["mean"] <= figures["peak"]


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_the_ceiling_has_cold_and_obligatory_tokens_only(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    arm = report_of(trace, engine, **options)["arms"]["infinite"]
    assert reprefilled(arm) == {}
    assert set(arm["tokens"]["hit"]) == {"hbm"}
    assert {row["action"] for row in arm["moves"]} <= {"fill"}
    assert [arm["time_ns"][name] for name in ("stage", "attend", "offload")] == [0, 0, 0]


# --- time ---


def run(trace: Trace, engine: Engine, **options: Any) -> tuple[bytes, list[bytes]]:
    """The bytes of a report, and the directive lines of its policy."""
    stream = io.BytesIO()
    report = build_report(compare(trace, engine, options_of(**options), stream))
    return canonical_bytes(report), stream.getvalue().splitlines()


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_a_replay_gives_the_same_bytes_twice(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    assert run(trace, engine, **options) == run(trace, engine, **options)


@moderate(60)
@given(trace=traces(), engine=engines, options=run_options, shift_ms=st.integers(-(10**9), 10**9))
def test_shifting_every_time_and_now_by_a_constant_changes_nothing_but_the_stamps(
    trace: Trace, engine: Engine, options: dict[str, Any], shift_ms: int
) -> None:
    shift_us = 1000 * shift_ms
    stream, later_stream = io.BytesIO(), io.BytesIO()
    here = build_report(compare(trace, engine, options_of(against=AGAINST, **options), stream))
    for request in range(trace.requests):
        trace.t_us[request] += shift_us
    for control in trace.controls:
        control.t_us += shift_us
        if control.kind == "fault":
            control.value += shift_us
    options = options | {"now_ms": options["now_ms"] + shift_ms}
    there = build_report(compare(trace, engine, options_of(against=AGAINST, **options), later_stream))

    assert there["now_ms"] == here["now_ms"] + shift_ms
    assert [outcome(arm) for arm in there["arms"].values()] == [outcome(arm) for arm in here["arms"].values()]
    stamps = [line.partition(b",") for line in stream.getvalue().splitlines() if line.startswith(b'{"t_us":')]
    later = [line.partition(b",") for line in later_stream.getvalue().splitlines() if line.startswith(b'{"t_us":')]
    assert [line[2] for line in later] == [line[2] for line in stamps]
    assert [int(line[0][8:]) for line in later] == [int(line[0][8:]) + shift_us for line in stamps]


def test_a_negative_now_is_no_fault() -> None:
    trace = trace_of(Ask("ab", 0), Ask("ab", 10))
    arm = arm_of(trace, engine_of({"hbm": 0}), now_ms=-1000)
    assert reprefilled(arm) == {}
    assert moves(arm) == [("fill", "", "hbm", 2)]


@moderate(60)
@given(seed=SEEDS, length=LENGTHS, cut=LENGTHS, engine=engines, options=run_options)
def test_what_is_decided_never_depends_on_what_comes_later(
    seed: int, length: int, cut: int, engine: Engine, options: dict[str, Any]
) -> None:
    """One block per span: longer spans are cut from the whole trace, so they do know where it branches later."""
    options = options | {"span_tokens": 0}
    rows, sizes = grow_rows(seed, length, in_order=True)
    whole, beginning = trace_of(*rows, sizes=sizes), trace_of(*rows[: min(cut, length)], sizes=sizes)
    for policy in ("tiered", "tiered-reference"):
        _, directives = run(whole, engine, policy=policy, **options)
        _, earlier = run(beginning, engine, policy=policy, **options)
        directives, earlier = ([line for line in lines if b'"t_us"' in line] for lines in (directives, earlier))
        assert earlier == directives[: len(earlier)]


# --- capacity ---


@moderate(120)
@given(
    trace=traces(controls=False, accesses=False, partial_tails=False),
    hbm=st.integers(1, 6),
    dram=st.integers(0, 6),
    last=st.integers(1, 12),
    more=st.integers(1, 12),
    last_tier=st.sampled_from(["disk", "remote"]),
)
def test_a_larger_last_tier_never_adds_misses(
    trace: Trace, hbm: int, dram: int, last: int, more: int, last_tier: str
) -> None:
    """At one block per span, all of one size, where the last tier is not attended in place.

    An attended span stays where it is and keeps its age, so a larger attendable tier changes what HBM holds.
    """

    def misses(blocks: int) -> int:
        tiers = {"hbm": hbm * BLOCK_BYTES, last_tier: blocks * BLOCK_BYTES}
        if dram:
            tiers["dram"] = dram * BLOCK_BYTES
        return computed(arm_of(trace, engine_of(tiers)))

    assert misses(last + more) <= misses(last)


@moderate(40)
@given(trace=traces(), engine=engines, options=run_options)
def test_a_machine_without_colder_tiers_is_blind_lru(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    options = options | {"ttl_us": {}}
    alone = replace(engine, profiles={HBM: engine.profiles[HBM]}, links=())
    arms = report_of(trace, alone, against=AGAINST, **options)["arms"]
    assert outcome(arms["tiered"]) == outcome(arms["blind-lru"]) == outcome(arms["tiered-reference"])
    assert arms["tiered"]["directives_sha256"] == arms["blind-lru"]["directives_sha256"]
    whole = report_of(trace, engine, against=AGAINST, settings={"colder_tiers": 0}, **options)["arms"]
    assert outcome(whole["tiered"]) == outcome(whole["blind-lru"]) == outcome(arms["blind-lru"])


@moderate(40)
@given(trace=traces(controls=False), engine=engines, options=run_options)
def test_infinite_hbm_makes_every_policy_the_ceiling(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    options = options | {"ttl_us": {}}
    unbounded = replace(engine, profiles=engine.profiles | {HBM: engine.profiles[HBM].with_capacity(0)})
    arms = report_of(trace, unbounded, against=AGAINST, **options)["arms"]
    for arm in arms.values():
        assert outcome(arm) == outcome(arms["infinite"])


def test_no_setting_makes_the_ceiling_something_that_can_be_beaten() -> None:
    with pytest.raises(SetupError):
        check_options(options_of("infinite", ("tiered",), settings={"hbm_unbounded": 0}))


@moderate(60)
@given(trace=traces(controls=False), engine=engines, options=run_options, dead=st.sampled_from(["dram", "disk"]))
def test_a_tier_of_no_bandwidth_is_no_tier(trace: Trace, engine: Engine, options: dict[str, Any], dead: str) -> None:
    """Nothing moves there, so nothing differs, but the word for a loss: a tier is there, it only does not pay."""
    without = {
        TIER_NAMES[code]: as_tier(profile) for code, profile in engine.profiles.items() if TIER_NAMES[code] != dead
    }
    off = engine_of(without, prefill=engine.prefill)
    on = engine_of(without | {dead: Tier(0, 0, 0)}, prefill=engine.prefill)
    off_arm, on_arm = (arm_of(trace, machine, **options) for machine in (off, on))
    assert on_arm["time_ns"] == off_arm["time_ns"]
    assert on_arm["moves"] == off_arm["moves"]
    assert on_arm["tokens"]["hit"] == off_arm["tokens"]["hit"] | {dead: 0}
    lost_on, lost_off = (arm["tokens"]["reprefilled"] for arm in (on_arm, off_arm))
    for cause in ("cleared", "fault", "load_refused", "stranded", "bypassed"):
        assert lost_on[cause] == lost_off[cause]
    assert sum(lost_on.values()) == sum(lost_off.values())
    assert lost_on["cost"] >= lost_off["cost"]


def as_tier(profile: Any) -> Tier:
    return Tier(profile.capacity_bytes, profile.read_latency_ns, profile.bandwidth_mb_s)
