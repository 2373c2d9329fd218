"""A curve against replays: blind LRU at every capacity to the token, ladders within what whole spans allow."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import BLOCK_BYTES, DEAR_PREFILL_NS, Access, Ask, Tier, engine_of, options_of, trace_of
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from lru_ladder import ladder_hits
from strategies import SEEDS, grow_trace, moderate

from harness.curve.sweep import Sweep, sweep
from harness.errors import SetupError
from harness.readers import read_trace
from harness.replay import replay_arm, route
from harness.trace import Trace
from harness.workload import prepare
from policy.cost import PPM
from policy.decisions import COLD
from policy.ladder import UNBOUNDED_BYTES
from policy.policies.registry import POLICIES
from policy.tiers import tier_code


def swept(trace: Trace, span_tokens: int = 4096, rate_ppm: int = PPM, window_us: int = 0) -> Sweep:
    return sweep(prepare(trace, engine_of({"hbm": 0}), span_tokens, 0), rate_ppm, window_us)


def replayed(trace: Trace, span_tokens: int, capacity_bytes: int) -> tuple[int, int, int]:
    """Hit, re-prefilled and cold tokens of `blind-lru`."""
    engine = engine_of({"hbm": capacity_bytes})
    workload = prepare(trace, engine, span_tokens, 0)
    options = options_of("blind-lru")
    arm = replay_arm(workload, engine, POLICIES["blind-lru"], {}, options.ttls(), route(workload, options.fleet))
    books = arm.books()
    return sum(books.hit_tokens), sum(books.computed_tokens) - books.computed_tokens[COLD], books.computed_tokens[COLD]


def curved(found: Sweep, capacity_bytes: int) -> tuple[int, int, int]:
    curve = found.curve
    return (
        curve.hit_tokens(capacity_bytes),
        curve.reprefilled_tokens(capacity_bytes),
        found.distances.cold_tokens,
    )


def capacities_to_try(found: Sweep) -> list[int]:
    """Everywhere the curve steps, a byte less, and beyond its end: as far as it claims to be exact, and at least 1."""
    steps = found.curve.distance_bytes
    tried = {found.exact_from_bytes, found.live_set_bytes, *steps, *(step - 1 for step in steps)}
    return sorted(capacity for capacity in tried if capacity >= max(1, found.exact_from_bytes))


@given(SEEDS, st.integers(1, 40), st.sampled_from([0, 8, 4096]))
@moderate(120)
def test_equal_to_blind_lru_at_every_step(seed: int, length: int, span_tokens: int) -> None:
    trace = grow_trace(seed, length, controls=False)
    found = swept(trace, span_tokens)
    for capacity_bytes in capacities_to_try(found):
        assert curved(found, capacity_bytes) == replayed(trace, span_tokens, capacity_bytes), capacity_bytes


@given(SEEDS, st.integers(1, 40))
@moderate(120)
def test_equal_blocks_are_exact_at_every_capacity_however_large_the_requests(seed: int, length: int) -> None:
    trace = grow_trace(seed, length, controls=False, accesses=False, partial_tails=False)
    found = swept(trace, 0)
    assert found.exact_from_bytes == 0
    for blocks in range(1, 14):
        for capacity_bytes in (blocks * BLOCK_BYTES, blocks * BLOCK_BYTES - 1):
            assert curved(found, capacity_bytes) == replayed(trace, 0, capacity_bytes), capacity_bytes


def test_a_request_beyond_the_capacity_keeps_what_the_stack_would_lose() -> None:
    # The long span does not fit beside its own prefix and is bypassed, so nothing is evicted for it.
    trace = trace_of(
        Access("kept", 3, 2 * BLOCK_BYTES),
        Ask(("a",)),
        Ask(("a", "b", "c", "d", "e")),
        Access("kept", 3, 2 * BLOCK_BYTES),
    )
    found = swept(trace)
    assert found.exact_from_bytes == 5 * BLOCK_BYTES
    assert replayed(trace, 4096, 4 * BLOCK_BYTES)[0] > curved(found, 4 * BLOCK_BYTES)[0]
    assert replayed(trace, 4096, 7 * BLOCK_BYTES)[0] == curved(found, 7 * BLOCK_BYTES)[0]


@given(SEEDS, st.integers(1, 40), st.lists(st.integers(1, 6), min_size=1, max_size=3))
@moderate(120)
def test_equal_blocks_in_a_ladder_are_exact(seed: int, length: int, colder: list[int]) -> None:
    found = swept(grow_trace(seed, length, controls=False, accesses=False, partial_tails=False), 0)
    # Odd bytes beyond whole blocks hold nothing.
    first = found.largest_request_bytes + BLOCK_BYTES
    capacities = [first + 1, *(blocks * BLOCK_BYTES + 1 for blocks in colder)]
    cuts = found.cuts(capacities)
    hits = ladder_hits(found.workload, capacities)
    assert [cut.hit_tokens for cut in cuts] == [sum(hits[: number + 1]) for number in range(len(hits))]
    assert all(cut.at_least == cut.hit_tokens for cut in cuts)


@given(SEEDS, st.integers(1, 40), st.lists(st.integers(1, 20), min_size=1, max_size=3), st.sampled_from([0, 8, 4096]))
@moderate(200)
def test_whole_spans_in_a_ladder_stay_in_the_bracket(
    seed: int, length: int, colder: list[int], span_tokens: int
) -> None:
    found = swept(grow_trace(seed, length, controls=False), span_tokens)
    capacities = [found.largest_request_bytes + 1, *(size * BLOCK_BYTES // 2 for size in colder)]
    hits = ladder_hits(found.workload, capacities)
    for number, cut in enumerate(found.cuts(capacities)):
        assert cut.at_least <= sum(hits[: number + 1]) <= cut.hit_tokens
    assert found.cuts(capacities)[0].hit_tokens == hits[0]


@pytest.mark.parametrize("name", sorted(path.name for path in (ROOT / "traces").glob("*.jsonl")))
def test_equal_to_replays_of_the_committed_traces(name: str) -> None:
    trace = read_trace(ROOT / "traces" / name)
    trace.controls.clear()
    found = swept(trace)
    least = max(found.largest_request_bytes, 1)
    for capacity_bytes in (least, 2 * least, found.curve.knee_bytes(900_000), found.live_set_bytes):
        if capacity_bytes >= least:
            assert curved(found, capacity_bytes) == replayed(trace, 4096, capacity_bytes)
    assert found.curve.hit_tokens(0) == 0
    assert found.curve.hit_tokens(found.live_set_bytes) == found.curve.ceiling_tokens
    rising = [found.curve.hit_tokens(capacity) for capacity in found.curve.distance_bytes]
    assert rising == sorted(rising)


def mooncake(shared: Path) -> Trace:
    return read_trace(shared / "traces" / "mooncake" / "conversation_trace.jsonl")


def test_equal_to_replays_of_the_real_trace(shared: Path) -> None:
    trace = mooncake(shared)
    found = swept(trace)
    for factor in (1, 10, 80):
        capacity_bytes = factor * found.largest_request_bytes
        assert curved(found, capacity_bytes) == replayed(trace, 4096, capacity_bytes)


def test_the_tiered_arm_with_free_moves_splits_the_real_trace_as_the_curve_does(shared: Path) -> None:
    trace = mooncake(shared)
    capacities = [5 * 10**9, 20 * 10**9]
    # Moves to disk and back cost nothing, and a disk is not attended in place.
    engine = engine_of({"hbm": capacities[0], "disk": Tier(capacities[1], 0, 10**9)}, DEAR_PREFILL_NS)
    workload = prepare(trace, engine, 4096, 0)
    options = options_of("tiered")
    arm = replay_arm(workload, engine, POLICIES["tiered"], {}, options.ttls(), route(workload, options.fleet))
    hit_tokens = arm.books().hit_tokens
    cuts = swept(trace).cuts(capacities)
    assert hit_tokens[tier_code("hbm")] == cuts[0].hit_tokens
    assert hit_tokens[tier_code("hbm")] + hit_tokens[tier_code("disk")] == cuts[1].hit_tokens == cuts[1].at_least


def test_a_sample_of_the_real_trace_is_within_the_error_that_it_prints(shared: Path) -> None:
    trace = mooncake(shared)
    exact = swept(trace).curve
    for rate_ppm in (100_000, 20_000):
        found = swept(trace, rate_ppm=rate_ppm)
        assert found.exact_from_bytes == UNBOUNDED_BYTES
        at = [exact.knee_bytes(part * 50_000) for part in range(1, 21)]
        errors = [abs(found.curve.hit_tokens(capacity) - exact.hit_tokens(capacity)) for capacity in at]
        error_ppm = sum(errors) * PPM // len(at) // exact.ceiling_tokens
        assert 0 < error_ppm <= found.error_ppm


def test_windows_begin_warm_and_add_up() -> None:
    trace = trace_of(Ask(("a", "b"), 0), Ask(("a", "b"), 40, 0, 1), Ask(("a", "b"), 100), Ask(("a", "b"), 101))
    found = swept(trace, window_us=50)
    assert [(window.start_us, window.requests, window.curve.ceiling_tokens) for window in found.windows] == [
        (0, 2, 2 * 4),
        (100, 2, 2 * (2 * 4 - 1)),
    ]
    assert sum(window.curve.ceiling_tokens for window in found.windows) == found.curve.ceiling_tokens
    assert swept(trace).windows == []


def test_what_cannot_be_counted_is_refused() -> None:
    trace = trace_of(Ask(("a",), 0), Ask(("a",), 10**9))
    with pytest.raises(SetupError, match=r"^--window: would cut the trace's 1000000000 microseconds into more than"):
        swept(trace, window_us=10**5)
    with pytest.raises(SetupError, match=r"^--sample: no span that is followed ever comes back; raise the rate$"):
        swept(trace, rate_ppm=1)
