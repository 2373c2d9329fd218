"""What must hold of every fleet, whatever the trace, the machine, the router and the pools."""

from __future__ import annotations

import io
from collections import Counter
from typing import Any

from builders import BLOCK_BYTES, Ask, Tier, comparison_of, engine_of, options_of, report_of, trace_of
from fleet_walk import FleetWalk
from hypothesis import given
from hypothesis import strategies as st
from strategies import (
    SEEDS,
    engines,
    fleet_options,
    grow_fleet,
    grow_rows,
    moderate,
    run_options,
    traces,
    without_pooled_ttls,
)

from harness.comparison import Comparison, compare
from harness.documents import canonical_bytes
from harness.engine import Engine
from harness.fleet import FleetOptions
from harness.metrics.exposition import exposition
from harness.metrics.journal import JournalMetrics
from harness.report import build_report
from harness.routing import ROUTERS
from harness.trace import Trace
from policy.tiers import HBM, LADDER, tier_code

AGAINST = ("blind-lru", "tiered-reference")
EVERYTHING: dict[str, int] = {
    "promote_accesses_per_1000_s": 1,
    "compress_ppm": 300_000,
    "compress_measured": 1,
    "compress_delta_ppm": 5,
    "compress_bound_ppm": 10,
}


def told(trace: Trace, engine: Engine, fleet: FleetOptions, **options: Any) -> tuple[Comparison, list[bytes]]:
    """A run and its policy's directive lines."""
    stream = io.BytesIO()
    comparison = compare(trace, engine, options_of(fleet=fleet, **options), stream)
    return comparison, stream.getvalue().splitlines()


@moderate(50)
@given(
    trace=traces(),
    engine=engines,
    options=run_options,
    router=st.sampled_from(sorted(ROUTERS)),
    hosts=st.integers(1, 256),
    settings=st.sampled_from([{}, EVERYTHING]),
)
def test_a_fleet_of_one_is_the_plain_replay_to_the_byte(
    trace: Trace, engine: Engine, options: dict[str, Any], router: str, hosts: int, settings: dict[str, int]
) -> None:
    def outputs(fleet: FleetOptions) -> tuple[bytes, ...]:
        directives, metrics = io.BytesIO(), JournalMetrics()
        accounts: list[object] = []
        asked = options_of(against=AGAINST, settings=settings, fleet=fleet, **options)
        comparison = compare(trace, engine, asked, directives, accounts.append, None, metrics.follow)
        return (
            canonical_bytes(build_report(comparison)),
            directives.getvalue(),
            repr(accounts).encode(),
            exposition(metrics.snapshot()),
        )

    pooled = FleetOptions(1, router, {tier: hosts for tier in engine.profiles if tier != HBM})
    assert outputs(pooled) == outputs(FleetOptions())


@moderate(80)
@given(
    trace=traces(),
    engine=engines,
    options=run_options,
    seed=SEEDS,
    settings=st.sampled_from([{}, EVERYTHING, EVERYTHING | {"cascade": 0, "room_when_free": 1}]),
)
def test_a_fleets_directives_can_be_followed_to_what_its_tiers_hold(
    trace: Trace, engine: Engine, options: dict[str, Any], seed: int, settings: dict[str, int]
) -> None:
    fleet = grow_fleet(seed, engine)
    options = without_pooled_ttls(options, fleet)
    comparison, lines = told(trace, engine, fleet_options(fleet), settings=settings, **options)
    arm = comparison.arms["tiered"]
    report = build_report(comparison)
    assert report["audit"]["balanced"], report["audit"]
    capacity_bytes = {LADDER[tier]: profile.capacity_bytes for tier, profile in engine.profiles.items()}
    pools = [(LADDER[pool.state.tier], pool.hosts) for pool in arm.pools]
    walk = FleetWalk(capacity_bytes, pools).follow(lines)
    occupancy = report["arms"]["tiered"]["occupancy_bytes"]
    assert {tier: walk.end_bytes(tier) for tier in occupancy} == {tier: held["end"] for tier, held in occupancy.items()}
    for pool in arm.pools:
        left = {span: size for span, size in enumerate(pool.state.held_bytes) if size}
        assert walk.place(pool.hosts.start, LADDER[pool.state.tier]) == left


@moderate(50)
@given(trace=traces(), engine=engines, options=run_options, seed=SEEDS)
def test_every_token_is_accounted_for_and_cold_once_in_a_fleet(
    trace: Trace, engine: Engine, options: dict[str, Any], seed: int
) -> None:
    fleet = grow_fleet(seed, engine)
    options = without_pooled_ttls(options, fleet)
    report = report_of(trace, engine, against=AGAINST, fleet=fleet_options(fleet), **options)
    arms = report["arms"]
    for arm in arms.values():
        tokens = arm["tokens"]
        computed = tokens["cold"] + sum(tokens["reprefilled"].values())
        assert sum(tokens["hit"].values()) + computed + tokens["obligatory"] + tokens["unidentified"] == tokens["input"]
        assert tokens["cold"] == arms["infinite"]["tokens"]["cold"]
        assert arm["time_ns"]["prefill"] >= arms["infinite"]["time_ns"]["prefill"]
    section = report["fleet"]
    assert sum(section["requests"]) == trace.requests
    assert sum(section["input_tokens"]) == sum(trace.input_tokens)
    for name, arm in section["arms"].items():
        for tier, tokens in arms[name]["tokens"]["hit"].items():
            assert sum(one["hit"][tier] for one in arm["replicas"]) == tokens
        for pool in arm["pools"]:
            assert min(pool["deduplicated_bytes"].values()) >= 0
            assert pool["deduplicated_bytes"]["end"] <= pool["held_bytes"]["end"] * (len(pool["replicas"]) - 1)


@moderate(50)
@given(
    seed=SEEDS,
    length=st.integers(2, 40),
    engine=engines,
    replicas=st.integers(2, 4),
    policy=st.sampled_from(["tiered", "tiered-reference", "blind-lru"]),
)
def test_replicas_without_pools_are_as_many_replays_of_what_each_was_sent(
    seed: int, length: int, engine: Engine, replicas: int, policy: str
) -> None:
    """One block per span, since longer ones are cut from the whole trace."""
    rows, sizes = grow_rows(seed, length, in_order=True, accesses=False)
    fleet = FleetOptions(replicas)
    against = tuple(name for name in ("tiered", "blind-lru") if name != policy)
    whole = build_report(comparison_of(trace_of(*rows, sizes=sizes), engine, policy, against=against, fleet=fleet))
    asked = [at for at, row in enumerate(rows) if isinstance(row, Ask)]
    moved: Counter[tuple[str, ...]] = Counter()
    computed_in_all = 0
    for replica in range(min(replicas, len(asked))):
        mine = set(asked[replica::replicas])
        part = [row for at, row in enumerate(rows) if at in mine or not isinstance(row, Ask)]
        alone = report_of(trace_of(*part, sizes=sizes), engine, policy, against=against)["arms"][policy]
        one = whole["fleet"]["arms"][policy]["replicas"][replica]
        assert one["hit"] == alone["tokens"]["hit"]
        tokens = alone["tokens"]
        computed = tokens["cold"] + sum(tokens["reprefilled"].values())
        computed_in_all += computed
        assert one["prefill_tokens"] == computed + tokens["obligatory"] + tokens["unidentified"]
        for row in alone["moves"]:
            moved[row["action"], row["from"], row["to"], row["outcome"]] += row["count"]
    arm = whole["arms"][policy]
    assert {(row["action"], row["from"], row["to"], row["outcome"]): row["count"] for row in arm["moves"]} == moved
    assert arm["tokens"]["cold"] + sum(arm["tokens"]["reprefilled"].values()) == computed_in_all


@moderate(50)
@given(
    trace=traces(controls=False),
    hbm=st.integers(1, 6),
    replicas=st.integers(2, 5),
    router=st.sampled_from(sorted(ROUTERS)),
)
def test_a_pool_without_bound_and_of_no_cost_loses_nothing(trace: Trace, hbm: int, replicas: int, router: str) -> None:
    """What is computed again is still in another replica's HBM, or was never kept; nothing is lost to pressure."""
    engine = engine_of({"hbm": hbm * BLOCK_BYTES, "dram": Tier(0, 0, 10**9)})
    fleet = FleetOptions(replicas, router, {tier_code("dram"): replicas})
    tokens = report_of(trace, engine, fleet=fleet)["arms"]["tiered"]["tokens"]
    assert {cause for cause, lost in tokens["reprefilled"].items() if lost} <= {"elsewhere", "stranded", "bypassed"}


@moderate(60)
@given(trace=traces(60), engine=engines, options=run_options, seed=SEEDS, settings=st.sampled_from([{}, EVERYTHING]))
def test_the_metrics_of_a_fleet_are_those_of_its_report(
    trace: Trace, engine: Engine, options: dict[str, Any], seed: int, settings: dict[str, int]
) -> None:
    fleet = grow_fleet(seed, engine)
    metrics = JournalMetrics()
    asked = options_of(settings=settings, fleet=fleet_options(fleet), **without_pooled_ttls(options, fleet))
    arm = build_report(compare(trace, engine, asked, follow=metrics.follow))["arms"]["tiered"]
    got = metrics.snapshot()
    transfers = [row for row in arm["moves"] if row["directive"]]
    moved = [
        row
        for row in transfers
        if row["outcome"] == "ok" and row["action"] != "dedupe" and row["to"] not in ("recompute", row["from"])
    ]
    assert got.events == sum(row["count"] for row in transfers)
    assert got.bytes_moved == sum(row["bytes"] for row in moved)
    assert got.tokens_moved == sum(row["tokens"] for row in moved)
    assert sum(row.count for row in got.decisions) == sum(row["count"] for row in arm["moves"])
    held = {tier: figures["end"] for tier, figures in arm["occupancy_bytes"].items()}
    assert {row.tier: row.used_bytes for row in got.occupancy} == held
