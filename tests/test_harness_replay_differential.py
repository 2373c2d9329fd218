"""The replay against the naive model of `replay_model`: token for token, cause by cause, nanosecond by nanosecond."""

from __future__ import annotations

from typing import Any

from builders import comparison_of
from hypothesis import given
from hypothesis import strategies as st
from replay_model import ARMS, AS_WRITTEN, Model
from strategies import engines, graces, moderate, span_sizes, traces, ttl_tables

from harness.engine import Engine
from harness.report import build_report
from harness.trace import Trace


def known_to_the_model(arm: dict[str, Any]) -> dict[str, Any]:
    """The parts of a report's arm that the model counts, its moves in an order that both can have."""
    parts = ("tokens", "time_ns", "ttft_ns", "evictions", "lifecycle")
    return {part: arm[part] for part in parts} | {
        "moves": in_order(arm["moves"]),
        "occupancy_bytes": {
            tier: {key: figures[key] for key in ("peak", "end")} for tier, figures in arm["occupancy_bytes"].items()
        },
    }


def in_order(moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(moves, key=lambda row: (row["action"], row["from"], row["to"], row["outcome"]))


def modelled(*arguments: Any) -> dict[str, Any]:
    document = Model(*arguments).run()
    return document | {"moves": in_order(document["moves"])}


@moderate(400)
@given(
    trace=traces(),
    engine=engines,
    ttl_us=st.one_of(st.just({}), ttl_tables),
    grace_us=graces,
    demote_on_expiry=st.booleans(),
    span_tokens=span_sizes,
    now_ms=st.sampled_from([0, 7, 10**12]),
)
def test_every_policy_replays_as_the_naive_model_does(
    trace: Trace,
    engine: Engine,
    ttl_us: dict[str, int],
    grace_us: int,
    demote_on_expiry: bool,
    span_tokens: int,
    now_ms: int,
) -> None:
    options = {"grace_us": grace_us, "demote_on_expiry": demote_on_expiry, "span_tokens": span_tokens, "now_ms": now_ms}
    report = build_report(
        comparison_of(trace, engine, against=("blind-lru", "tiered-reference"), ttl_us=ttl_us, **options)
    )
    assert set(report["arms"]) == set(ARMS)
    for name, rules in ARMS.items():
        expected = modelled(trace, engine, rules, ttl_us, *options.values())
        assert expected == known_to_the_model(report["arms"][name]), name
    assert report["audit"]["balanced"], report["audit"]


@moderate(200)
@given(
    trace=traces(),
    engine=engines,
    ttl_us=ttl_tables,
    grace_us=graces,
    settings=st.fixed_dictionaries({name: st.integers(0, 1) for name in AS_WRITTEN}),
    span_tokens=span_sizes,
)
def test_every_mixture_of_the_rules_replays_as_the_naive_model_does(
    trace: Trace, engine: Engine, ttl_us: dict[str, int], grace_us: int, settings: dict[str, int], span_tokens: int
) -> None:
    report = build_report(
        comparison_of(trace, engine, settings=settings, ttl_us=ttl_us, grace_us=grace_us, span_tokens=span_tokens)
    )
    expected = modelled(trace, engine, ARMS["tiered"] | settings, ttl_us, grace_us, True, span_tokens, 0)
    assert expected == known_to_the_model(report["arms"]["tiered"])
    assert report["audit"]["balanced"], report["audit"]
