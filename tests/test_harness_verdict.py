"""What the figures of two arms mean: each verdict from figures made up for it, and each warning."""

from __future__ import annotations

from typing import Any

import pytest

from harness.verdict import NOISE_PPM, compare_arm, computed_tokens, overloaded, ratio_ppm, waited_ns


def arm(
    prefill_ns: int = 0,
    stage_ns: int = 0,
    attend_ns: int = 0,
    *,
    cold: int = 60,
    pressure: int = 0,
    busy: dict[str, int] | None = None,
    links: dict[str, int] | None = None,
) -> dict[str, Any]:
    """An arm of 100 input tokens, 60 of them cold; what is neither cold nor lost is a hit, but for one token."""
    return {
        "tokens": {
            "input": 100,
            "hit": {"hbm": 100 - cold - pressure - 1},
            "cold": cold,
            "obligatory": 1,
            "unidentified": 0,
            "reprefilled": {"pressure": pressure, "cost": 0, "bypassed": 0},
        },
        "time_ns": {"prefill": prefill_ns, "stage": stage_ns, "attend": attend_ns, "offload": 10**12},
        "utilisation_ppm": busy or {},
        "link_utilisation_ppm": links or {},
    }


CEILING = arm(600_000)
BASELINE = arm(1_000_000, pressure=40)


@pytest.mark.parametrize(
    ("part", "whole", "ppm"),
    [
        (1, 3, 333_333),
        (-1, 3, -333_333),
        (1, -3, -333_333),
        (-1, -3, 333_333),
        (2, 2, 1_000_000),
        (0, 5, 0),
        (5, 0, 0),
        (-(10**30), 10**24, -(10**12)),
    ],
)
def test_a_ratio_is_rounded_toward_zero_and_is_zero_of_nothing(part: int, whole: int, ppm: int) -> None:
    assert ratio_ppm(part, whole) == ppm


def test_computed_tokens_are_all_but_the_hits() -> None:
    made = arm(pressure=7)
    made["tokens"]["unidentified"] = 5
    made["tokens"]["reprefilled"]["cost"] = 3
    assert computed_tokens(made) == 60 + 1 + 5 + 7 + 3


def test_requests_wait_for_prefill_staging_and_slower_reads_but_not_for_offloads() -> None:
    assert waited_ns(arm(1, 20, 300)) == 321


def test_an_arm_is_held_against_the_baseline_and_both_against_the_ceiling() -> None:
    assert compare_arm(arm(650_000, 40_000, 10_000, pressure=5), BASELINE, CEILING) == {
        "tokens_saved": 35,
        "prefill_ns_saved": 350_000,
        "net_ns_saved": 300_000,
        "saved_ppm": 300_000,
        "possible_ns": 400_000,
        "of_possible_ppm": 750_000,
        "verdict": "pays",
        "reason": "saves_time",
    }


EDGE_NS = 1_000_000 * NOISE_PPM // 1_000_000


@pytest.mark.parametrize(
    ("candidate", "verdict", "reason"),
    [
        (arm(1_000_000 - EDGE_NS), "pays", "saves_time"),
        (arm(1_000_000 - EDGE_NS + 1), "too_close", "within_noise"),
        (arm(999_999), "too_close", "within_noise"),
        (arm(1_000_000), "does_not_pay", "nothing_saved"),
        (arm(1_000_001), "too_close", "within_noise"),
        (arm(600_000, 400_000 + EDGE_NS - 1), "too_close", "within_noise"),
        (arm(600_000, 400_000 + EDGE_NS), "does_not_pay", "loads_cost_more_than_they_save"),
        (arm(600_000, 0, 400_000 + EDGE_NS), "does_not_pay", "loads_cost_more_than_they_save"),
        (arm(600_000, busy={"disk": 1_000_000}), "pays", "saves_time"),
        (arm(600_000, busy={"disk": 1_000_001}), "does_not_fit", "bandwidth_exceeded"),
        (arm(600_000, links={"hbm-cxl": 1_000_001}), "does_not_fit", "bandwidth_exceeded"),
    ],
)
def test_a_verdict_says_whether_it_pays_and_why(candidate: dict[str, Any], verdict: str, reason: str) -> None:
    found = compare_arm(candidate, BASELINE, CEILING)
    assert (found["verdict"], found["reason"]) == (verdict, reason)


def test_where_nothing_is_ever_asked_for_twice_nothing_can_pay() -> None:
    nothing_again = arm(1_000_000, cold=99)
    assert nothing_again["tokens"]["hit"] == {"hbm": 0}
    found = compare_arm(nothing_again, nothing_again, nothing_again)
    assert (found["verdict"], found["reason"], found["of_possible_ppm"]) == ("does_not_pay", "no_reuse", 0)


def test_a_baseline_that_loses_nothing_leaves_nothing_to_save() -> None:
    found = compare_arm(arm(600_000), arm(600_000), CEILING)
    assert (found["verdict"], found["reason"]) == ("does_not_pay", "baseline_keeps_everything")


def test_what_is_busy_for_longer_than_the_trace_lasts_is_overloaded() -> None:
    made = arm(busy={"hbm": 1_000_000, "disk": 1_000_001}, links={"hbm-dram": 2_000_000, "hbm-cxl": 3})
    assert overloaded(made) == {"disk": 1_000_001, "hbm-dram": 2_000_000}


def test_a_loss_names_what_was_lost_more() -> None:
    candidate = arm(1_000_000 + 2 * EDGE_NS, 1, pressure=20)
    candidate["tokens"]["reprefilled"]["cost"] = 40
    found = compare_arm(candidate, BASELINE, CEILING)
    assert (found["verdict"], found["reason"]) == ("does_not_pay", "loses_more_by_cost")


def test_a_loss_is_a_loss_even_where_the_baseline_keeps_everything() -> None:
    found = compare_arm(arm(1_000_000, 0, EDGE_NS), arm(1_000_000), CEILING)
    assert (found["verdict"], found["reason"]) == ("does_not_pay", "loads_cost_more_than_they_save")


def test_where_most_of_a_trace_is_not_identified_nothing_can_be_said() -> None:
    silent = arm(1_000_000, cold=88)
    silent["tokens"]["unidentified"] = 11
    found = compare_arm(silent, silent, silent)
    assert (found["verdict"], found["reason"]) == ("unknown", "reuse_unknown")
    silent["tokens"]["unidentified"] = 10
    silent["tokens"]["cold"] = 89
    found = compare_arm(silent, silent, silent)
    assert (found["verdict"], found["reason"]) == ("does_not_pay", "no_reuse")


def test_prompts_that_never_fit_are_named() -> None:
    lost = arm(1_000_000)
    lost["tokens"]["reprefilled"]["bypassed"] = 40
    found = compare_arm(lost, lost, CEILING)
    assert (found["verdict"], found["reason"]) == ("does_not_pay", "prompts_do_not_fit_hbm")
