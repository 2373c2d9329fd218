"""A trace made ready: the order of events, the prices of spans, and refusals of figures that cannot be counted."""

from __future__ import annotations

from typing import Any

import pytest
from builders import BLOCK_BYTES, Access, Ask, Clear, Fault, Pressure, Tier, engine_of, trace_of

from harness.engine import LinkLimit, Prefill
from harness.errors import SetupError
from harness.workload import prepare
from policy.tiers import DISK, HBM

ENGINE = engine_of({"hbm": 0, "disk": 0}, prefill_ns_per_token=10)


def test_events_are_in_order_of_time_and_of_the_file_within_one_time() -> None:
    """Requests are their index, controls -1 - index."""
    trace = trace_of(
        Clear("hbm", 5),
        Ask("a", 5),
        Clear("dram", 5),
        Clear("cxl", 5),
        Ask("b", 5),
        Ask("c", 2),
        Clear("disk", 2),
        Fault("disk", 9, 12),
        Pressure("hbm", 7, 1),
    )
    workload = prepare(trace, ENGINE, 0, 0)
    assert list(workload.events) == [-6, 2, -4, -1, 0, -2, -3, 1, -5]
    assert list(workload.event_us) == [0, 1, 1, 4, 4, 4, 4, 4, 8]


def test_a_control_before_everything_is_the_first_event_of_the_clock() -> None:
    workload = prepare(trace_of(Ask("a", 100), Clear("", 40)), ENGINE, 0, 3)
    assert (workload.start_us, list(workload.event_us), workload.duration_us) == (3000, [3000, 3060], 60)
    assert list(workload.events) == [-1, 0]


@pytest.mark.parametrize(("first_us", "now_ms"), [(0, 0), (17, 5), (-40, 10**9), (2**53, -3)])
def test_now_is_the_time_of_the_first_event(first_us: int, now_ms: int) -> None:
    workload = prepare(trace_of(Ask("a", first_us), Ask("a", first_us + 250)), ENGINE, 0, now_ms)
    assert list(workload.event_us) == [1000 * now_ms, 1000 * now_ms + 250]
    assert workload.duration_us == 250


def test_requests_alone_are_sorted_stably() -> None:
    workload = prepare(trace_of(Ask("a", 3), Ask("b", 1), Ask("c", 3), Ask("d", 1)), ENGINE, 0, 0)
    assert list(workload.events) == [1, 3, 0, 2]


def test_a_span_costs_its_tokens_and_weighs_them_in_kv_bytes_unless_its_bytes_are_stated() -> None:
    trace = trace_of(Ask("ab"), Access("s", 5, 123), Access("t", 5), sizes={"b": 1})
    workload = prepare(trace, ENGINE, 0, 0)
    assert list(workload.spans.size_bytes) == [4000, 1000, 123, 5000]
    assert list(workload.spans.recompute_ns) == [40, 10, 50, 50]
    assert list(workload.spans.last_token_ns) == [10, 10, 10, 10]


def test_a_roofline_prices_what_stands_behind_its_context_and_the_tail_behind_all_blocks() -> None:
    prefill = Prefill(linear_flop_per_token=0, attention_flop_per_pair=2, mflop_per_s=1)
    engine = engine_of({"hbm": 0}, prefill=prefill)
    workload = prepare(trace_of(Ask("ab", tail=2), Ask("ab")), engine, 0, 0)
    # new * (2 * context + new) pairs, twice; at 1000 ns a FLOP.
    assert list(workload.spans.recompute_ns) == [16_000, 48_000]
    assert list(workload.spans.last_token_ns) == [7_000, 15_000]
    assert list(workload.tail_ns) == [36_000, 0]


def refusal(what: str, bound: int) -> str:
    return (
        f"the {what} could reach {bound}, beyond the 2**62 that the replay counts to;"
        " check the KV bytes per token, the prefill rate and the tier figures"
    )


@pytest.mark.parametrize(
    ("what", "bound", "options"),
    [
        # Two blocks of four tokens each.
        ("bytes of all spans", 8 * 2**59, {"kv_bytes_per_token": 2**59}),
        ("prefill time in ns", 8 * 2**59, {"prefill_ns_per_token": 2**59}),
        # Beyond what a column of 64-bit integers holds.
        ("bytes of a span", 4 * 2**63, {"kv_bytes_per_token": 2**63}),
        ("prefill time of a span in ns", 4 * 2**63, {"prefill_ns_per_token": 2**63}),
        ("bytes of one span, times 1000", 4000 * 2**51, {"kv_bytes_per_token": 2**51}),
    ],
)
def test_a_sum_that_could_pass_what_is_counted_is_refused(what: str, bound: int, options: dict[str, Any]) -> None:
    trace = trace_of(Ask("ab"), name="big.jsonl")
    with pytest.raises(SetupError) as caught:
        prepare(trace, engine_of({"hbm": 0}, **options), 0, 0)
    assert str(caught.value) == refusal(what, bound)


def test_a_tail_whose_prefill_could_pass_what_is_counted_is_refused() -> None:
    with pytest.raises(SetupError) as caught:
        prepare(trace_of(Ask("", tail=2**24)), engine_of({"hbm": 0}, prefill_ns_per_token=2**40), 0, 0)
    assert str(caught.value) == refusal("prefill time of a request in ns", 2**64)


def test_staging_that_could_pass_what_is_counted_is_refused() -> None:
    """The longest staging, at every visit of a span and once more."""
    trace = trace_of(Ask("ab"), name="slow.jsonl")
    with pytest.raises(SetupError) as caught:
        prepare(trace, engine_of({"hbm": 0, "disk": Tier(0, 2**61, 1)}), 0, 0)
    bound = 3 * (2**61 + 1000 * BLOCK_BYTES)
    assert str(caught.value) == refusal("staging time in ns", bound)


def test_attending_that_could_pass_what_is_counted_is_refused() -> None:
    trace = trace_of(Ask("a", output=2**24), name="long.jsonl")
    with pytest.raises(SetupError) as caught:
        prepare(trace, engine_of({"hbm": 0, "dram": Tier(0, 2**40, 1)}), 0, 0)
    bound = (2**24 + 1) * (2**40 + 1000 * BLOCK_BYTES)
    assert str(caught.value) == refusal("attend time in ns", bound)


def test_a_link_slower_than_every_tier_counts_in_what_could_be_reached() -> None:
    trace = trace_of(Access("s", 1, 2**50, output=4), name="link.jsonl")
    prepare(trace, engine_of({"hbm": 0, "disk": 0}), 0, 0)
    with pytest.raises(SetupError) as caught:
        prepare(trace, engine_of({"hbm": 0, "disk": 0}, links=[LinkLimit(HBM, DISK, 2**20, 1, 0)]), 0, 0)
    assert str(caught.value) == refusal("attend time in ns", 5 * (10_000 + 1000 * 2**50))


def test_a_tier_without_bandwidth_is_never_waited_for() -> None:
    prepare(trace_of(Ask("a")), engine_of({"hbm": 0, "disk": Tier(0, 0, 0)}), 0, 0)
