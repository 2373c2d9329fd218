"""The replay against the naive model of `replay_model`: token for token, cause by cause, nanosecond by nanosecond."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from builders import comparison_of
from hypothesis import given
from hypothesis import strategies as st
from model_books import CAUSES, DIRECTIVES, in_order, known_to_the_model
from model_costs import TIERS
from replay_model import ARMS, AS_WRITTEN, Model
from strategies import engines, grow_engine, grow_options, grow_trace, moderate, run_options, traces

from harness.engine import Engine
from harness.report import build_report
from harness.trace import Trace
from policy.identity import AXIS_NAMES

Arms = dict[str, dict[str, Any]]


def modelled(trace: Trace, engine: Engine, rules: dict[str, int], options: dict[str, Any]) -> dict[str, Any]:
    document = Model(trace, engine, rules, **options).run()
    return document | {"moves": in_order(document["moves"])}


def agree_on_every_policy(trace: Trace, engine: Engine, options: dict[str, Any]) -> Arms:
    """Hold every arm against the model, and return what both say."""
    report = build_report(comparison_of(trace, engine, against=("blind-lru", "tiered-reference"), **options))
    expected = {name: modelled(trace, engine, rules, options) for name, rules in ARMS.items()}
    assert expected == {name: known_to_the_model(arm) for name, arm in report["arms"].items()}
    assert report["audit"]["balanced"], report["audit"]
    return expected


@moderate(150)
@given(trace=traces(), engine=engines, options=run_options)
def test_every_policy_replays_as_the_naive_model_does(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    agree_on_every_policy(trace, engine, options)


@moderate(100)
@given(
    trace=traces(),
    engine=engines,
    options=run_options,
    settings=st.fixed_dictionaries({name: st.integers(0, 1) for name in AS_WRITTEN}),
)
def test_every_mixture_of_the_rules_replays_as_the_naive_model_does(
    trace: Trace, engine: Engine, options: dict[str, Any], settings: dict[str, int]
) -> None:
    report = build_report(comparison_of(trace, engine, settings=settings, **options))
    assert modelled(trace, engine, ARMS["tiered"] | settings, options) == known_to_the_model(report["arms"]["tiered"])
    assert report["audit"]["balanced"], report["audit"]


@moderate(80)
@given(
    trace=traces(identities=True),
    engine=engines,
    options=run_options,
    isolation=st.lists(st.sampled_from(AXIS_NAMES), unique=True).map(tuple),
)
def test_every_isolation_replays_as_a_model_that_names_blocks_by_class(
    trace: Trace, engine: Engine, options: dict[str, Any], isolation: tuple[str, ...]
) -> None:
    agree_on_every_policy(trace, engine, options | {"isolation": isolation})


def test_long_walks_replay_as_the_naive_model_does_and_meet_everything_that_can_happen() -> None:
    """Dense seeded traces; that every cause, move and tier occurs shows that the comparison is about all of them."""
    met: Counter[str] = Counter()
    for seed in range(150):
        arms = agree_on_every_policy(grow_trace(seed, 60), grow_engine(seed), grow_options(seed))
        for name in ("tiered", "tiered-reference"):
            arm = arms[name]
            met.update(cause for cause, tokens in arm["tokens"]["reprefilled"].items() if tokens)
            met.update(f"hit in {tier}" for tier, tokens in arm["tokens"]["hit"].items() if tokens)
            met.update(f"{row['action']} {row['outcome']}" for row in arm["moves"])
            met.update(reason for reason, count in arm["evictions"].items() if count)
            met.update(word for word, count in arm["lifecycle"].items() if count)
    expected = {
        *CAUSES,
        *(f"hit in {tier}" for tier in TIERS),
        *(f"{action} ok" for action in DIRECTIVES),
        "restore fault",
        "expiring",
        "expired",
        "revived",
        "expired_no_demote",
        "no_colder_tier_with_room",
        "recompute_cheaper_than_retain",
    }
    assert set(met) == expected
    assert min(met.values()) >= 5, met


def test_a_difference_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The comparison is worth something only if a model that is wrong in one rule does not agree."""
    monkeypatch.setattr(Model, "cut", lambda self, run, output_tokens: len(run))

    def agree_on_fifty() -> None:
        for seed in range(50):
            agree_on_every_policy(grow_trace(seed, 60), grow_engine(seed), grow_options(seed))

    with pytest.raises(AssertionError):
        agree_on_fifty()
