"""Sizes and durations: what is understood, exactly, and how integers are printed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import SetupError
from harness.units import (
    counted,
    milliseconds,
    parse_duration_us,
    parse_size,
    percent,
    seconds,
    size,
    split_assignment,
)


@pytest.mark.parametrize(
    ("text", "size_bytes"),
    [
        ("0", 0),
        ("4096", 4096),
        ("400GB", 400 * 10**9),
        ("512GiB", 512 * 2**30),
        ("2tb", 2 * 10**12),
        ("1.5 TB", 1_500_000_000_000),
        ("0.1KiB", 102),
        ("1B", 1),
        ("1152921504606846976", 2**60),
    ],
)
def test_a_size_is_exact(text: str, size_bytes: int) -> None:
    assert parse_size(text, "--capacity") == size_bytes


@pytest.mark.parametrize(
    "text", ["", "GB", "-1", "1e9", "1,000", "0x10", "1 2", "1GBs", "\u0661GB", "1.", "inf", "9" * 19]
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match=r"^--capacity "):
        parse_size(text, "--capacity")


@pytest.mark.parametrize(
    ("text", "us"),
    [("0", 0), ("5s", 5_000_000), ("250ms", 250_000), ("1.5h", 5_400_000_000), ("7us", 7), ("2d", 2 * 86400 * 10**6)],
)
def test_a_duration_is_exact(text: str, us: int) -> None:
    assert parse_duration_us(text, "--ttl") == us


@pytest.mark.parametrize("text", ["5", "s", "-1s", "5 years", "1e3s", "99999999d"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match=r"^--ttl "):
        parse_duration_us(text, "--ttl")


@settings(deadline=None, derandomize=True)
@given(value=st.integers(0, 2**60 // 10**12))
def test_a_whole_number_of_a_unit_survives(value: int) -> None:
    assert parse_size(f"{value}TB", "x") == value * 10**12


@pytest.mark.parametrize("text", ["dram", "=5", "dram=", ""])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(SetupError) as caught:
        split_assignment(text, "--capacity", "dram=512GiB")
    assert str(caught.value) == f"--capacity {text}: not an assignment; write it like --capacity dram=512GiB"


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (seconds(22_883_930_500_000), "22,883.931"),
        (seconds(-1_500_000), "-0.002"),
        (seconds(-499_999), "0.000"),
        (seconds(0), "0.000"),
        (milliseconds(1_499), "0.001"),
        (milliseconds(18_113_500_000), "18,113.500"),
        (percent(317_250), "31.73 %"),
        (percent(-49), "0.00 %"),
        (percent(-50), "-0.01 %"),
        (size(0), "0 B"),
        (size(999), "999 B"),
        (size(1_999_995_000_000), "2.00 TB"),
        (size(10**15), "1.00 PB"),
        (counted(1, "request"), "1 request"),
        (counted(12_031, "request"), "12,031 requests"),
    ],
)
def test_integers_are_printed_alike_everywhere(made: str, text: str) -> None:
    assert made == text
