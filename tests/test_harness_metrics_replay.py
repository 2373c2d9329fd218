"""A replay's journal as metrics: counted by kinds as if each row had been recorded, true to the report, served live."""

from __future__ import annotations

import socket
import urllib.request
from dataclasses import replace
from typing import Any

import pytest
from builders import BLOCK_BYTES, Ask, Clear, Fault, Tier, engine_of, options_of, trace_of
from hypothesis import given
from prometheus_client.parser import text_string_to_metric_families
from strategies import engines, moderate, run_options, traces

from harness.comparison import Comparison, Follower, compare
from harness.engine import Engine
from harness.errors import SetupError
from harness.metrics.exposition import exposition
from harness.metrics.journal import JournalMetrics, event_of, kind_of, span_digest
from harness.metrics.recorder import CacheEventRecorder
from harness.metrics.rules import IMPROVED_RECORDER, STRICT_RECORDER
from harness.metrics.serving import serving
from harness.metrics.snapshot import BreakdownRow, DecisionRow, OccupancyRow
from harness.replay import RowSink
from harness.report import build_report
from harness.trace import Trace
from harness.workload import Workload
from policy.decisions import (
    ATTEND,
    DEMOTE,
    DEMOTE_BEATS_RECOMPUTE,
    EVICT,
    FAULT,
    FILL,
    NO_COLDER_TIER_WITH_ROOM,
    NO_DIRECTIVE,
    NO_REASON,
    OFFLOAD,
    OK,
    RESTORE,
    RESTORED,
    ROUTE,
)
from policy.journal import Row
from policy.tiers import CXL, DRAM, HBM, NO_TIER, RECOMPUTE, tier_code
from policy.transfer import TransferEvent

# What makes an arm do everything that can be done to a span, beside what the defaults do.
EVERYTHING: dict[str, int] = {
    "promote_accesses_per_1000_s": 1,
    "compress_ppm": 300_000,
    "compress_measured": 1,
    "compress_delta_ppm": 5,
    "compress_bound_ppm": 10,
}


def followed(
    trace: Trace, engine: Engine, follow: Follower, policy: str = "tiered", **options: Any
) -> tuple[Comparison, dict[str, Any]]:
    """A run whose policy arm is followed, and its report. TTLs of tiers that the engine lacks are left out."""
    ttl_us = {tier: ttl for tier, ttl in options.pop("ttl_us", {}).items() if tier_code(tier) in engine.profiles}
    if not any(ttl_us.values()):
        options["grace_us"] = 0
    comparison = compare(trace, engine, options_of(policy, ttl_us=ttl_us, **options), follow=follow)
    return comparison, build_report(comparison)


def recording_each_row(recorder: CacheEventRecorder) -> Follower:
    """What follows a journal the slow way: every row is lowered to an event and an entry of its own."""

    def follow(workload: Workload, engine: Engine) -> RowSink:
        def sink(rows: list[Row]) -> None:
            for row in rows:
                span, size_bytes = row[3], row[8]
                event = event_of(
                    kind_of(row),
                    workload.spans.tokens[span],
                    size_bytes,
                    engine.model_id,
                    span_digest(workload.trace.sha256, span),
                )
                if event is not None:
                    recorder.record(event)
                recorder.record_decision(row[1], row[7])

        return sink

    return follow


@given(trace=traces(60), engine=engines, options=run_options)
@moderate(120)
def test_counting_by_kinds_is_recording_each_event_one_by_one(
    trace: Trace, engine: Engine, options: dict[str, Any]
) -> None:
    for rules in (IMPROVED_RECORDER, STRICT_RECORDER):
        for settings in ({}, EVERYTHING):
            metrics = JournalMetrics(rules)
            followed(trace, engine, metrics.follow, settings=settings, **options)
            recorder = CacheEventRecorder(rules)
            comparison, _ = followed(trace, engine, recording_each_row(recorder), settings=settings, **options)
            for tier in engine.profiles:
                recorder.set_occupancy(tier, comparison.arms["tiered"].ledger.used_bytes[tier])
            assert metrics.snapshot() == recorder.snapshot()
            assert exposition(metrics.snapshot()) == exposition(recorder.snapshot())


@given(trace=traces(60), engine=engines, options=run_options)
@moderate(60)
def test_the_metrics_are_those_of_the_report(trace: Trace, engine: Engine, options: dict[str, Any]) -> None:
    for policy in ("tiered", "blind-lru", "infinite"):
        metrics = JournalMetrics()
        against = ("infinite",) if policy == "blind-lru" else ("blind-lru",)
        _, report = followed(trace, engine, metrics.follow, policy, against=against, **options)
        arm = report["arms"][policy]
        got = metrics.snapshot()
        transfers = [row for row in arm["moves"] if row["directive"]]
        moved = [row for row in transfers if row["outcome"] == "ok" and row["to"] not in ("recompute", row["from"])]
        assert got.events == sum(row["count"] for row in transfers)
        assert got.faults == got.restore_fault == sum(row["count"] for row in transfers if row["outcome"] == "fault")
        assert (got.hits, got.misses) == (got.events - got.faults, 0)
        assert got.bytes_moved == sum(row["bytes"] for row in moved)
        assert got.tokens_moved == sum(row["tokens"] for row in moved)
        assert sum(row.count for row in got.decisions) == sum(row["count"] for row in arm["moves"])
        evictions = {row.reason: row.count for row in got.decisions if row.action == "evict"}
        assert evictions == arm["evictions"]
        held = {tier: figures["end"] for tier, figures in arm["occupancy_bytes"].items()}
        assert {row.tier: row.used_bytes for row in got.occupancy} == {
            **{row.tier: 0 for row in got.occupancy},
            **held,
        }
        assert not got.keys_capped


def test_a_small_replay_is_counted_like_this() -> None:
    # Two blocks fit HBM, one fits DRAM. 1 and 2 go down, the latter pushing out the former; 2 is attended, then
    # restored, for which 3 must go; 3 comes back and 4 goes down, where it meets a fault; 2 goes down and is cleared.
    trace = trace_of(
        *(Ask([block]) for block in (1, 2, 3, 4)),
        Ask([2], 5),
        Ask([2], 5, 1000),
        Ask([3], 6),
        Fault("dram", 7, 9),
        Ask([4], 7),
        Clear("dram", 8),
    )
    engine = engine_of({"hbm": Tier(2 * BLOCK_BYTES, 0, 300_000), "dram": Tier(BLOCK_BYTES, 0, 1000)})
    metrics = JournalMetrics()
    followed(trace, engine, metrics.follow)
    got = metrics.snapshot()
    assert got.rows == (
        BreakdownRow("offload", "ok", "dram", "recompute", "unknown", 1, 0, 0),
        BreakdownRow("offload", "ok", "hbm", "dram", "ddr_cache", 4, 4 * BLOCK_BYTES, 16),
        BreakdownRow("offload", "ok", "hbm", "recompute", "unknown", 1, 0, 0),
        BreakdownRow("restore", "fault", "dram", "hbm", "kv_cache", 1, 0, 0),
        BreakdownRow("restore", "ok", "dram", "hbm", "kv_cache", 1, BLOCK_BYTES, 4),
        BreakdownRow("route", "ok", "dram", "dram", "ddr_cache", 1, 0, 0),
    )
    assert got.decisions == (
        DecisionRow("demote", "demote_beats_recompute", 4),
        DecisionRow("evict", "no_colder_tier_with_room", 2),
        DecisionRow("fill", "", 6),
        DecisionRow("restore", "", 2),
        DecisionRow("attend", "", 1),
        DecisionRow("drop", "", 2),
    )
    assert got.occupancy == (OccupancyRow("hbm", 2 * BLOCK_BYTES), OccupancyRow("dram", 0))
    assert (got.events, got.hits, got.misses, got.faults, got.restore_fault) == (9, 8, 0, 1, 1)


def test_before_a_replay_nothing_is_counted() -> None:
    assert exposition(JournalMetrics().snapshot()) == exposition(CacheEventRecorder().snapshot())


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (
            (5, RESTORED, RESTORE, 0, DRAM, HBM, OK, NO_REASON, 64),
            TransferEvent("restore", "ok", "d", 16, 64, "dram", "hbm", owner="fakbench", model_id="m"),
        ),
        (
            (5, RESTORED, RESTORE, 0, DRAM, HBM, FAULT, NO_REASON, 0),
            TransferEvent(
                "restore", "fault", "d", 16, 0, "dram", "hbm", "fakbench", model_id="m", fault_reason="fault_window"
            ),
        ),
        (
            (5, ATTEND, ROUTE, 0, CXL, CXL, OK, NO_REASON, 64),
            TransferEvent("route", "ok", "d", 16, 64, "cxl", "cxl", owner="fakbench", model_id="m"),
        ),
        (
            (5, DEMOTE, OFFLOAD, 0, HBM, DRAM, OK, DEMOTE_BEATS_RECOMPUTE, 64),
            TransferEvent("offload", "ok", "d", 16, 64, "hbm", "dram", owner="fakbench", model_id="m"),
        ),
        (
            (5, EVICT, OFFLOAD, 0, DRAM, RECOMPUTE, OK, NO_COLDER_TIER_WITH_ROOM, 64),
            TransferEvent("offload", "ok", "d", 16, 0, "dram", "recompute", owner="fakbench", model_id="m"),
        ),
        ((5, FILL, NO_DIRECTIVE, 0, NO_TIER, HBM, OK, NO_REASON, 64), None),
    ],
    ids=["restore", "fault", "attend", "demote", "evict", "fill"],
)
def test_a_row_is_lowered_to_the_event_an_engine_would_report(row: Row, expected: TransferEvent | None) -> None:
    assert event_of(kind_of(row), 16, row[8], "m", "d") == expected


def test_spans_of_a_trace_have_names_of_their_own() -> None:
    names = [span_digest(trace, span) for trace in ("0" * 64, "1" * 64) for span in (0, 1, 10)]
    assert len(set(names)) == len(names)


# Serving.


def scraped(address: str) -> dict[str, float]:
    """Samples without labels, by name, as the server gives them now."""
    with urllib.request.urlopen(address, timeout=10) as answer:  # noqa: S310 - the address is this machine's
        assert answer.headers["Content-Type"].startswith("text/plain")
        text = answer.read().decode()
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if not sample.labels
    }


def test_the_metrics_are_served_while_the_replay_runs() -> None:
    trace = trace_of(*(Ask([turn % 7], turn) for turn in range(2500)))
    engine = engine_of({"hbm": 2 * BLOCK_BYTES, "dram": 4 * BLOCK_BYTES})
    metrics = JournalMetrics()
    seen: list[tuple[str, float]] = []
    with serving(metrics.snapshot, "127.0.0.1", 0) as address:
        assert address.startswith("http://127.0.0.1:")
        assert scraped(address)["fak_engine_cache_events_total"] == 0

        def scrape(arm: str, done: int, total: int) -> None:
            seen.append((arm, scraped(address)["fak_engine_cache_events_total"]))

        compare(trace, engine, options_of(), on_progress=scrape, follow=metrics.follow)
        whole = metrics.snapshot()
        assert scraped(address)["fak_engine_cache_events_total"] == whole.events
        assert scraped(address)["fak_engine_cache_bytes_moved_total"] == whole.bytes_moved
    counts = [count for arm, count in seen if arm == "tiered"]
    assert 0 < counts[0] < counts[1] < counts[2] == whole.events
    # The other arms are not counted.
    assert {count for arm, count in seen if arm != "tiered"} == {whole.events}
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(address, timeout=10)  # noqa: S310 - the same


def test_the_metrics_are_served_over_ipv6_too() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        pytest.skip("this machine has no IPv6 loopback")
    with serving(JournalMetrics().snapshot, "::1", 0) as address:
        assert address.startswith("http://[::1]:")
        assert scraped(address)["fak_engine_cache_events_total"] == 0


def test_an_address_that_is_taken_or_unknown_is_refused_in_one_sentence() -> None:
    metrics = JournalMetrics()
    with serving(metrics.snapshot, "127.0.0.1", 0) as address:
        port = int(address.rsplit(":", 1)[1].removesuffix("/metrics"))
        with (
            pytest.raises(
                SetupError,
                match=rf"^--metrics-port {port}: cannot listen on 127\.0\.0\.1 \(Address already in use\);"
                r" choose another port \(0 is any\) or host$",
            ),
            serving(metrics.snapshot, "127.0.0.1", port),
        ):
            pass
    with pytest.raises(SetupError, match="cannot listen on no such host"), serving(metrics.snapshot, "no such host", 0):
        pass


def test_rules_of_the_metrics_change_what_is_exposed_and_not_what_was_done() -> None:
    trace = trace_of(Ask([1]), Ask([2]), Ask([1]))
    engine = engine_of({"hbm": BLOCK_BYTES, "dram": BLOCK_BYTES})
    texts = []
    for rules in (IMPROVED_RECORDER, replace(IMPROVED_RECORDER, decisions=0, occupancy=0)):
        metrics = JournalMetrics(rules)
        followed(trace, engine, metrics.follow)
        texts.append(exposition(metrics.snapshot()).decode())
    assert texts[0].startswith(texts[1])
    assert texts[0] != texts[1]
