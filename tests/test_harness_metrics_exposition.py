"""The Prometheus text of the recorder: exact bytes, what parsers make of it, and what the library serves instead."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
from conftest import ROOT
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.parser import text_string_to_metric_families
from strategies import moderate

from harness.metrics.exposition import COUNTER, exposition, families
from harness.metrics.recorder import MAX_KEYS, CacheEventRecorder
from harness.metrics.rules import IMPROVED_RECORDER, RECORDER_RULE_SPECS, STRICT_RECORDER, RecorderRules
from harness.metrics.serving import SnapshotCollector
from harness.metrics.snapshot import Snapshot
from policy.decisions import EVICT, NO_COLDER_TIER_WITH_ROOM
from policy.tiers import HBM
from policy.transfer import TransferEvent

DOCUMENT = ROOT / "docs" / "metrics.md"

# Name, labels and value.
Sample = tuple[str, tuple[tuple[str, str], ...], float]


def some(rules: RecorderRules) -> Snapshot:
    """A hit, a fault, a decision and an occupancy."""
    recorder = CacheEventRecorder(rules)
    restore = TransferEvent("restore", "ok", "d", tokens=16, bytes_moved=4096, from_tier="dram", to_tier="hbm")
    recorder.record(restore)
    recorder.record(replace(restore, outcome="fault", from_tier='a\\b"c\nd\re\tf', bytes_moved=5))
    recorder.record_decision(EVICT, NO_COLDER_TIER_WITH_ROOM)
    recorder.set_occupancy(HBM, 7)
    return recorder.snapshot()


def full(rules: RecorderRules) -> Snapshot:
    """More label sets than are told apart."""
    recorder = CacheEventRecorder(rules)
    for number in range(MAX_KEYS + 1):
        recorder.record(TransferEvent(f"d{number}", "ok", "d", tokens=1, bytes_moved=2, to_tier="cxl"))
    return recorder.snapshot()


def parsed(text: str) -> list[Sample]:
    """Every sample that the library's parser finds."""
    return [
        (sample.name, tuple(sorted(sample.labels.items())), sample.value)
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    ]


def exposed(snapshot: Snapshot) -> list[Sample]:
    """Every sample of the families of a snapshot."""
    return [
        (family.name, tuple(sorted(zip(family.labels, values, strict=True))), number)
        for family in families(snapshot)
        for values, number in family.samples
    ]


def test_the_strict_form_is_the_originals_text() -> None:
    assert exposition(some(STRICT_RECORDER)).decode() == (
        """\
# HELP fak_engine_cache_events_total Live-engine KV cache events normalized into the cache-entry stream.
# TYPE fak_engine_cache_events_total counter
fak_engine_cache_events_total 2
# HELP fak_engine_cache_hits_total Cache events whose typed verdict was a HIT (serveable).
# TYPE fak_engine_cache_hits_total counter
fak_engine_cache_hits_total 1
# HELP fak_engine_cache_misses_total Cache events whose typed verdict was a MISS.
# TYPE fak_engine_cache_misses_total counter
fak_engine_cache_misses_total 0
# HELP fak_engine_cache_faults_total Cache events whose typed verdict was a FAULT (never silent recompute).
# TYPE fak_engine_cache_faults_total counter
fak_engine_cache_faults_total 1
# HELP fak_engine_cache_restore_miss_total Restore/load events that found nothing usable (typed MISS).
# TYPE fak_engine_cache_restore_miss_total counter
fak_engine_cache_restore_miss_total 0
# HELP fak_engine_cache_restore_fault_total Restore/load events that errored (typed FAULT) — surfaced, never a silent recompute.
# TYPE fak_engine_cache_restore_fault_total counter
fak_engine_cache_restore_fault_total 1
# HELP fak_engine_cache_bytes_moved_total Bytes moved across residency tiers by cache events.
# TYPE fak_engine_cache_bytes_moved_total counter
fak_engine_cache_bytes_moved_total 4101
# HELP fak_engine_cache_tokens_moved_total KV span positions moved across residency tiers by cache events.
# TYPE fak_engine_cache_tokens_moved_total counter
fak_engine_cache_tokens_moved_total 32
# HELP fak_engine_cache_event_breakdown_total Cache events by direction, outcome, destination residency tier, and memory class.
# TYPE fak_engine_cache_event_breakdown_total counter
fak_engine_cache_event_breakdown_total{direction="restore",outcome="fault",to_tier="hbm",memory_class="kv_cache"} 1
fak_engine_cache_event_breakdown_total{direction="restore",outcome="ok",to_tier="hbm",memory_class="kv_cache"} 1
# HELP fak_engine_cache_bytes_moved_breakdown_total Bytes moved by cache events, bucketed by direction, outcome, destination residency tier, and memory class.
# TYPE fak_engine_cache_bytes_moved_breakdown_total counter
fak_engine_cache_bytes_moved_breakdown_total{direction="restore",outcome="fault",to_tier="hbm",memory_class="kv_cache"} 5
fak_engine_cache_bytes_moved_breakdown_total{direction="restore",outcome="ok",to_tier="hbm",memory_class="kv_cache"} 4096
# HELP fak_engine_cache_tokens_moved_breakdown_total KV span positions moved by cache events, bucketed by direction, outcome, destination residency tier, and memory class.
# TYPE fak_engine_cache_tokens_moved_breakdown_total counter
fak_engine_cache_tokens_moved_breakdown_total{direction="restore",outcome="fault",to_tier="hbm",memory_class="kv_cache"} 16
fak_engine_cache_tokens_moved_breakdown_total{direction="restore",outcome="ok",to_tier="hbm",memory_class="kv_cache"} 16
# HELP fak_engine_cache_keys_capped 1 when the cache-event breakdown key cardinality has hit its bound (further distinct keys fold into the overflow bucket, never grow unbounded), 0 otherwise.
# TYPE fak_engine_cache_keys_capped gauge
fak_engine_cache_keys_capped 0
# HELP fak_engine_cache_event_overflow_total Cache events folded into the overflow bucket because a new (direction, outcome, to_tier, memory_class) key would exceed the bound.
# TYPE fak_engine_cache_event_overflow_total counter
fak_engine_cache_event_overflow_total 0
"""  # noqa: E501 - the format's long lines
    )


def test_the_improved_form_is_this_text() -> None:
    assert exposition(some(IMPROVED_RECORDER)).decode() == (
        """\
# HELP fak_engine_cache_events_total Live-engine KV cache events normalized into the cache-entry stream.
# TYPE fak_engine_cache_events_total counter
fak_engine_cache_events_total 2
# HELP fak_engine_cache_hits_total Cache events whose typed verdict was a HIT (serveable).
# TYPE fak_engine_cache_hits_total counter
fak_engine_cache_hits_total 1
# HELP fak_engine_cache_misses_total Cache events whose typed verdict was a MISS.
# TYPE fak_engine_cache_misses_total counter
fak_engine_cache_misses_total 0
# HELP fak_engine_cache_faults_total Cache events whose typed verdict was a FAULT (never silent recompute).
# TYPE fak_engine_cache_faults_total counter
fak_engine_cache_faults_total 1
# HELP fak_engine_cache_restore_miss_total Restore/load events that found nothing usable (typed MISS).
# TYPE fak_engine_cache_restore_miss_total counter
fak_engine_cache_restore_miss_total 0
# HELP fak_engine_cache_restore_fault_total Restore/load events that errored (typed FAULT) — surfaced, never a silent recompute.
# TYPE fak_engine_cache_restore_fault_total counter
fak_engine_cache_restore_fault_total 1
# HELP fak_engine_cache_bytes_moved_total Bytes moved across residency tiers by cache events.
# TYPE fak_engine_cache_bytes_moved_total counter
fak_engine_cache_bytes_moved_total 4096
# HELP fak_engine_cache_tokens_moved_total KV span positions moved across residency tiers by cache events.
# TYPE fak_engine_cache_tokens_moved_total counter
fak_engine_cache_tokens_moved_total 16
# HELP fak_engine_cache_event_breakdown_total Cache events by direction, outcome, source and destination residency tier, and memory class.
# TYPE fak_engine_cache_event_breakdown_total counter
fak_engine_cache_event_breakdown_total{direction="restore",outcome="fault",from_tier="a\\\\b\\"c\\nd\re\tf",to_tier="hbm",memory_class="kv_cache"} 1
fak_engine_cache_event_breakdown_total{direction="restore",outcome="ok",from_tier="dram",to_tier="hbm",memory_class="kv_cache"} 1
# HELP fak_engine_cache_bytes_moved_breakdown_total Bytes moved by cache events, bucketed by direction, outcome, source and destination residency tier, and memory class.
# TYPE fak_engine_cache_bytes_moved_breakdown_total counter
fak_engine_cache_bytes_moved_breakdown_total{direction="restore",outcome="fault",from_tier="a\\\\b\\"c\\nd\re\tf",to_tier="hbm",memory_class="kv_cache"} 0
fak_engine_cache_bytes_moved_breakdown_total{direction="restore",outcome="ok",from_tier="dram",to_tier="hbm",memory_class="kv_cache"} 4096
# HELP fak_engine_cache_tokens_moved_breakdown_total KV span positions moved by cache events, bucketed by direction, outcome, source and destination residency tier, and memory class.
# TYPE fak_engine_cache_tokens_moved_breakdown_total counter
fak_engine_cache_tokens_moved_breakdown_total{direction="restore",outcome="fault",from_tier="a\\\\b\\"c\\nd\re\tf",to_tier="hbm",memory_class="kv_cache"} 0
fak_engine_cache_tokens_moved_breakdown_total{direction="restore",outcome="ok",from_tier="dram",to_tier="hbm",memory_class="kv_cache"} 16
# HELP fak_engine_cache_keys_capped 1 when distinct keys of the cache-event breakdown were beyond its bound and folded into the overflow bucket, 0 otherwise.
# TYPE fak_engine_cache_keys_capped gauge
fak_engine_cache_keys_capped 0
# HELP fak_engine_cache_event_overflow_total Cache events folded into the overflow bucket because a new (direction, outcome, from_tier, to_tier, memory_class) key would exceed the bound.
# TYPE fak_engine_cache_event_overflow_total counter
fak_engine_cache_event_overflow_total 0
# HELP fak_engine_cache_bytes_moved_overflow_total Bytes moved by cache events folded into the overflow bucket because a new (direction, outcome, from_tier, to_tier, memory_class) key would exceed the bound.
# TYPE fak_engine_cache_bytes_moved_overflow_total counter
fak_engine_cache_bytes_moved_overflow_total 0
# HELP fak_engine_cache_tokens_moved_overflow_total KV span positions moved by cache events folded into the overflow bucket because a new (direction, outcome, from_tier, to_tier, memory_class) key would exceed the bound.
# TYPE fak_engine_cache_tokens_moved_overflow_total counter
fak_engine_cache_tokens_moved_overflow_total 0
# HELP fak_engine_cache_decisions_total Things done to cached spans by action and the planner's reason, which is empty where it was not asked.
# TYPE fak_engine_cache_decisions_total counter
fak_engine_cache_decisions_total{action="evict",reason="no_colder_tier_with_room"} 1
# HELP fak_engine_cache_occupancy_bytes Bytes of cached spans held by residency tier.
# TYPE fak_engine_cache_occupancy_bytes gauge
fak_engine_cache_occupancy_bytes{tier="hbm"} 7
"""  # noqa: E501 - the format's long lines
    )


@pytest.mark.parametrize("rules", [STRICT_RECORDER, IMPROVED_RECORDER], ids=["strict", "improved"])
def test_a_recorder_that_saw_nothing_exposes_every_family_without_labelled_samples(rules: RecorderRules) -> None:
    text = exposition(CacheEventRecorder(rules).snapshot()).decode()
    expected = families(some(rules))
    assert re.findall(r"^# HELP (\S+) \S", text, re.MULTILINE) == [family.name for family in expected]
    assert re.findall(r"^# TYPE (\S+ \S+)$", text, re.MULTILINE) == [f"{f.name} {f.kind}" for f in expected]
    assert [line for line in text.splitlines() if line[0] != "#"] == [
        f"{family.name} 0" for family in expected if not family.labels
    ]
    assert text.endswith("\n")


def test_the_librarys_parser_finds_every_sample_of_a_full_recorder() -> None:
    for rules in (STRICT_RECORDER, IMPROVED_RECORDER):
        got = full(rules)
        assert parsed(exposition(got).decode()) == exposed(got)
        assert len(exposed(got)) == 10 + 3 * MAX_KEYS + 2 * rules.overflow_moved


_WORDS = st.text(st.characters(), max_size=8) | st.sampled_from(
    ['a"b', "a\\", "\\n", "\n", "\r\n", '{x="y"} 1', "#", ","]
)
_EVENTS = st.builds(
    TransferEvent,
    direction=_WORDS,
    outcome=st.sampled_from(["ok", "missed", "fault"]) | _WORDS,
    from_tier=_WORDS,
    to_tier=_WORDS,
    tokens=st.integers(-5, 50),
    bytes_moved=st.integers(-5, 2**70),
)


@given(
    events=st.lists(_EVENTS, max_size=6),
    rules=st.builds(RecorderRules, *[st.integers(0, 1)] * len(RECORDER_RULE_SPECS)),
)
@moderate(300)
def test_whatever_labels_say_the_librarys_parser_reads_them_back(
    events: list[TransferEvent], rules: RecorderRules
) -> None:
    recorder = CacheEventRecorder(rules)
    for event in events:
        recorder.record(event)
    got = recorder.snapshot()
    assert parsed(exposition(got).decode()) == exposed(got)


def test_the_librarys_parser_reads_every_exposition_of_the_original(shared: Path) -> None:
    lines = (shared / "conformance" / "cache_events.jsonl").read_bytes().splitlines()
    assert len(lines) == 85
    for line in lines:
        vector = orjson.loads(line)
        rows = vector["snapshot"]["rows"]
        samples = parsed(vector["prometheus"])
        assert len(samples) == 10 + 3 * len(rows)
        assert [value for name, _, value in samples if name == "fak_engine_cache_event_breakdown_total"] == [
            row["count"] for row in rows
        ]


def test_what_the_library_serves_has_the_same_families_and_samples() -> None:
    for snapshot in (some(STRICT_RECORDER), some(IMPROVED_RECORDER), full(IMPROVED_RECORDER)):
        registry = CollectorRegistry()
        registry.register(SnapshotCollector(lambda given=snapshot: given))  # type: ignore[misc]
        served = generate_latest(registry).decode()
        assert parsed(served) == exposed(snapshot)  # 9.0 == 9
        comments = [line for line in exposition(snapshot).decode().splitlines() if line.startswith("#")]
        assert [line for line in served.splitlines() if line.startswith("#")] == comments


@pytest.mark.parametrize("rules", [STRICT_RECORDER, IMPROVED_RECORDER], ids=["strict", "improved"])
def test_promtool_has_no_complaint(rules: RecorderRules) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool (of Prometheus) is not installed")
    for snapshot in (some(rules), full(rules)):
        ran = subprocess.run(
            [promtool, "check", "metrics"], input=exposition(snapshot), capture_output=True, check=False
        )
        assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def test_every_metric_and_every_departure_has_its_line_in_the_documentation() -> None:
    rows = [
        [cell.strip().strip("`") for cell in line.strip("|").split("|")]
        for line in DOCUMENT.read_text(encoding="utf-8").splitlines()
        if line.startswith("| `")
    ]
    named = {row[0]: row[1:] for row in rows}
    for family in families(some(IMPROVED_RECORDER)):
        kind, labels, *_ = named[family.name]
        assert (kind, re.findall(r"\w+", labels)) == (family.kind, list(family.labels)), family.name
        assert (family.kind == COUNTER) == family.name.endswith("_total")
    assert [name for name in named if name in RecorderRules.__slots__] == [spec.name for spec in RECORDER_RULE_SPECS]
    for spec in RECORDER_RULE_SPECS:
        assert named[spec.name] == [spec.meaning]


def test_the_example_of_the_documentation_runs() -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    counted = f"{example}\nassert b'restore_miss_total 1\\n' in text"
    ran = subprocess.run([sys.executable, "-c", counted], cwd=ROOT, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")
