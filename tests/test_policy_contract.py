"""What every row of `POLICIES` must do: a policy that is added there is held to this without another line."""

from __future__ import annotations

import io
import json
from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from builders import BLOCK_BYTES, Access, Ask, Clear, Fault, Pressure, Row, arm_of, engine_of, options_of, trace_of
from hypothesis import given
from hypothesis import strategies as st
from journal_walk import walk
from strategies import SEEDS, engines, grow_engine, grow_options, grow_rows, grow_trace, moderate, run_options, traces

from harness.comparison import compare
from harness.documents import canonical_bytes
from harness.engine import Engine
from harness.report import build_report
from harness.trace import Trace
from policy.policies.registry import CEILING, POLICIES
from policy.rules import RULE_SPECS, Rules
from policy.tiers import HBM, TIER_NAMES

every_policy = pytest.mark.parametrize("policy", list(POLICIES))


def replayed(
    trace: Trace, engine: Engine, policy: str, settings: dict[str, int] | None = None, **options: Any
) -> tuple[dict[str, Any], list[bytes]]:
    """The report of `policy` against the ceiling, and its directive lines."""
    stream = io.BytesIO()
    against = tuple(name for name in ("tiered", CEILING) if name != policy)[:1]
    chosen = options_of(policy, against, settings=settings, **options)
    report = build_report(compare(trace, engine, chosen, stream))
    assert report["audit"]["balanced"], report["audit"]
    return report, stream.getvalue().splitlines(keepends=True)


def capacities(engine: Engine, policy: str) -> dict[str, int]:
    """Bytes by tier that a policy must stay within."""
    bounds = {TIER_NAMES[tier]: profile.capacity_bytes for tier, profile in engine.profiles.items()}
    return bounds | {"hbm": 0} if POLICIES[policy].rules({}).hbm_unbounded else bounds


@every_policy
def test_a_policy_is_named_explained_and_changes_rules_that_exist(policy: str) -> None:
    spec = POLICIES[policy]
    assert spec.name == policy
    assert spec.summary
    assert not spec.summary.endswith(".")
    bounds = {rule.name: rule.maximum for rule in RULE_SPECS}
    assert all(0 <= value <= bounds[name] for name, value in spec.changes.items())


@every_policy
@moderate(25)
@given(trace=traces(), engine=engines, options=run_options)
def test_a_span_is_in_one_tier_and_no_tier_holds_more_than_its_capacity(
    policy: str, trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    report, lines = replayed(trace, engine, policy, **options)
    held = walk(lines, capacities(engine, policy))
    for tier, figures in report["arms"][policy]["occupancy_bytes"].items():
        assert sum(size for where, size in held.values() if where == tier) == figures["end"]


@every_policy
@moderate(15)
@given(trace=traces(), engine=engines, options=run_options)
def test_a_policy_replays_to_the_same_bytes_twice(
    policy: str, trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    first, lines = replayed(trace, engine, policy, **options)
    second, again = replayed(trace, engine, policy, **options)
    assert canonical_bytes(first) == canonical_bytes(second)
    assert lines == again


@every_policy
@moderate(20)
@given(seed=SEEDS, length=st.integers(2, 40), engine=engines, options=run_options)
def test_a_policy_decides_without_knowing_what_comes_later(
    policy: str, seed: int, length: int, engine: Engine, options: dict[str, Any]
) -> None:
    rows, sizes = grow_rows(seed, length, in_order=True)
    options = options | {"span_tokens": 0}
    _, whole = replayed(trace_of(*rows, sizes=sizes), engine, policy, **options)
    _, beginning = replayed(trace_of(*rows[: length // 2 + 1], sizes=sizes), engine, policy, **options)
    done, expected = ([line for line in lines if line.startswith(b'{"t_us"')] for lines in (beginning, whole))
    assert done == expected[: len(done)]


@every_policy
@moderate(15)
@given(trace=traces(), engine=engines, options=run_options, shift_ms=st.integers(0, 10**9))
def test_a_policy_sees_only_how_far_apart_times_are(
    policy: str, trace: Trace, engine: Engine, options: dict[str, Any], shift_ms: int
) -> None:
    here, lines = replayed(trace, engine, policy, **options)
    there, later = replayed(trace, engine, policy, **(options | {"now_ms": options["now_ms"] + shift_ms}))
    assert here["arms"][policy]["tokens"] == there["arms"][policy]["tokens"]
    assert here["arms"][policy]["time_ns"] == there["arms"][policy]["time_ns"]
    for line, shifted in zip(lines, later, strict=True):
        row, moved = json.loads(line), json.loads(shifted)
        if "t_us" in row:
            assert moved.pop("t_us") == row.pop("t_us") + 1000 * shift_ms
        assert moved == row


@every_policy
@moderate(15)
@given(trace=traces(controls=False), engine=engines, options=run_options)
def test_with_room_for_everything_a_policy_computes_nothing_twice(
    policy: str, trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    roomy = replace(engine, profiles=engine.profiles | {HBM: engine.profiles[HBM].with_capacity(0)})
    arm = replayed(trace, roomy, policy, **(options | {"ttl_us": {}}))[0]["arms"][policy]
    assert sum(arm["tokens"]["reprefilled"].values()) == 0
    assert {row["action"] for row in arm["moves"]} <= {"fill"}


@every_policy
def test_a_span_larger_than_every_tier_is_used_once_and_passed_by(policy: str) -> None:
    rows = [
        Access("small", 4, BLOCK_BYTES, 0),
        Access("huge", 100, 100 * BLOCK_BYTES, 1),
        Access("small", 4, BLOCK_BYTES, 2),
    ]
    engine = engine_of({"hbm": 2 * BLOCK_BYTES, "dram": 2 * BLOCK_BYTES})
    arm = replayed(trace_of(*rows, Access("huge", 100, 100 * BLOCK_BYTES, 3)), engine, policy)[0]["arms"][policy]
    if POLICIES[policy].rules({}).hbm_unbounded:
        assert arm["tokens"]["hit"]["hbm"] == 102
    else:
        assert arm["tokens"]["hit"]["hbm"] == 3
        assert arm["tokens"]["reprefilled"]["bypassed"] == 100
        assert [row["action"] for row in arm["moves"]] == ["fill"]


@every_policy
def test_a_prompt_of_nothing_is_no_trouble(policy: str) -> None:
    trace = trace_of(Ask([], 0), Ask([], 1, tail=3), Clear("", 1), Fault("disk", 2, 3), Pressure("hbm", 1_000_000, 4))
    arm = replayed(trace, engine_of({"hbm": BLOCK_BYTES}), policy)[0]["arms"][policy]
    assert (arm["tokens"]["input"], arm["tokens"]["unidentified"], arm["moves"]) == (3, 3, [])


@every_policy
def test_only_the_ceiling_is_deaf_to_what_happens_to_its_tiers(policy: str) -> None:
    rows: list[Row] = [
        Ask("ab", 0),
        Clear("", 1),
        Ask("ab", 2),
        Fault("hbm", 3, 10),
        Ask("ab", 4),
        Pressure("hbm", 1_000_000, 20),
    ]
    arm = replayed(trace_of(*rows), engine_of({"hbm": 2 * BLOCK_BYTES}), policy)[0]["arms"][policy]
    lost = {cause: tokens for cause, tokens in arm["tokens"]["reprefilled"].items() if tokens}
    if POLICIES[policy].rules({}).hbm_unbounded:
        assert lost == {}
    else:
        assert lost == {"cleared": 8, "fault": 4, "stranded": 4}
        assert arm["occupancy_bytes"]["hbm"]["end"] == 0


def test_the_ceiling_is_a_policy_and_comes_last() -> None:
    assert list(POLICIES)[-1] == CEILING
    assert POLICIES[CEILING].rules({}).hbm_unbounded == 1


def test_what_the_user_sets_goes_before_what_the_policy_changes() -> None:
    assert POLICIES["blind-lru"].rules({}).colder_tiers == 0
    assert POLICIES["blind-lru"].rules({"colder_tiers": 1}).colder_tiers == 1


def test_every_rule_is_an_attribute_with_its_default() -> None:
    rules = Rules({})
    assert {spec.name: getattr(rules, spec.name) for spec in RULE_SPECS} == {
        spec.name: spec.default for spec in RULE_SPECS
    }
    assert vars(rules).keys() == {spec.name for spec in RULE_SPECS}


# --- promotion and compression, which are off in every policy ---

ON = {
    "promote_accesses_per_1000_s": [1, 10**6, 10**8, 10**9],
    "compress_ppm": [1, 250_000, 999_999, 1_000_000],
    "compress_measured": [1],
    "compress_delta_ppm": [0, 10],
    "compress_bound_ppm": [10],
}


def test_promotion_and_compression_keep_every_account() -> None:
    met: Counter[str] = Counter()
    for seed in range(120):
        random = Random(seed)
        settings = {name: random.choice(values) for name, values in ON.items()}
        trace, engine = grow_trace(seed, 50), grow_engine(seed)
        report, lines = replayed(trace, engine, "tiered", settings, **grow_options(seed))
        arm = report["arms"]["tiered"]
        met.update(row["action"] for row in arm["moves"])
        held = walk(lines, capacities(engine, "tiered"))
        for tier, figures in arm["occupancy_bytes"].items():
            assert sum(size for where, size in held.values() if where == tier) == figures["end"]
        tokens = arm["tokens"]
        computed = tokens["cold"] + tokens["obligatory"] + tokens["unidentified"] + sum(tokens["reprefilled"].values())
        assert sum(tokens["hit"].values()) + computed == tokens["input"] == sum(trace.input_tokens)
    assert met["promote"] >= 5
    assert met["compress_demote"] >= 5


def test_promotion_and_compression_are_off_in_every_policy() -> None:
    for spec in POLICIES.values():
        assert spec.rules({}).promote_accesses_per_1000_s == 0
        assert spec.rules({}).compress_ppm == 0


def test_a_span_is_never_attended_in_place_once_it_is_compressed() -> None:
    """Attention reads exact bytes; compressed ones are restored, at their own size, into room for the whole."""
    rows = [Ask("a", 0), Ask("b", 10), Ask("a", 20)]
    engine = engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES}, prefill_ns_per_token=24)
    settings = {"compress_ppm": 250_000, "compress_measured": 1, "compress_bound_ppm": 10}
    exact = arm_of(trace_of(*rows), engine)
    assert [row["action"] for row in exact["moves"]] == ["evict", "fill"]
    arm = arm_of(trace_of(*rows), engine, settings=settings)
    assert [(row["action"], row["from"], row["to"], row["count"], row["bytes"]) for row in arm["moves"]] == [
        ("compress_demote", "hbm", "dram", 2, 2000),
        ("fill", "", "hbm", 2, 8000),
        ("restore", "dram", "hbm", 1, 1000),
    ]
    assert arm["occupancy_bytes"]["hbm"]["end"] == BLOCK_BYTES
    assert arm["occupancy_bytes"]["dram"]["end"] == 1000


def test_a_span_that_is_computed_anew_is_exact_again() -> None:
    """Its compressed copy was cleared, so what HBM holds may be compressed once more."""
    rows: list[Row] = [Ask("a", 0), Ask("b", 10), Clear("dram", 20), Ask("a", 30), Ask("c", 40)]
    engine = engine_of({"hbm": BLOCK_BYTES, "dram": 4 * BLOCK_BYTES}, prefill_ns_per_token=24)
    settings = {"compress_ppm": 250_000, "compress_measured": 1, "compress_bound_ppm": 10}
    arm = arm_of(trace_of(*rows), engine, settings=settings)
    assert [(row["action"], row["count"], row["bytes"]) for row in arm["moves"]] == [
        ("compress_demote", 3, 3000),
        ("fill", 4, 16_000),
        ("drop", 1, 1000),
    ]
