"""Costs: whole nanoseconds, rounded once, exact at any size, and never cheap without bandwidth."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policy.cost import NEVER_NS, attend_extra_ns, recompute_ns, retain_pays, roofline_prefill_ns, stage_ns

steady = settings(deadline=None, derandomize=True)
amounts = st.integers(0, 2**70)
bandwidths = st.integers(1, 2**40)


@pytest.mark.parametrize(
    ("latency_ns", "bandwidth_mb_s", "cost_ns"),
    [(90, 300_000, 223_786), (140, 200_000, 335_684), (300, 64_000, 1_048_876), (10_000, 7_000, 9_596_980)],
    ids=["dram", "numa_far", "cxl", "disk"],
)
def test_staging_64_mib_costs_what_the_original_demo_prints(latency_ns: int, bandwidth_mb_s: int, cost_ns: int) -> None:
    assert stage_ns(64 * 2**20, latency_ns, bandwidth_mb_s) == cost_ns


def test_staging_is_the_latency_and_the_transfer_rounded_down_once() -> None:
    assert stage_ns(0, 90, 300_000) == 90
    assert stage_ns(299, 90, 300_000) == 90
    assert stage_ns(300, 90, 300_000) == 91


@pytest.mark.parametrize("bandwidth_mb_s", [0, -1])
def test_without_bandwidth_staging_costs_more_than_any_recompute(bandwidth_mb_s: int) -> None:
    assert stage_ns(0, 5, bandwidth_mb_s) == NEVER_NS == 4_611_686_018_427_387_904


@steady
@given(size=st.integers(-(2**70), 2**70), latency_ns=st.integers(-1000, 2**40), bandwidth_mb_s=bandwidths)
def test_staging_is_exact_and_truncates_toward_zero(size: int, latency_ns: int, bandwidth_mb_s: int) -> None:
    assert stage_ns(size, latency_ns, bandwidth_mb_s) == latency_ns + math.trunc(Fraction(size * 1000, bandwidth_mb_s))


@steady
@given(size=amounts, more=amounts, latency_ns=amounts, bandwidth_mb_s=bandwidths)
def test_more_bytes_never_cost_less(size: int, more: int, latency_ns: int, bandwidth_mb_s: int) -> None:
    assert stage_ns(size, latency_ns, bandwidth_mb_s) <= stage_ns(size + more, latency_ns, bandwidth_mb_s)


@steady
@given(size=amounts, latency_ns=amounts, bandwidth_mb_s=bandwidths, more=bandwidths)
def test_more_bandwidth_never_costs_more(size: int, latency_ns: int, bandwidth_mb_s: int, more: int) -> None:
    assert stage_ns(size, latency_ns, bandwidth_mb_s + more) <= stage_ns(size, latency_ns, bandwidth_mb_s)


@pytest.mark.parametrize(
    ("tokens", "per_token_ns", "cost_ns"),
    [(4000, 2_000_000, 8_000_000_000), (0, 5, 0), (-1, 5, 0), (5, 0, 0), (5, -1, 0), (-5, -5, 0), (2**62, 4, 2**64)],
)
def test_recompute_is_the_product_and_nothing_where_either_is_not_positive(
    tokens: int, per_token_ns: int, cost_ns: int
) -> None:
    assert recompute_ns(tokens, per_token_ns) == cost_ns


def test_keeping_pays_only_where_staging_is_strictly_cheaper() -> None:
    assert [retain_pays(stage, 100) for stage in (99, 100, 101)] == [True, False, False]


def test_a_prefill_is_priced_by_its_parameters_and_by_what_it_attends_to() -> None:
    # 10 tokens of 100 FLOP each at 1 MFLOP/s are 1 ms; attention adds 10 * (20 + 10 / 2) pairs of 4 FLOP, another 1 ms.
    assert roofline_prefill_ns(10, 20, 100, 0, 1) == 1_000_000
    assert roofline_prefill_ns(10, 20, 100, 4, 1) == 2_000_000
    assert roofline_prefill_ns(0, 20, 100, 4, 1) == 0


@steady
@given(
    first=st.integers(0, 100_000),
    second=st.integers(0, 100_000),
    context=st.integers(0, 1_000_000),
    linear=st.integers(0, 10**12),
    attention=st.integers(0, 10**8),
    mflop_per_s=st.integers(1, 10**10),
)
def test_a_prefill_in_two_pieces_costs_what_it_costs_in_one(
    first: int, second: int, context: int, linear: int, attention: int, mflop_per_s: int
) -> None:
    rate = linear, attention, mflop_per_s
    whole = roofline_prefill_ns(first + second, context, *rate)
    pieces = roofline_prefill_ns(first, context, *rate) + roofline_prefill_ns(second, context + first, *rate)
    assert pieces <= whole <= pieces + 1


def test_attending_in_place_costs_the_slower_read_once_for_prefill_and_once_for_each_output_token() -> None:
    assert attend_extra_ns(700, 200, 9) == 5_000
    assert attend_extra_ns(700, 200, 0) == 500


def test_attending_in_a_tier_that_reads_faster_than_hbm_costs_nothing_extra() -> None:
    assert attend_extra_ns(100, 200, 9) == 0
    assert attend_extra_ns(200, 200, 9) == 0
