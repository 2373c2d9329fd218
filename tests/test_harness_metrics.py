"""The cache-event recorder: what it counts, where it departs from the original, its bound, and many threads at once."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import moderate

from harness.metrics.exposition import exposition
from harness.metrics.recorder import MAX_KEYS, CacheEventRecorder
from harness.metrics.rules import IMPROVED_RECORDER, RECORDER_RULE_SPECS, STRICT_RECORDER, RecorderRules
from harness.metrics.snapshot import BreakdownRow, DecisionRow, OccupancyRow, Snapshot
from policy.decisions import DEMOTE, DEMOTE_BEATS_RECOMPUTE, EVICT, FILL, NO_COLDER_TIER_WITH_ROOM, NO_REASON
from policy.entry import Entry, with_label, with_residency
from policy.tiers import DRAM, HBM
from policy.transfer import TransferEvent
from policy.verdict import Verdict

RESTORE = TransferEvent(
    "restore", "ok", "d1", tokens=16, bytes_moved=1000, from_tier="dram", to_tier="hbm", model_id="m", owner="vllm"
)
OFFLOAD = replace(RESTORE, direction="offload", from_tier="hbm", to_tier="dram")


def counted(*events: TransferEvent, rules: RecorderRules) -> Snapshot:
    """What a recorder says after these events."""
    recorder = CacheEventRecorder(rules)
    for event in events:
        recorder.record(event)
    return recorder.snapshot()


def by_rule(name: str, *events: TransferEvent) -> tuple[Snapshot, Snapshot]:
    """The counts with one rule on and all others off, and with all off."""
    return counted(*events, rules=replace(STRICT_RECORDER, **{name: 1})), counted(*events, rules=STRICT_RECORDER)


def labels_used(count: int) -> list[TransferEvent]:
    """Events of `count` different directions."""
    return [replace(OFFLOAD, direction=f"d{number:03}") for number in range(count)]


def families_of(snapshot: Snapshot) -> list[str]:
    """The names of the families that are exposed."""
    return [line.split()[2] for line in exposition(snapshot).decode().splitlines() if line.startswith("# TYPE")]


def test_an_event_is_lowered_judged_and_counted() -> None:
    recorder = CacheEventRecorder(STRICT_RECORDER)
    entry, verdict = recorder.record(RESTORE)
    assert (entry.id.digest, entry.id.length, entry.residency.tier, entry.derivation.producer) == (
        "d1",
        16,
        "hbm",
        "vllm",
    )
    assert (verdict.kind, verdict.reason, verdict.can_serve()) == ("hit", "", True)
    assert recorder.snapshot() == Snapshot(
        rules=STRICT_RECORDER,
        events=1,
        hits=1,
        misses=0,
        faults=0,
        restore_miss=0,
        restore_fault=0,
        bytes_moved=1000,
        tokens_moved=16,
        rows=(BreakdownRow("restore", "ok", "", "hbm", "kv_cache", 1, 1000, 16),),
        keys_capped=False,
        overflow_events=0,
        overflow_bytes_moved=0,
        overflow_tokens_moved=0,
        decisions=(),
        occupancy=(),
    )


@pytest.mark.parametrize(
    ("outcome", "counts"),
    [
        ("", (1, 0, 0, 0, 0)),
        ("ok", (1, 0, 0, 0, 0)),
        ("missed", (0, 1, 0, 1, 0)),
        ("fault", (0, 0, 1, 0, 1)),
        ("weird", (0, 1, 0, 0, 0)),
        ("OK", (0, 1, 0, 0, 0)),
    ],
)
def test_an_outcome_decides_what_an_event_is_counted_as(outcome: str, counts: tuple[int, ...]) -> None:
    for rules in (STRICT_RECORDER, IMPROVED_RECORDER):
        got = counted(replace(RESTORE, outcome=outcome), rules=rules)
        assert (got.hits, got.misses, got.faults, got.restore_miss, got.restore_fault) == counts


def test_an_option_that_rewrites_a_label_or_the_residency_rewrites_the_key_and_the_verdict() -> None:
    recorder = CacheEventRecorder(IMPROVED_RECORDER)
    _, verdict = recorder.record(RESTORE, [with_label("outcome", "fault"), with_residency("disk", "o", "l")])
    assert verdict.kind == "fault"
    assert recorder.snapshot().rows == (BreakdownRow("restore", "fault", "dram", "disk", "offload", 1, 0, 0),)


def test_rows_are_in_the_order_of_their_bytes() -> None:
    # As UTF-16 the last two would change places.
    directions = ["", "a", "b", "z", "\u00e9", "\uff5e", "\U0001f600"]
    got = counted(*(replace(OFFLOAD, direction=direction) for direction in reversed(directions)), rules=STRICT_RECORDER)
    assert [row.direction for row in got.rows] == directions == sorted(directions, key=str.encode)


def test_half_a_surrogate_pair_in_a_label_is_a_replacement_character() -> None:
    got = counted(replace(OFFLOAD, direction="x\ud800y", to_tier="\udc00"), rules=STRICT_RECORDER)
    assert [(row.direction, row.to_tier) for row in got.rows] == [("x\ufffdy", "\ufffd")]
    assert 'direction="x\ufffdy"' in exposition(got).decode()


def test_counters_are_exact_beyond_what_64_bits_and_floats_hold() -> None:
    got = counted(*[replace(OFFLOAD, bytes_moved=2**63 + 1)] * 3, rules=IMPROVED_RECORDER)
    assert got.bytes_moved == 3 * 2**63 + 3
    assert f"fak_engine_cache_bytes_moved_total {3 * 2**63 + 3}\n" in exposition(got).decode()


# The departures, one test each, under the name of its rule.


def test_restores_only_keeps_the_misses_and_faults_of_other_directions_out_of_the_restore_counters() -> None:
    events = [replace(event, outcome=outcome) for event in (RESTORE, OFFLOAD) for outcome in ("missed", "fault")]
    on, off = by_rule("restores_only", *events)
    assert (on.misses, on.restore_miss, on.faults, on.restore_fault) == (2, 1, 2, 1)
    assert (off.misses, off.restore_miss, off.faults, off.restore_fault) == (2, 2, 2, 2)


def test_hits_serve_counts_a_hit_that_cannot_be_served_as_a_miss() -> None:
    on, off = by_rule("hits_serve", replace(RESTORE, tokens=-1))
    assert (on.hits, on.misses, on.restore_miss) == (0, 1, 0)
    assert (off.hits, off.misses, off.restore_miss) == (1, 0, 0)


def test_ok_moves_only_lets_nothing_but_ok_events_move_bytes() -> None:
    on, off = by_rule("ok_moves_only", *(replace(RESTORE, outcome=word) for word in ("ok", "missed", "fault", "odd")))
    assert (on.bytes_moved, on.tokens_moved, [row.bytes_moved for row in on.rows]) == (1000, 16, [0, 0, 0, 1000])
    assert (off.bytes_moved, off.tokens_moved) == (4000, 64)


def test_moves_change_tier_lets_nothing_that_stays_or_is_dropped_move_bytes() -> None:
    stays = replace(RESTORE, direction="route", from_tier="cxl", to_tier="cxl")
    dropped = replace(OFFLOAD, to_tier="recompute")
    from_nowhere = replace(OFFLOAD, from_tier="", to_tier="")
    on, off = by_rule("moves_change_tier", OFFLOAD, stays, dropped, from_nowhere)
    assert (on.events, on.bytes_moved, on.tokens_moved) == (4, 2000, 32)
    assert (off.events, off.bytes_moved, off.tokens_moved) == (4, 4000, 64)


def test_counters_monotone_takes_a_negative_size_for_none() -> None:
    on, off = by_rule("counters_monotone", OFFLOAD, replace(OFFLOAD, bytes_moved=-1500, tokens=-20))
    assert (on.bytes_moved, on.tokens_moved) == (1000, 16)
    assert (off.bytes_moved, off.tokens_moved) == (-500, -4)


def test_capped_when_folded_says_that_something_overflowed_not_that_nothing_more_fits() -> None:
    on, off = by_rule("capped_when_folded", *labels_used(MAX_KEYS))
    assert (on.keys_capped, off.keys_capped, on.overflow_events) == (False, True, 0)
    on, off = by_rule("capped_when_folded", *labels_used(MAX_KEYS + 1))
    assert (on.keys_capped, off.keys_capped, on.overflow_events) == (True, True, 1)


def test_overflow_moved_exposes_the_bytes_and_tokens_that_the_breakdown_lacks() -> None:
    on, off = by_rule("overflow_moved", *labels_used(MAX_KEYS + 44))
    own = ["fak_engine_cache_bytes_moved_overflow_total", "fak_engine_cache_tokens_moved_overflow_total"]
    assert [name for name in families_of(on) if name not in families_of(off)] == own
    text = exposition(on).decode()
    assert "fak_engine_cache_bytes_moved_overflow_total 44000\n" in text
    assert "fak_engine_cache_tokens_moved_overflow_total 704\n" in text


def test_from_tier_label_tells_sources_apart() -> None:
    on, off = by_rule("from_tier_label", RESTORE, replace(RESTORE, from_tier="disk"))
    assert [(row.from_tier, row.count) for row in on.rows] == [("disk", 1), ("dram", 1)]
    assert [(row.from_tier, row.count) for row in off.rows] == [("", 2)]
    labels = 'direction="restore",outcome="ok",from_tier="disk",to_tier="hbm",memory_class="kv_cache"'
    assert f"fak_engine_cache_event_breakdown_total{{{labels}}} 1\n" in exposition(on).decode()
    assert "from_tier" not in exposition(off).decode()


def test_decisions_are_exposed_by_action_and_reason() -> None:
    texts = {}
    for rules in (replace(STRICT_RECORDER, decisions=1), STRICT_RECORDER):
        recorder = CacheEventRecorder(rules)
        recorder.record_decision(EVICT, NO_COLDER_TIER_WITH_ROOM)
        recorder.record_decision(DEMOTE, DEMOTE_BEATS_RECOMPUTE, 7)
        recorder.record_decision(FILL, NO_REASON, 2)
        recorder.record_decision(DEMOTE, DEMOTE_BEATS_RECOMPUTE)
        assert recorder.snapshot().decisions == (
            DecisionRow("demote", "demote_beats_recompute", 8),
            DecisionRow("evict", "no_colder_tier_with_room", 1),
            DecisionRow("fill", "", 2),
        )
        assert recorder.snapshot().events == 0
        texts[rules.decisions] = exposition(recorder.snapshot()).decode()
    assert texts[1] == texts[0] + (
        "# HELP fak_engine_cache_decisions_total Things done to cached spans by action and the planner's reason, which"
        " is empty where it was not asked.\n"
        "# TYPE fak_engine_cache_decisions_total counter\n"
        'fak_engine_cache_decisions_total{action="demote",reason="demote_beats_recompute"} 8\n'
        'fak_engine_cache_decisions_total{action="evict",reason="no_colder_tier_with_room"} 1\n'
        'fak_engine_cache_decisions_total{action="fill",reason=""} 2\n'
    )


def test_occupancy_is_exposed_by_tier() -> None:
    texts = {}
    for rules in (replace(STRICT_RECORDER, occupancy=1), STRICT_RECORDER):
        recorder = CacheEventRecorder(rules)
        for tier, used_bytes in ((DRAM, 5), (HBM, 9), (DRAM, 3)):
            recorder.set_occupancy(tier, used_bytes)
        assert recorder.snapshot().occupancy == (OccupancyRow("hbm", 9), OccupancyRow("dram", 3))
        texts[rules.occupancy] = exposition(recorder.snapshot()).decode()
    assert texts[1] == texts[0] + (
        "# HELP fak_engine_cache_occupancy_bytes Bytes of cached spans held by residency tier.\n"
        "# TYPE fak_engine_cache_occupancy_bytes gauge\n"
        'fak_engine_cache_occupancy_bytes{tier="hbm"} 9\n'
        'fak_engine_cache_occupancy_bytes{tier="dram"} 3\n'
    )


def test_every_departure_is_a_rule_that_is_0_in_the_strict_form_and_has_its_test() -> None:
    names = [spec.name for spec in RECORDER_RULE_SPECS]
    assert [getattr(STRICT_RECORDER, name) for name in names] == [0] * len(names)
    assert [getattr(IMPROVED_RECORDER, name) for name in names] == [spec.default for spec in RECORDER_RULE_SPECS]
    assert set(names) == set(RecorderRules.__slots__)
    for name in names:
        assert any(test.startswith(f"test_{name}_") for test in globals()), name


# The bound.


def test_known_keys_go_on_being_counted_when_no_new_one_fits() -> None:
    events = labels_used(MAX_KEYS + 44)
    got = counted(*events, *events, rules=IMPROVED_RECORDER)
    assert (got.events, len(got.rows), got.overflow_events) == (600, MAX_KEYS, 88)
    assert [(row.direction, row.count) for row in got.rows] == [(f"d{number:03}", 2) for number in range(MAX_KEYS)]
    assert sum(row.bytes_moved for row in got.rows) + got.overflow_bytes_moved == got.bytes_moved == 600_000
    assert sum(row.tokens_moved for row in got.rows) + got.overflow_tokens_moved == got.tokens_moved == 9600


def test_source_tiers_are_told_apart_within_the_bound() -> None:
    events = [replace(event, from_tier=tier) for event in labels_used(200) for tier in ("hbm", "cxl")]
    got = counted(*events, rules=IMPROVED_RECORDER)
    assert (len(got.rows), got.overflow_events) == (MAX_KEYS, 400 - MAX_KEYS)


# Alike events at once, the sink, threads.

_EVENTS = st.builds(
    TransferEvent,
    direction=st.sampled_from(["restore", "offload", "route"]),
    outcome=st.sampled_from(["", "ok", "missed", "fault", "odd"]),
    from_tier=st.sampled_from(["", "hbm", "dram", "?"]),
    to_tier=st.sampled_from(["", "hbm", "dram", "recompute"]),
)
_ALIKE = st.lists(st.tuples(_EVENTS, st.lists(st.tuples(st.integers(0, 2**70), st.integers(0, 99)), min_size=1)))


@given(kinds=_ALIKE, rules=st.builds(RecorderRules, *[st.integers(0, 1)] * len(RECORDER_RULE_SPECS)))
@moderate(100)
def test_events_that_differ_in_their_spans_alone_count_at_once_as_they_do_one_by_one(
    kinds: list[tuple[TransferEvent, list[tuple[int, int]]]], rules: RecorderRules
) -> None:
    one_by_one = CacheEventRecorder(rules)
    at_once = CacheEventRecorder(rules)
    for event, sizes in kinds:
        for bytes_moved, tokens in sizes:
            one_by_one.record(replace(event, bytes_moved=bytes_moved, tokens=tokens))
        at_once.record_alike(event, len(sizes), sum(size[0] for size in sizes), sum(size[1] for size in sizes))
    assert at_once.snapshot() == one_by_one.snapshot()


def test_the_sink_sees_each_event_once_it_is_counted() -> None:
    seen: list[tuple[str, str, int]] = []

    def sink(entry: Entry, verdict: Verdict) -> None:
        seen.append((entry.id.digest, verdict.kind, recorder.snapshot().events))

    recorder = CacheEventRecorder(IMPROVED_RECORDER, sink)
    recorder.record(RESTORE)
    recorder.record_alike(OFFLOAD, 5, 5, 5)
    recorder.record(replace(OFFLOAD, outcome="fault", span_digest="d2"))
    assert seen == [("d1", "hit", 1), ("d2", "fault", 7)]


def test_threads_that_record_at_once_lose_nothing() -> None:
    threads, rounds = 8, 400
    recorder = CacheEventRecorder(IMPROVED_RECORDER)
    start = threading.Barrier(threads + 1)
    whole: list[bool] = []

    def record(number: int) -> None:
        start.wait()
        for turn in range(rounds):
            recorder.record(replace(OFFLOAD, direction=f"d{(number * 7 + turn) % 300}", bytes_moved=turn))
            recorder.record(replace(RESTORE, outcome=("ok", "missed", "fault")[turn % 3]))
            recorder.record_decision(FILL, NO_REASON)

    def watch() -> None:
        start.wait()
        while any(thread.is_alive() for thread in running[:-1]):
            got = recorder.snapshot()
            whole.append(got.events == got.hits + got.misses + got.faults)
            whole.append(got.events == sum(row.count for row in got.rows) + got.overflow_events)

    running = [threading.Thread(target=record, args=(number,)) for number in range(threads)]
    running.append(threading.Thread(target=watch))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    got = recorder.snapshot()
    restores = [len(range(first, rounds, 3)) * threads for first in range(3)]
    assert all(whole)
    assert got.events == 2 * threads * rounds
    assert (got.hits, got.misses, got.faults) == (threads * rounds + restores[0], restores[1], restores[2])
    assert (got.restore_miss, got.restore_fault) == (restores[1], restores[2])
    assert got.bytes_moved == threads * sum(range(rounds)) + 1000 * restores[0]
    assert sum(row.count for row in got.rows) + got.overflow_events == got.events
    assert got.decisions == (DecisionRow("fill", "", threads * rounds),)
