"""Vectors about the cache-event recorder: events in, each one's entry and verdict, the counts, and the exposition."""

from __future__ import annotations

from conformance_codes import ProfileSets, Vector
from conformance_entries import Answer, event_from

from harness.metrics.exposition import exposition
from harness.metrics.recorder import CacheEventRecorder
from harness.metrics.rules import STRICT_RECORDER
from harness.metrics.snapshot import Snapshot
from policy.entry import Entry, EntryOption, with_label, with_residency
from policy.verdict import Verdict

_TOTALS = ("events", "hits", "misses", "faults", "restore_miss", "restore_fault", "bytes_moved", "tokens_moved")
_OVERFLOW = ("overflow_events", "overflow_bytes_moved", "overflow_tokens_moved")
_ROW = ("direction", "outcome", "to_tier", "memory_class", "count", "bytes_moved", "tokens_moved")


def cache_events(vector: Vector, _: ProfileSets) -> Answer:
    recorder = CacheEventRecorder(STRICT_RECORDER)
    results = [
        result_fields(*recorder.record(event_from(row["event"]), options_from(row.get("options", {}))))
        for row in vector["events"]
    ]
    snapshot = recorder.snapshot()
    expected = {
        "results": [row["result"] for row in vector["events"]],
        "snapshot": vector["snapshot"],
        "prometheus": vector["prometheus"],
    }
    return expected, {
        "results": results,
        "snapshot": snapshot_fields(snapshot),
        "prometheus": exposition(snapshot).decode(),
    }


def options_from(fields: Vector) -> list[EntryOption]:
    """What a vector changes after lowering."""
    options = [
        with_label(name, fields[f"label_{name}"]) for name in ("outcome", "direction") if f"label_{name}" in fields
    ]
    if "residency_tier" in fields:
        options.append(with_residency(fields["residency_tier"], "opt-owner", "opt-lease"))
    return options


def result_fields(entry: Entry, verdict: Verdict) -> dict[str, object]:
    return {
        "digest": entry.id.digest,
        "residency_tier": entry.residency.tier,
        "kind": verdict.kind,
        "reason": verdict.reason,
        "can_serve": verdict.can_serve(),
        # The original's name for whatever cannot be served, a typed fault among it.
        "silent_recompute": not verdict.can_serve(),
    }


def snapshot_fields(snapshot: Snapshot) -> dict[str, object]:
    fields: dict[str, object] = {name: getattr(snapshot, name) for name in (*_TOTALS, "keys_capped", *_OVERFLOW)}
    fields["rows"] = [{name: getattr(row, name) for name in _ROW} for row in snapshot.rows]
    return fields
