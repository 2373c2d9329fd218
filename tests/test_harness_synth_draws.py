"""Draws and shapes: integers only, the same everywhere, and with the mean they say."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.synth import shapes
from harness.synth.arrivals import arrivals_ms
from harness.synth.draws import Draws, Shape, zipf_weights
from harness.synth.shapes import EXPONENTIAL, UNIFORM

SHAPES = {name: value for name, value in vars(shapes).items() if name.isupper()}


def doubled_mean(shape: Shape) -> int:
    """Twice the mean of a shape, times 1000: the trapezes below its points."""
    return sum((after[0] - before[0]) * (before[1] + after[1]) for before, after in itertools.pairwise(shape))


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_runs_from_quantile_0_to_1000_without_falling(name: str) -> None:
    shape = SHAPES[name]
    assert (shape[0][0], shape[-1][0]) == (0, 1000)
    quantiles = [quantile for quantile, _ in shape]
    values = [value for _, value in shape]
    assert quantiles == sorted(set(quantiles))
    assert values == sorted(values)


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_mean_1000_to_within_one_per_mille(name: str) -> None:
    assert abs(doubled_mean(SHAPES[name]) - 2_000_000) <= 2_000


def test_draws_of_a_seed_are_these() -> None:
    """Pinned: these values may not depend on the Python version, the platform or the hash seed."""
    draws = Draws(7)
    assert [draws.below(1000) for _ in range(6)] == [947, 394, 48, 821, 94, 582]
    assert [draws.sample(EXPONENTIAL, 1_000_000) for _ in range(4)] == [60899, 2397626, 704507, 241402]


def test_streams_of_a_seed_differ_and_seeds_differ() -> None:
    def first(seed: int, stream: int) -> int:
        return Draws(seed, stream).below(2**60)

    assert len({first(seed, stream) for seed in range(20) for stream in range(20)}) == 400


@given(seed=st.integers(0, 2**53 - 1), count=st.integers(1, 2**40))
def test_below_stays_below(seed: int, count: int) -> None:
    draws = Draws(seed)
    assert all(0 <= draws.below(count) < count for _ in range(20))


@given(seed=st.integers(0, 2**53 - 1), name=st.sampled_from(sorted(SHAPES)), mean=st.integers(1, 2**40))
def test_a_sample_lies_between_the_ends_of_its_shape(seed: int, name: str, mean: int) -> None:
    shape = SHAPES[name]
    draws = Draws(seed)
    for _ in range(20):
        value = draws.sample(shape, mean)
        assert shape[0][1] * mean - 500 <= 1000 * value <= shape[-1][1] * mean + 500


@pytest.mark.parametrize("name", SHAPES)
def test_samples_have_the_mean_that_is_asked_for(name: str) -> None:
    draws = Draws(3)
    values = [draws.sample(SHAPES[name], 1_000_000) for _ in range(40_000)]
    assert abs(sum(values) // len(values) - 1_000_000) < 45_000


def test_a_sample_is_at_least_what_is_asked_for() -> None:
    draws = Draws(1)
    assert {draws.sample(UNIFORM, 0, least=1) for _ in range(10)} == {1}


def test_chance_is_never_at_0_and_always_at_a_million() -> None:
    draws = Draws(1)
    assert not any(draws.chance(0) for _ in range(1000))
    assert all(draws.chance(1_000_000) for _ in range(1000))


def test_the_second_rank_of_zipf_is_half_as_likely_as_the_first() -> None:
    assert zipf_weights(4) == [1_000_000, 1_500_000, 1_833_333, 2_083_333]
    draws = Draws(1)
    found = [draws.weighted(zipf_weights(4)) for _ in range(25_000)]
    assert [found.count(rank) // 100 for rank in range(4)] == [121, 59, 39, 29]


def test_arrivals_begin_at_0_and_never_step_back() -> None:
    times = list(arrivals_ms(Draws(5), 2000, 40, burst=1))
    assert times[0] == 0
    assert times == sorted(times)
    assert 37 * 1999 < times[-1] < 43 * 1999


def test_a_burst_begins_at_one_millisecond_and_keeps_the_rate() -> None:
    times = list(arrivals_ms(Draws(5), 3000, 40, burst=3))
    groups = [times[at : at + 3] for at in range(0, 3000, 3)]
    assert all(len(set(group)) == 1 for group in groups)
    assert 37 * 2999 < times[-1] < 43 * 2999


def test_more_arrivals_begin_with_the_fewer() -> None:
    few = list(arrivals_ms(Draws(5), 100, 40, burst=1))
    assert list(arrivals_ms(Draws(5), 200, 40, burst=1))[:100] == few
