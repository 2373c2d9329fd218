"""A replay's journal as cache events: what was done to spans, in the words an engine adapter reports it in, counted.

A row with a directive is a transfer event; fills and drops, which an engine does by itself, are decisions only. Rows
are counted by the few kinds there are, and a kind is lowered once, when the counts are asked for: lowering each row
to an entry would cost more than the replay. The counts are the same (a test records every row by itself).
"""

from __future__ import annotations

import threading
from array import array

from harness.engine import Engine
from harness.metrics.recorder import CacheEventRecorder
from harness.metrics.rules import IMPROVED_RECORDER, RecorderRules
from harness.metrics.snapshot import Snapshot
from harness.replay import RowSink
from harness.workload import Workload
from policy.decisions import (
    COMPRESS_DEMOTE,
    COPY,
    DEDUPE,
    DEMOTE,
    DIRECTIVE_NAMES,
    DROP,
    EVICT,
    FAULT,
    FILL,
    NO_DIRECTIVE,
    OK,
    OUTCOME_NAMES,
    PROMOTE,
    RESTORED,
    SPILL,
)
from policy.digest import digest_bytes
from policy.journal import Row
from policy.tiers import TIER_NAMES
from policy.transfer import TransferEvent

# Action, directive, source, destination, outcome, reason: the codes of a row that are not the span's.
Kind = tuple[int, int, int, int, int, int]

OWNER = "fakbench"
FAULT_REASON = "fault_window"

_MOVES = (PROMOTE, DEMOTE, SPILL, COMPRESS_DEMOTE)


class JournalMetrics:
    """Follows one arm's journal. What it counted can be asked for at any time, from any thread."""

    def __init__(self, rules: RecorderRules = IMPROVED_RECORDER) -> None:
        self.rules = rules
        self._lock = threading.Lock()
        # By kind: rows, their bytes, their spans' tokens, and what those spans take when they are held exactly.
        self._tallies: dict[Kind, list[int]] = {}
        self._tiers: list[int] = []
        self._model_id = ""

    def follow(self, workload: Workload, engine: Engine) -> RowSink:
        """The sink for the rows of one replay of `workload` on `engine`; the tiers of the latter have an occupancy."""
        with self._lock:
            self._tiers = sorted(engine.profiles)
            self._model_id = engine.model_id
        tokens = workload.spans.tokens
        span_bytes = workload.spans.size_bytes

        def sink(rows: list[Row]) -> None:
            self._count(rows, tokens, span_bytes)

        return sink

    def snapshot(self) -> Snapshot:
        """What was counted so far."""
        with self._lock:
            tallies = [(kind, tuple(tally)) for kind, tally in self._tallies.items()]
            tiers = self._tiers
            model_id = self._model_id
        recorder = CacheEventRecorder(self.rules)
        used_bytes = dict.fromkeys(tiers, 0)
        for kind, (times, row_bytes, tokens, span_bytes) in tallies:
            event = event_of(kind, 0, 0, model_id)
            if event is not None:
                recorder.record_alike(event, times, bytes_moved(kind, row_bytes), tokens_moved(kind, tokens))
            recorder.record_decision(kind[0], kind[5], times)
            for tier, held_bytes in _held(kind, row_bytes, span_bytes):
                used_bytes[tier] += held_bytes
        for tier, held_bytes in used_bytes.items():
            recorder.set_occupancy(tier, held_bytes)
        return recorder.snapshot()

    def _count(self, rows: list[Row], tokens: array[int], span_bytes: array[int]) -> None:
        tallies = self._tallies
        with self._lock:
            for _, action, directive, span, source, destination, outcome, reason, size_bytes in rows:
                kind = (action, directive, source, destination, outcome, reason)
                tally = tallies.get(kind)
                if tally is None:
                    tally = tallies[kind] = [0, 0, 0, 0]
                tally[0] += 1
                tally[1] += size_bytes
                tally[2] += tokens[span]
                tally[3] += span_bytes[span]


def kind_of(row: Row) -> Kind:
    """The codes of a row that are not the span's."""
    _, action, directive, _, source, destination, outcome, reason, _ = row
    return action, directive, source, destination, outcome, reason


def event_of(kind: Kind, tokens: int, row_bytes: int, model_id: str, span_digest: str = "") -> TransferEvent | None:
    """What an engine adapter would report of a row of this kind; None where it was given no directive."""
    _, directive, source, destination, outcome, _ = kind
    if directive == NO_DIRECTIVE:
        return None
    return TransferEvent(
        direction=DIRECTIVE_NAMES[directive],
        outcome=OUTCOME_NAMES[outcome],
        span_digest=span_digest,
        tokens=tokens_moved(kind, tokens),
        bytes_moved=bytes_moved(kind, row_bytes),
        from_tier=TIER_NAMES[source],
        to_tier=TIER_NAMES[destination],
        owner=OWNER,
        model_id=model_id,
        fault_reason=FAULT_REASON if outcome == FAULT else "",
    )


def span_digest(trace_sha256: str, span: int) -> str:
    """A name for a span of a trace that no span of any other trace has."""
    return digest_bytes(f"{trace_sha256}\0{span}".encode())


def bytes_moved(kind: Kind, row_bytes: int) -> int:
    """What of a row's bytes went over a link: the row of an eviction says what was let go."""
    return 0 if kind[0] in (EVICT, DEDUPE) else row_bytes


def tokens_moved(kind: Kind, tokens: int) -> int:
    """The tokens of a row's spans, which stay where they are if what is let go is elsewhere already."""
    return 0 if kind[0] == DEDUPE else tokens


def _held(kind: Kind, row_bytes: int, span_bytes: int) -> list[tuple[int, int]]:
    """What rows of a kind add to the bytes that tiers hold. Compressed spans take less than `span_bytes`."""
    action, _, source, destination, outcome, _ = kind
    if action == FILL:
        return [(destination, row_bytes)]
    if action in _MOVES:
        return [(source, -(span_bytes if action == COMPRESS_DEMOTE else row_bytes)), (destination, row_bytes)]
    if action in (EVICT, DROP, DEDUPE):
        return [(source, -row_bytes)]
    if action == COPY:
        return [(destination, span_bytes)]
    if action == RESTORED and outcome == OK:
        return [(source, -row_bytes), (destination, span_bytes)]
    return []
