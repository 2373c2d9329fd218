"""Counts cache events as engines report them: lowered to an entry, judged by a typed verdict, folded by a few labels.

Source: the original plane's cache-event recorder. Labels are free strings, so at most `MAX_KEYS` combinations are
told apart; events of any further one are counted together as overflow, and those known before go on being counted.
Where this departs from the original is in `harness.metrics.rules`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from harness.metrics.rules import IMPROVED_RECORDER, RecorderRules
from harness.metrics.snapshot import BreakdownRow, DecisionRow, OccupancyRow, Snapshot
from policy.decisions import ACTION_NAMES, DIRECTIVE_NAMES, NO_REASON, REASON_NAMES
from policy.decisions import RESTORE as RESTORE_CODE
from policy.entry import Entry, EntryOption
from policy.tiers import RECOMPUTE, TIER_NAMES, memory_class, tier_code
from policy.transfer import LABEL_DIRECTION, LABEL_OUTCOME, TransferEvent, lower, verdict_of
from policy.verdict import FAULT, HIT, RESIDENCY_FAULT, RESTORE_MISS, Verdict

MAX_KEYS = 256

# Called with what was recorded, after it was counted, in the thread that recorded it.
EventSink = Callable[[Entry, Verdict], object]

_LABEL_FROM_TIER = "from_tier"
_RESTORE = DIRECTIVE_NAMES[RESTORE_CODE]
_DROPPED = TIER_NAMES[RECOMPUTE]

# Direction, outcome, source tier, destination tier, memory class of the destination.
_Key = tuple[str, str, str, str, str]


class _Bucket:
    """Events, bytes and tokens counted together."""

    __slots__ = ("bytes_moved", "count", "tokens_moved")

    def __init__(self) -> None:
        self.count = 0
        self.bytes_moved = 0
        self.tokens_moved = 0

    def add(self, times: int, bytes_moved: int, tokens_moved: int) -> None:
        self.count += times
        self.bytes_moved += bytes_moved
        self.tokens_moved += tokens_moved


class CacheEventRecorder:
    """Counts from any number of threads at once. A `sink` sees every event that `record` was given."""

    def __init__(self, rules: RecorderRules = IMPROVED_RECORDER, sink: EventSink | None = None) -> None:
        self.rules = rules
        self._sink = sink
        self._lock = threading.Lock()
        self._total = _Bucket()
        self._overflow = _Bucket()
        self._buckets: dict[_Key, _Bucket] = {}
        self._hits = 0
        self._misses = 0
        self._faults = 0
        self._restore_miss = 0
        self._restore_fault = 0
        self._decisions: dict[tuple[int, int], int] = {}
        self._used_bytes: dict[int, int] = {}

    def record(self, event: TransferEvent, options: Iterable[EntryOption] = ()) -> tuple[Entry, Verdict]:
        """Count `event`, lowered and then changed by each of `options` in order. Returns the entry and its verdict."""
        entry = lower(event, *options)
        verdict = verdict_of(entry)
        self._fold(entry, verdict, 1, entry.metrics.bytes_transferred, entry.id.length)
        if self._sink is not None:
            self._sink(entry, verdict)
        return entry, verdict

    def record_alike(self, event: TransferEvent, times: int, bytes_moved: int, tokens: int) -> None:
        """Count `times` events that differ from `event` in the span alone, `bytes_moved` and `tokens` in all.

        The same counts as `record` for each of them, provided that no size among them is negative. No sink is called.
        """
        entry = lower(event)
        self._fold(entry, verdict_of(entry), times, bytes_moved, tokens)

    def record_decision(self, action: int, reason: int, times: int = 1) -> None:
        """Count a thing done to a span, `times` over: codes of `policy.decisions`, `NO_REASON` where none was asked."""
        with self._lock:
            self._decisions[action, reason] = self._decisions.get((action, reason), 0) + times

    def set_occupancy(self, tier: int, used_bytes: int) -> None:
        """Say what a tier, by its code, holds now."""
        with self._lock:
            self._used_bytes[tier] = used_bytes

    def snapshot(self) -> Snapshot:
        """Everything counted so far, none of it half."""
        with self._lock:
            return Snapshot(
                rules=self.rules,
                events=self._total.count,
                hits=self._hits,
                misses=self._misses,
                faults=self._faults,
                restore_miss=self._restore_miss,
                restore_fault=self._restore_fault,
                bytes_moved=self._total.bytes_moved,
                tokens_moved=self._total.tokens_moved,
                # Code points sort as their UTF-8 bytes do.
                rows=tuple(
                    BreakdownRow(*key, bucket.count, bucket.bytes_moved, bucket.tokens_moved)
                    for key, bucket in sorted(self._buckets.items(), key=lambda item: item[0])
                ),
                keys_capped=self._overflow.count > 0
                if self.rules.capped_when_folded
                else len(self._buckets) >= MAX_KEYS,
                overflow_events=self._overflow.count,
                overflow_bytes_moved=self._overflow.bytes_moved,
                overflow_tokens_moved=self._overflow.tokens_moved,
                decisions=tuple(
                    DecisionRow(ACTION_NAMES[action], "" if reason == NO_REASON else REASON_NAMES[reason], count)
                    for (action, reason), count in sorted(self._decisions.items())
                ),
                occupancy=tuple(
                    OccupancyRow(TIER_NAMES[tier], used) for tier, used in sorted(self._used_bytes.items())
                ),
            )

    def _fold(self, entry: Entry, verdict: Verdict, times: int, bytes_moved: int, tokens: int) -> None:
        bytes_moved, tokens = self._moved(entry, verdict, bytes_moved, tokens)
        key = self._key(entry)
        of_restores = not self.rules.restores_only or entry.labels.get(LABEL_DIRECTION, "") == _RESTORE
        with self._lock:
            self._total.add(times, bytes_moved, tokens)
            bucket = self._buckets.get(key)
            if bucket is None:
                if len(self._buckets) < MAX_KEYS:
                    bucket = self._buckets[key] = _Bucket()
                else:
                    bucket = self._overflow
            bucket.add(times, bytes_moved, tokens)
            if verdict.kind == FAULT:
                self._faults += times
                if verdict.reason == RESIDENCY_FAULT and of_restores:
                    self._restore_fault += times
            elif verdict.kind == HIT and (verdict.can_serve() or not self.rules.hits_serve):
                self._hits += times
            else:
                self._misses += times
                if verdict.reason == RESTORE_MISS and of_restores:
                    self._restore_miss += times

    def _moved(self, entry: Entry, verdict: Verdict, bytes_moved: int, tokens: int) -> tuple[int, int]:
        """The bytes and tokens that count as moved."""
        rules = self.rules
        if rules.ok_moves_only and verdict.kind != HIT:
            return 0, 0
        if rules.moves_change_tier:
            source = entry.labels.get(_LABEL_FROM_TIER, "")
            destination = entry.residency.tier
            if destination == _DROPPED or (source and source == destination):
                return 0, 0
        if rules.counters_monotone:
            return max(0, bytes_moved), max(0, tokens)
        return bytes_moved, tokens

    def _key(self, entry: Entry) -> _Key:
        labels = entry.labels
        tier = entry.residency.tier
        return (
            _label(labels.get(LABEL_DIRECTION, "")),
            _label(labels.get(LABEL_OUTCOME, "")),
            _label(labels.get(_LABEL_FROM_TIER, "")) if self.rules.from_tier_label else "",
            _label(tier),
            memory_class(tier_code(tier)),
        )


def _label(text: str) -> str:
    """A label's value as UTF-8 can carry it: half a surrogate pair, which JSON allows, is U+FFFD."""
    return text if text.isascii() else text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
