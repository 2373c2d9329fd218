"""The accountant row by row: what each kind of row costs, and what it does to the books of a tier."""

from __future__ import annotations

from itertools import product

import pytest
from builders import integers

from harness.ledger import Ledger, move_key, split_move_key
from policy.costs_by_tier import TierCosts
from policy.decisions import (
    ACTION_NAMES,
    ATTEND,
    COLD,
    COMPRESS_DEMOTE,
    DEMOTE,
    DIRECTIVE_NAMES,
    DROP,
    EVICT,
    FAULT,
    FILL,
    NO_COLDER_TIER_WITH_ROOM,
    NO_DIRECTIVE,
    NO_REASON,
    OFFLOAD,
    OK,
    OUTCOME_NAMES,
    PRESSURE,
    RESTORE,
    RESTORED,
    ROUTE,
    SPILL,
    STREAM,
)
from policy.journal import Journal, Row
from policy.spans import Spans
from policy.tiers import DISK, DRAM, HBM, NO_TIER, RECOMPUTE, TIER_COUNT, TIER_NAMES

# Two spans: 4 tokens in 4,000 bytes, 10 tokens in 10,000 bytes.
SMALL, LARGE = 0, 1


def ledger(hbm_bytes: int = 20_000) -> Ledger:
    """HBM reads at 4 bytes a ns, DRAM at 1 after 90 ns, disk at 1/10 after 1,000 ns."""
    latency = integers([10, 90, 0, 0, 1000, 0])
    bandwidth = integers([4000, 1000, 0, 0, 100, 0])
    spans = Spans(integers([4, 10]), integers([4000, 10_000]), integers([40, 100]), integers([10, 10]))
    return Ledger(spans, TierCosts(latency, bandwidth), integers([hbm_bytes, 10**6, 0, 0, 10**6, 0]), 100)


def fill(span: int, now: int = 100) -> Row:
    return (now, FILL, NO_DIRECTIVE, span, NO_TIER, HBM, OK, NO_REASON, 4000 if span == SMALL else 10_000)


def settle(books: Ledger, rows: list[Row], output_tokens: int) -> tuple[int, int]:
    """What the request waits for: staging, and its prefill's slower reads."""
    journal = Journal()
    for row in rows:
        journal.add(*row)
    assert journal.rows() == rows
    books.settle(journal, output_tokens)
    return books.waited_stage_ns, books.waited_attend_ns


def demote(span: int, size_bytes: int, now: int = 100) -> Row:
    return (now, DEMOTE, OFFLOAD, span, HBM, DRAM, OK, NO_REASON, size_bytes)


def test_a_move_key_holds_its_five_codes() -> None:
    shape = (len(ACTION_NAMES), len(DIRECTIVE_NAMES), len(TIER_NAMES), len(TIER_NAMES), len(OUTCOME_NAMES))
    keys = []
    for codes in product(*map(range, shape)):
        keys.append(move_key(*codes))
        assert split_move_key(keys[-1]) == codes
    assert keys == list(range(len(keys))), "dense, and in the order of the codes"
    assert len(keys) == len(ledger().move_count)


def test_a_fill_enters_a_tier_and_costs_no_transfer() -> None:
    books = ledger()
    assert settle(books, [fill(SMALL), fill(LARGE)], 0) == (0, 0)
    assert (books.stage_ns, books.attend_ns, books.offload_ns) == (0, 0, 0)
    assert list(books.used_bytes) == [14_000, 0, 0, 0, 0, 0]
    assert list(books.where) == [HBM, HBM]
    key = move_key(FILL, NO_DIRECTIVE, NO_TIER, HBM, OK)
    assert (books.move_count[key], books.move_bytes[key], books.move_tokens[key]) == (2, 14_000, 14)


def test_a_move_to_a_colder_tier_is_an_offload_that_nobody_waits_for() -> None:
    books = ledger()
    settle(books, [fill(LARGE)], 0)
    assert settle(
        books, [demote(LARGE, 10_000), (100, SPILL, OFFLOAD, LARGE, DRAM, DISK, OK, NO_REASON, 10_000)], 0
    ) == (0, 0)
    assert books.offload_ns == (90 + 10_000) + (1000 + 100_000)
    assert books.stage_ns == 0
    assert list(books.used_bytes) == [0, 0, 0, 0, 10_000, 0]
    assert list(books.peak_bytes) == [10_000, 10_000, 0, 0, 10_000, 0]
    assert (
        [books.in_bytes[tier] for tier in range(TIER_COUNT)],
        [books.out_bytes[tier] for tier in range(TIER_COUNT)],
    ) == (
        [10_000, 10_000, 0, 0, 10_000, 0],
        [10_000, 10_000, 0, 0, 0, 0],
    )


def test_a_restore_is_waited_for_and_moves_the_span_whole() -> None:
    """What was compressed comes at its small size, and takes its own size in HBM."""
    books = ledger()
    settle(books, [fill(LARGE), (100, COMPRESS_DEMOTE, OFFLOAD, LARGE, HBM, DISK, OK, NO_REASON, 2500)], 0)
    assert list(books.used_bytes) == [0, 0, 0, 0, 2500, 0]
    assert settle(books, [(100, RESTORED, RESTORE, LARGE, DISK, HBM, OK, NO_REASON, 2500)], 0) == (1000 + 25_000, 0)
    assert books.stage_ns == 26_000
    assert list(books.used_bytes) == [10_000, 0, 0, 0, 0, 0]
    assert books.wrong_source == 0


def test_a_stream_is_waited_for_and_moves_nothing() -> None:
    books = ledger()
    settle(books, [fill(SMALL), demote(SMALL, 4000)], 0)
    assert settle(books, [(100, STREAM, RESTORE, SMALL, DRAM, HBM, OK, NO_REASON, 4000)], 0) == (90 + 4000, 0)
    assert list(books.where) == [DRAM, -1]


def test_attending_costs_the_slower_reads_and_the_first_token_waits_for_one() -> None:
    books = ledger()
    settle(books, [fill(SMALL), demote(SMALL, 4000)], 0)
    slower = (90 + 4000) - (10 + 1000)
    assert settle(books, [(100, ATTEND, ROUTE, SMALL, DRAM, DRAM, OK, NO_REASON, 4000)], 7) == (0, slower)
    assert (books.attend_ns, books.stage_ns) == (8 * slower, 0)
    assert list(books.where) == [DRAM, -1]


def test_a_read_that_faults_costs_the_latency_of_its_tier_and_leaves_the_copy_to_be_dropped() -> None:
    books = ledger()
    settle(books, [fill(SMALL), demote(SMALL, 4000)], 0)
    faulted: Row = (100, RESTORED, RESTORE, SMALL, DRAM, HBM, FAULT, NO_REASON, 0)
    assert settle(books, [faulted], 0) == (90, 0)
    assert list(books.where) == [DRAM, -1]
    settle(books, [(100, DROP, NO_DIRECTIVE, SMALL, DRAM, RECOMPUTE, OK, NO_REASON, 4000)], 0)
    assert list(books.where) == [-1, -1]
    assert books.evictions_by_reason == {}


def test_an_eviction_is_counted_under_its_reason() -> None:
    books = ledger()
    row = (100, EVICT, OFFLOAD, SMALL, HBM, RECOMPUTE, OK, NO_COLDER_TIER_WITH_ROOM, 4000)
    settle(books, [fill(SMALL), row, fill(SMALL), row], 0)
    assert books.evictions_by_reason == {NO_COLDER_TIER_WITH_ROOM: 2}
    assert (list(books.used_bytes), books.wrong_source) == ([0] * TIER_COUNT, 0)


@pytest.mark.parametrize(
    "rows",
    [
        [fill(SMALL), fill(SMALL)],
        [demote(SMALL, 4000)],
        [fill(SMALL), (100, SPILL, OFFLOAD, SMALL, DRAM, DISK, OK, NO_REASON, 4000)],
        [(100, DROP, NO_DIRECTIVE, SMALL, HBM, RECOMPUTE, OK, NO_REASON, 4000)],
    ],
)
def test_a_row_that_finds_its_span_elsewhere_is_counted(rows: list[Row]) -> None:
    books = ledger()
    settle(books, rows, 0)
    assert books.wrong_source == 1


def test_more_than_a_tier_can_hold_is_counted() -> None:
    books = ledger(hbm_bytes=13_999)
    settle(books, [fill(LARGE)], 0)
    assert books.over_capacity == 0
    settle(books, [fill(SMALL)], 0)
    assert books.over_capacity == 1


def test_bytes_times_time_grow_between_the_rows() -> None:
    """The clock starts at 100; the small span is in HBM from 110 to 130, and then in DRAM until 150."""
    books = ledger()
    settle(books, [fill(SMALL, 110)], 0)
    settle(books, [demote(SMALL, 4000, 130)], 0)
    books.advance(150)
    assert [books.byte_us[tier] for tier in range(TIER_COUNT)] == [4000 * 20, 4000 * 20, 0, 0, 0, 0]


def test_a_span_is_cold_once_and_then_computed_for_the_reason_given() -> None:
    books = ledger()
    assert books.computed(LARGE, PRESSURE) == COLD
    assert books.computed(LARGE, PRESSURE) == PRESSURE
    assert books.computed(SMALL, COLD) == COLD
    assert (books.computed_tokens[COLD], books.computed_tokens[PRESSURE]) == (14, 10)


def test_an_obligatory_token_is_taken_from_the_hit_it_belonged_to() -> None:
    books = ledger()
    books.hit(LARGE, DRAM)
    books.obligatory(DRAM)
    assert (books.hit_tokens[DRAM], books.obligatory_tokens) == (9, 1)


def test_a_request_adds_its_tokens_and_waits_for_prefill_and_loads() -> None:
    books = ledger()
    books.request(14, 3, 500, 70)
    books.request(10, 0, 100, 0)
    assert (books.input_tokens, books.unidentified_tokens, books.prefill_ns) == (24, 3, 600)
    assert list(books.ttft_ns) == [570, 100]


def test_bytes_moved_are_counted_beyond_what_64_bits_hold() -> None:
    """A span of a pebibyte, which a trace may state, filled and evicted ten thousand times."""
    books = ledger()
    size_bytes = 2**50
    evict = (100, EVICT, OFFLOAD, SMALL, HBM, RECOMPUTE, OK, NO_COLDER_TIER_WITH_ROOM, size_bytes)
    fill_row = (100, FILL, NO_DIRECTIVE, SMALL, NO_TIER, HBM, OK, NO_REASON, size_bytes)
    settle(books, [fill_row, evict] * 10_000, 0)
    assert books.in_bytes[HBM] == books.out_bytes[HBM] == 10_000 * size_bytes
    assert books.move_bytes[move_key(FILL, NO_DIRECTIVE, NO_TIER, HBM, OK)] == 10_000 * size_bytes
