"""Each warning from the smallest run that deserves it, and none where there is nothing to say."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import BLOCK_BYTES, Access, Ask, Tier, engine_of, options_of, report_of
from builders import trace_of as trace_as_built

from harness.comparison import compare
from harness.render.footer import build_footer
from harness.report import build_report
from harness.trace import Trace
from policy.identity import Identity

ROOMY = engine_of({"hbm": 10 * BLOCK_BYTES, "dram": 10 * BLOCK_BYTES}, prefill_ns_per_token=1)
SECOND_US = 1_000_000
MINE = Identity(tenant="mine")
YOURS = Identity(tenant="yours", adapter="a")


def trace_of(*rows: Ask | Access) -> Trace:
    """A trace whose every request states who asks: that it does not is a warning of its own."""
    return trace_as_built(*(replace(row, who=MINE) for row in rows))


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


LEFT_OUT = "which --isolation leaves out: hits across them are counted, but would be wrong, or leak"
ONE, TWO, THREE = Ask("a"), Ask("a", SECOND_US), Ask("b", 2 * SECOND_US)


@pytest.mark.parametrize(
    ("rows", "isolation", "warning", "words"),
    [
        (
            [ONE, TWO],
            ("tenant",),
            {"code": "identity_unknown", "requests": 2, "of": 2},
            "this trace states no identity (model, tokenizer, adapter, salt, tenant): its reuse is an upper bound",
        ),
        (
            [ONE, replace(TWO, who=MINE), THREE],
            ("tenant",),
            {"code": "identity_unknown", "requests": 2, "of": 3},
            "2 of 3 requests state no identity (model, tokenizer, adapter, salt, tenant): reuse among them is an upper"
            " bound",
        ),
        (
            [replace(ONE, who=MINE), replace(TWO, who=YOURS)],
            (),
            {"code": "identities_are_mixed", "axes": ["adapter", "tenant"]},
            f"requests that share blocks differ in adapter and tenant, {LEFT_OUT}",
        ),
        # Two tenants with no adapter, and a third with one: kept apart, adapters are mixed nowhere, but tenants are.
        (
            [replace(ONE, who=MINE), replace(TWO, who=Identity(tenant="theirs")), replace(THREE, who=YOURS)],
            ("adapter",),
            {"code": "identities_are_mixed", "axes": ["tenant"]},
            f"requests that share blocks differ in tenant, {LEFT_OUT}",
        ),
        (
            [replace(ONE, who=MINE, session="s"), replace(TWO, who=YOURS, session="s")],
            ("session",),
            {"code": "identities_are_mixed", "axes": ["adapter", "tenant"]},
            f"requests that share blocks differ in adapter and tenant, {LEFT_OUT}",
        ),
    ],
)
def test_identities_that_are_unknown_or_mixed_are_named(
    rows: list[Ask], isolation: tuple[str, ...], warning: dict[str, Any], words: str
) -> None:
    report = report_of(trace_as_built(*rows), ROOMY, isolation=isolation)
    assert report["warnings"] == [warning]
    assert build_footer(report)[0] == f"warning: {words}"


@pytest.mark.parametrize("isolation", [("tenant",), ("session",), ("adapter", "tenant")])
def test_axes_that_differ_in_no_class_are_not_mixed(isolation: tuple[str, ...]) -> None:
    rows = [replace(ONE, who=MINE, session="s"), replace(TWO, who=YOURS, session="t")]
    assert report_of(trace_as_built(*rows), ROOMY, isolation=isolation)["warnings"] == []
