"""Sums beyond 64 bits against Python's own integers."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from policy.wide import WideSums

_ADDENDS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**62 - 1)), max_size=40)


@given(_ADDENDS, st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2**100)), max_size=5))
def test_sums_are_exact_however_large(addends: list[tuple[int, int]], wide: list[tuple[int, int]]) -> None:
    sums, expected = WideSums(3), [0, 0, 0]
    for at, value in addends:
        sums.add(at, value)
        expected[at] += value
    for at, value in wide:
        sums.add_wide(at, value)
        expected[at] += value
    assert [sums[at] for at in range(len(sums))] == expected


def test_a_sum_passes_64_bits() -> None:
    sums = WideSums(1)
    for _ in range(10):
        sums.add(0, 2**62 - 1)
    assert sums[0] == 10 * (2**62 - 1)
