"""Each warning from the smallest run that deserves it, and none where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from builders import BLOCK_BYTES, Access, Ask, Tier, engine_of, options_of, report_of, trace_of

from harness.comparison import compare
from harness.report import build_report

ROOMY = engine_of({"hbm": 10 * BLOCK_BYTES, "dram": 10 * BLOCK_BYTES}, prefill_ns_per_token=1)
SECOND_US = 1_000_000


def found(report: dict[str, Any]) -> list[tuple[str, str]]:
    return [(warning["code"], warning.get("arm", "")) for warning in report["warnings"]]


def test_a_run_with_nothing_to_say_has_no_warnings() -> None:
    assert report_of(trace_of(Ask("a"), Ask("a", SECOND_US)), ROOMY)["warnings"] == []


def test_a_tier_that_is_busy_for_longer_than_the_trace_lasts_is_named_with_its_arm() -> None:
    slow = engine_of({"hbm": BLOCK_BYTES, "dram": Tier(10 * BLOCK_BYTES, 2_000)}, prefill_ns_per_token=1000)
    report = report_of(trace_of(Ask("a"), Ask("b", 1)), slow)
    assert report["warnings"][0] == {
        "code": "plan_does_not_fit_the_hardware",
        "arm": "tiered",
        "where": "dram",
        "ppm": 2_013_000,
    }


def test_an_engine_whose_prefills_take_longer_than_the_trace_is_named_in_every_arm() -> None:
    engine = replace(ROOMY, prefill=engine_of({}, prefill_ns_per_token=1_000_000_000).prefill)
    report = report_of(trace_of(Ask("a"), Ask("b", SECOND_US)), engine)
    assert report["arms"]["tiered"]["engine_busy_ppm"] == 8_000_000
    assert [warning for warning in found(report) if warning[0] == "engine_slower_than_the_trace"] == [
        ("engine_slower_than_the_trace", name) for name in ("tiered", "blind-lru", "infinite")
    ]


def test_a_trace_at_one_instant_says_nothing_about_bandwidth() -> None:
    report = report_of(trace_of(Ask("a"), Ask("b")), ROOMY)
    assert found(report) == [("trace_has_no_duration", "")]
    assert report["arms"]["tiered"]["utilisation_ppm"] == {}


def test_requests_without_blocks_are_counted_with_their_tokens_and_tails_are_not() -> None:
    report = report_of(trace_of(Ask("", tail=7), Ask("a", SECOND_US, tail=3)), ROOMY)
    assert report["warnings"] == [{"code": "reuse_unknown", "requests": 1, "tokens": 7}]


def test_an_unbounded_tier_that_is_used_is_named_with_what_it_had_to_hold() -> None:
    engine = engine_of({"hbm": BLOCK_BYTES, "remote": 0}, prefill_ns_per_token=1_000_000)
    report = report_of(trace_of(Ask("a"), Ask("b", 100 * SECOND_US)), engine)
    assert report["warnings"] == [
        {"code": "unbounded_tier_is_used", "arm": "tiered", "where": "remote", "peak_bytes": BLOCK_BYTES}
    ]


def test_more_hbm_than_the_accelerators_have_is_named() -> None:
    engine = replace(ROOMY, accelerator_bytes=BLOCK_BYTES)
    report = build_report(compare(trace_of(Access("a", 4), Access("a", 4, t_us=SECOND_US)), engine, options_of()))
    assert report["warnings"] == [
        {
            "code": "hbm_larger_than_the_accelerators",
            "capacity_bytes": 10 * BLOCK_BYTES,
            "memory_bytes": BLOCK_BYTES,
        }
    ]
