"""Stack distances and the curve made of them, against a list that is searched from its top."""

from __future__ import annotations

from array import array
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import SEEDS, moderate

from policy.capacity_curve import CapacityCurve
from policy.cost import PPM
from policy.stack_distance import StackDistances, scale_up, span_hash_ppm


def grown_paths(seed: int) -> tuple[list[list[int]], list[int], list[int]]:
    """Paths through a random forest, and the tokens and bytes of its spans."""
    random = Random(seed)
    parents = [random.randint(-1, span - 1) if span else -1 for span in range(random.randint(1, 25))]
    paths = []
    for _ in range(random.randint(1, 120)):
        span = random.randrange(len(parents))
        path = [span]
        while parents[span] >= 0:
            span = parents[span]
            path.insert(0, span)
        paths.append(path)
    return paths, [random.randint(1, 9) for _ in parents], [random.randint(1, 50) for _ in parents]


def naive(paths: list[list[int]], sizes: list[int]) -> list[int]:
    stack: list[int] = []
    found = []
    for path in paths:
        found += [sum(sizes[above] for above in stack[: stack.index(span) + 1]) for span in path if span in stack]
        stack = path + [span for span in stack if span not in path]
    return found


@given(SEEDS)
@moderate(150)
def test_every_distance_is_what_lies_above_in_the_stack(seed: int) -> None:
    paths, tokens, sizes = grown_paths(seed)
    distances = StackDistances(array("q", tokens), array("q", sizes), PPM, 0)
    for path in paths:
        distances.request(array("q", path), 0)
    assert list(distances.distance_bytes) == naive(paths, sizes)
    assert distances.seen_tokens + distances.cold_tokens == sum(tokens[span] for path in paths for span in path)
    assert distances.cold_tokens == sum(tokens[span] for span in {span for path in paths for span in path})


def curve_of(*accesses: tuple[int, int, int], rate_ppm: int = PPM, seen: int | None = None) -> CapacityCurve:
    distances, tokens, obligatory = (array("q", column) for column in zip(*accesses, strict=True))
    total = sum(tokens) if seen is None else seen
    return CapacityCurve(distances, tokens, obligatory, total, sum(obligatory), rate_ppm)


def test_a_capacity_serves_what_is_within_it() -> None:
    curve = curve_of((30, 8, 0), (10, 4, 1), (30, 2, 0))
    assert [curve.hit_tokens(capacity) for capacity in (0, 9, 10, 29, 30, 10**9)] == [0, 0, 3, 3, 13, 13]
    assert [curve.reprefilled_tokens(capacity) for capacity in (0, 10, 30)] == [14, 10, 0]
    assert curve.ceiling_tokens == 13
    assert [curve.knee_bytes(ppm) for ppm in (1, 230_769, 230_770, PPM)] == [10, 10, 30, 30]


def test_a_curve_of_nothing_serves_nothing() -> None:
    curve = CapacityCurve(array("q"), array("q"), array("q"), 0, 0, PPM)
    assert (curve.hit_tokens(10**9), curve.reprefilled_tokens(0), curve.knee_bytes(PPM)) == (0, 0, 0)


def test_a_sample_is_scaled_up_and_its_error_falls_on_the_shortest_distance() -> None:
    # A tenth of the accesses stands for 50 + 30 tokens of 95 that there are: 15 more at the shortest distance.
    curve = curve_of((10, 5, 0), (20, 3, 0), rate_ppm=100_000, seen=95)
    assert [curve.hit_tokens(capacity) for capacity in (9, 10, 20)] == [0, 65, 95]
    # And of 20 that there are, the shortest has none.
    curve = curve_of((10, 5, 0), (20, 3, 0), rate_ppm=100_000, seen=20)
    assert [curve.hit_tokens(capacity) for capacity in (10, 20)] == [0, 20]


@given(st.integers(0, 2**50), st.integers(1, PPM))
@moderate(100)
def test_scaling_up_rounds_down_without_large_products(value: int, rate_ppm: int) -> None:
    assert scale_up(value, rate_ppm) == value * PPM // rate_ppm


def test_a_sample_follows_the_same_spans_everywhere_and_as_many_as_it_says() -> None:
    assert [span_hash_ppm(span) for span in range(4)] == [65463, 193294, 110330, 347336]
    for rate_ppm in (1_000, 10_000, 500_000):
        followed = sum(span_hash_ppm(span) < rate_ppm for span in range(100_000))
        assert followed == pytest.approx(100_000 * rate_ppm // PPM, rel=0.2)


def test_a_sample_scales_what_lies_above_and_not_the_span_itself() -> None:
    count = 2_000
    distances = StackDistances(array("q", [1]) * count, array("q", [10]) * count, 100_000, 10)
    followed = [span for span in range(count) if span_hash_ppm(span) < 100_000]
    for span in (*range(count), *range(count)):
        distances.request(array("q", [span]), 1)
    assert len(distances.distance_bytes) == len(followed) == distances.followed_spans == sum(distances.far_tokens)
    assert set(distances.distance_bytes) == {10 + (len(followed) - 1) * 100}
    assert distances.seen_tokens == count
