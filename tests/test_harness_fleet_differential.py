"""The replay of fleets against the naive fleet of `fleet_model`: every token, move, cause, pool and replica."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from builders import comparison_of
from fleet_model import FleetModel, Host, Pool, imbalance_ppm
from hypothesis import given
from hypothesis import strategies as st
from model_books import CAUSES, DIRECTIVES, POOLED_DIRECTIVES, in_order, known_to_the_model
from model_costs import TIERS
from replay_model import ARMS, AS_WRITTEN
from strategies import (
    SEEDS,
    engines,
    fleet_options,
    grow_engine,
    grow_fleet,
    grow_options,
    grow_trace,
    moderate,
    run_options,
    traces,
    without_pooled_ttls,
)

from harness.engine import Engine
from harness.report import build_report
from harness.routing import ROUTERS
from harness.trace import Trace

POLICIES = ("tiered", "tiered-reference", "blind-lru")


def agree(
    trace: Trace,
    engine: Engine,
    options: dict[str, Any],
    fleet: dict[str, Any],
    settings: dict[str, int] | None = None,
) -> dict[str, tuple[dict[str, Any], dict[str, Any]]]:
    """Hold every arm of a fleet against the model, and return what both say: of the arm, and of its fleet."""
    options = without_pooled_ttls(options, fleet)
    asked = fleet_options(fleet)
    comparison = comparison_of(trace, engine, against=POLICIES[1:], settings=settings, fleet=asked, **options)
    report = build_report(comparison)
    expected = {}
    for name in POLICIES:
        rules = ARMS[name] | (settings or {}) if name == "tiered" else ARMS[name]
        model = FleetModel(trace, engine, rules, options, **fleet)
        arm, about = model.run()
        expected[name] = (arm | {"moves": in_order(arm["moves"])}, about)
        assert [model.routes[request] for request in range(trace.requests)] == list(comparison.routing.routes)
        contents = [set(pool.users) for pool in model.pools]
        assert contents == [
            {span for span, size in enumerate(pool.state.held_bytes) if size} for pool in comparison.arms[name].pools
        ]
    assert report["audit"]["balanced"], report["audit"]
    section = report["fleet"]
    for name, (arm, about) in expected.items():
        assert known_to_the_model(report["arms"][name]) == arm
        said = section["arms"][name]
        assert {key: said[key] for key in ("prefill_imbalance_ppm", "pools")} == {
            key: about[key] for key in ("prefill_imbalance_ppm", "pools")
        }
        assert [{key: one[key] for key in ("hit", "prefill_tokens")} for one in said["replicas"]] == about["replicas"]
        assert said["prefill_tokens"] == sum(one["prefill_tokens"] for one in about["replicas"])
        for part, figure in (("deduplicated_bytes", "end"), ("deduplicated_bytes", "mean")):
            assert said[part][figure] == sum(pool[part][figure] for pool in about["pools"])
        assert said["resident_bytes"]["end"] == sum(held["end"] for held in arm["occupancy_bytes"].values())
    assert section["input_imbalance_ppm"] == imbalance_ppm(section["input_tokens"])
    return expected


@moderate(150)
@given(trace=traces(), engine=engines, options=run_options, seed=SEEDS)
def test_a_fleet_replays_as_the_naive_fleet_does(
    trace: Trace, engine: Engine, options: dict[str, Any], seed: int
) -> None:
    agree(trace, engine, options, grow_fleet(seed, engine))


@moderate(100)
@given(
    trace=traces(),
    engine=engines,
    options=run_options,
    seed=SEEDS,
    settings=st.fixed_dictionaries({name: st.integers(0, 1) for name in AS_WRITTEN}),
)
def test_a_fleet_under_any_mixture_of_the_rules_replays_as_the_naive_fleet_does(
    trace: Trace, engine: Engine, options: dict[str, Any], seed: int, settings: dict[str, int]
) -> None:
    agree(trace, engine, options, grow_fleet(seed, engine), settings)


def test_long_walks_of_fleets_meet_everything_that_can_happen() -> None:
    """Dense seeded traces; that every cause, move and tier occurs shows that the comparison is about all of them."""
    met: Counter[str] = Counter()
    for seed in range(150):
        engine = grow_engine(seed)
        fleet = grow_fleet(seed, engine)
        met[fleet["router"]] += 1
        for arm, about in agree(grow_trace(seed, 60), engine, grow_options(seed), fleet).values():
            met.update(cause for cause, tokens in arm["tokens"]["reprefilled"].items() if tokens)
            met.update(f"hit in {tier}" for tier, tokens in arm["tokens"]["hit"].items() if tokens)
            met.update(f"{row['action']} {row['outcome']}" for row in arm["moves"])
            met.update(f"dedupe {direction(row)}" for row in arm["moves"] if row["action"] == "dedupe")
            met.update(word for word, count in arm["lifecycle"].items() if count)
            met.update(f"{pool['tier']} pool" for pool in about["pools"] if pool["held_bytes"]["peak"])
            met.update(
                f"zero copy {pool['zero_copy']}" for pool in about["pools"] if pool["deduplicated_bytes"]["peak"]
            )
            met.update(["several pools"] if len({pool["tier"] for pool in about["pools"]}) > 1 else [])
    expected = {
        *ROUTERS,
        *CAUSES,
        "elsewhere",
        *(f"hit in {tier}" for tier in TIERS),
        *(f"{action} ok" for action in DIRECTIVES | POOLED_DIRECTIVES),
        "dedupe into a pool",
        "dedupe out of a pool",
        "restore fault",
        "expiring",
        "expired",
        "revived",
        *(f"{tier} pool" for tier in TIERS[1:]),
        "zero copy True",
        "zero copy False",
        "several pools",
    }
    assert set(met) == expected
    assert min(met.values()) >= 5, met


def direction(row: dict[str, Any]) -> str:
    """A host's own copy is let go of for one in a colder pool; a pool's, for the host's own in a hotter tier."""
    return "into a pool" if TIERS.index(row["from"]) < TIERS.index(row["to"]) else "out of a pool"


@pytest.mark.parametrize("broken", ["is_spare", "why_lost", "age"])
def test_a_difference_would_be_seen(monkeypatch: pytest.MonkeyPatch, broken: str) -> None:
    """The comparison is worth something only if a model that is wrong in one rule does not agree."""
    if broken == "is_spare":
        monkeypatch.setattr(
            Host, "push_out", lambda self, time, pool: pool.remove(time, self.victim(pool.tier), "cost")
        )
    elif broken == "why_lost":
        monkeypatch.setattr(Host, "why_lost", lambda self, span: self.why.get(span, "elsewhere"))
    else:
        monkeypatch.setattr(Pool, "use", lambda self, time, span, host: None)

    def agree_on_forty() -> None:
        for seed in range(40):
            engine = grow_engine(seed)
            agree(grow_trace(seed, 60), engine, grow_options(seed), grow_fleet(seed, engine))

    with pytest.raises(AssertionError):
        agree_on_forty()
