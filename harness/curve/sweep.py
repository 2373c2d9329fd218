"""One pass over a workload: its capacity curve, and where that curve equals a replay to the token.

An LRU that lets whole spans go holds a prefix of the stack, the longest that fits, as long as every request fits beside
itself: then `blind-lru` at any capacity serves just the accesses whose stack distance is within it. A request larger
than the capacity bypasses what does not fit and keeps what it would otherwise evict, so below `exact_from_bytes` the
curve is an estimate, unless all spans are of one size, where it holds everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isqrt

from harness.errors import SetupError
from harness.workload import MAX_SUM, Workload
from policy.capacity_curve import CapacityCurve
from policy.cost import PPM
from policy.ladder import UNBOUNDED_BYTES
from policy.stack_distance import StackDistances

MAX_WINDOWS = 10_000


@dataclass(frozen=True, slots=True)
class Window:
    """The accesses of a stretch of time. `start_us` counts from the first event."""

    start_us: int
    requests: int
    input_tokens: int
    curve: CapacityCurve


@dataclass(frozen=True, slots=True)
class Cut:
    """What a ladder serves down to one of its tiers: the stack's answer, and the least that whole spans allow."""

    hit_tokens: int
    at_least: int
    reprefilled_tokens: int


@dataclass(frozen=True, slots=True)
class Sweep:
    """A pass and what it found. `span_bytes` is the one size of all spans, or 0 where they differ."""

    workload: Workload
    distances: StackDistances
    curve: CapacityCurve
    windows: list[Window]
    live_set_bytes: int
    largest_span_bytes: int
    largest_request_bytes: int
    span_bytes: int

    @property
    def exact_from_bytes(self) -> int:
        """From this capacity on the curve equals a replay of `blind-lru`; `UNBOUNDED_BYTES` where nowhere."""
        if self.distances.rate_ppm < PPM or self.workload.trace.controls:
            return UNBOUNDED_BYTES
        return 0 if self.span_bytes else self.largest_request_bytes

    @property
    def far_spans(self) -> int:
        """Spans that were followed and came back from beyond the largest request: what a sample rests on."""
        return sum(tokens > 0 for tokens in self.distances.far_tokens)

    @property
    def error_ppm(self) -> int:
        """Two standard errors of a sample's hits, in parts of the ceiling; 0 where every span was followed.

        A sample errs in what it takes to be missed, since all that came back is known: with the square of the tokens
        that each span followed brings from beyond the capacity, and the more so the rarer a span is followed. This is
        for capacities that hold the largest request, and the drawing of spans alone: distances err too.
        """
        rate_ppm = self.distances.rate_ppm
        if rate_ppm >= PPM or not self.curve.ceiling_tokens:
            return 0
        squares = sum(tokens * tokens for tokens in self.distances.far_tokens)
        return 2 * isqrt(squares * (PPM - rate_ppm) * PPM**3) // (rate_ppm * self.curve.ceiling_tokens)

    def cuts(self, capacities: list[int]) -> list[Cut]:
        """What tiers of these capacities, hot to cold, serve together down to each of them.

        Spans live in one tier whole, so each boundary may strand less than one span's bytes below it.
        """
        cuts = []
        total = slack = 0
        for capacity_bytes in capacities:
            held = capacity_bytes // self.span_bytes * self.span_bytes if self.span_bytes else capacity_bytes
            total = min(UNBOUNDED_BYTES, total + held)
            bounded = total < UNBOUNDED_BYTES
            least = total - slack if bounded else total
            cuts.append(
                Cut(
                    self.curve.hit_tokens(total),
                    self.curve.hit_tokens(max(0, least)),
                    self.curve.reprefilled_tokens(total),
                )
            )
            slack += 0 if self.span_bytes else self.largest_span_bytes
        return cuts


def sweep(workload: Workload, rate_ppm: int, window_us: int) -> Sweep:
    """Pass over `workload` once, following `rate_ppm` of its spans. `window_us` of 0 makes no windows.

    Raises `SetupError` where nothing that is followed ever comes back, or where there would be too many windows.
    """
    spans = workload.spans
    live_set_bytes = sum(spans.size_bytes)
    if live_set_bytes >= MAX_SUM // PPM * rate_ppm:
        raise SetupError(
            f"--sample: {live_set_bytes} bytes of spans are too many to scale up; check the KV bytes per token"
        )
    if window_us and workload.duration_us // window_us >= MAX_WINDOWS:
        raise SetupError(
            f"--window: would cut the trace's {workload.duration_us} microseconds into more than {MAX_WINDOWS} windows;"
            " give a longer one"
        )
    tree = workload.tree
    starts = tree.path_start
    requests = workload.trace.requests
    paths = (tree.path[starts[request] : starts[request + 1]] for request in range(requests))
    largest_request = max((sum(spans.size_bytes[span] for span in path) for path in paths), default=0)
    distances = StackDistances(spans.tokens, spans.size_bytes, rate_ppm, largest_request)
    windows = _Windows(workload, distances, window_us)
    unidentified = workload.trace.unidentified_tokens
    for event, time_us in zip(workload.events, workload.event_us, strict=True):
        if event < 0:
            continue
        path = tree.path[starts[event] : starts[event + 1]]
        windows.advance(time_us - workload.start_us)
        distances.request(path, 1 if unidentified[event] else 0)
        windows.count(event)
    windows.close()
    if distances.seen_tokens and not distances.tokens:
        raise SetupError("--sample: no span that is followed ever comes back; raise the rate")
    largest = max(spans.size_bytes, default=0)
    return Sweep(
        workload=workload,
        distances=distances,
        curve=_curve(distances, 0, 0, 0),
        windows=windows.done,
        live_set_bytes=live_set_bytes,
        largest_span_bytes=largest,
        largest_request_bytes=largest_request,
        span_bytes=largest if largest == min(spans.size_bytes, default=0) else 0,
    )


def _curve(distances: StackDistances, first: int, seen_before: int, obligatory_before: int) -> CapacityCurve:
    """The curve of the accesses from `first` on."""
    return CapacityCurve(
        distances.distance_bytes[first:],
        distances.tokens[first:],
        distances.obligatory[first:],
        distances.seen_tokens - seen_before,
        distances.obligatory_tokens - obligatory_before,
        distances.rate_ppm,
    )


class _Windows:
    """Cuts the accesses by time as they come. The stack is not emptied: every window begins warm."""

    def __init__(self, workload: Workload, distances: StackDistances, window_us: int) -> None:
        self.done: list[Window] = []
        self.window_us = window_us
        self._trace = workload.trace
        self._distances = distances
        self._index = 0
        self._begin()

    def advance(self, time_us: int) -> None:
        """Close the window where `time_us` lies beyond it."""
        if self.window_us and time_us // self.window_us != self._index:
            self.close()
            self._index = time_us // self.window_us

    def count(self, request: int) -> None:
        """A request belongs to the window that is open."""
        self._requests += 1
        self._input_tokens += self._trace.input_tokens[request]

    def close(self) -> None:
        """Note the window that is open, unless it is empty."""
        if self.window_us and self._requests:
            curve = _curve(self._distances, *self._before)
            self.done.append(Window(self._index * self.window_us, self._requests, self._input_tokens, curve))
        self._begin()

    def _begin(self) -> None:
        found = self._distances
        self._before = (len(found.tokens), found.seen_tokens, found.obligatory_tokens)
        self._requests = 0
        self._input_tokens = 0
