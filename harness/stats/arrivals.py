"""When requests arrive: rates, peaks, gaps and ties, from their times in ascending order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from harness.stats.counts import Counts
from harness.trace import Trace

_SECOND_US = 1_000_000
_MINUTE_US = 60 * _SECOND_US


def arrivals(trace: Trace, order: Sequence[int]) -> dict[str, Any]:
    """The arrivals of a trace. Seconds and minutes are counted from the first of them."""
    times_us = [trace.t_us[request] for request in order]
    span_us = times_us[-1] - times_us[0]
    ties = [size for size in _sizes(times_us) if size > 1]
    minutes = [(time - times_us[0]) // _MINUTE_US for time in times_us]
    input_tokens: dict[int, int] = {}
    for minute, request in zip(minutes, order, strict=True):
        input_tokens[minute] = input_tokens.get(minute, 0) + trace.input_tokens[request]
    return {
        "first_us": times_us[0],
        "span_us": span_us,
        "requests_per_1000_s": len(times_us) * 1000 * _SECOND_US // span_us if span_us else None,
        "peak_requests_per_s": max(_sizes([(time - times_us[0]) // _SECOND_US for time in times_us])),
        "peak_requests_per_minute": max(_sizes(minutes)),
        "peak_input_tokens_per_minute": max(input_tokens.values()),
        "gap_us": Counts(later - now for now, later in pairwise(times_us)).summary(),
        "ties": {"groups": len(ties), "requests": sum(ties), "largest": max(ties, default=0)},
        # As the reader met them: a file that begins before the end of the one before it steps nowhere.
        "steps_back": {
            "count": trace.notices.get("time_steps_back", 0),
            "largest_us": trace.notices.get("largest_step_back_us", 0),
        },
    }


def _sizes(values: Sequence[int]) -> Iterator[int]:
    """How many there are of each value; equal ones stand together."""
    return (sum(1 for _ in group) for _, group in groupby(values))


def sessions(trace: Trace, order: Sequence[int]) -> dict[str, Any]:
    """Turns of each session, and the time from one to the next."""
    turns: dict[int, int] = {}
    last_us: dict[int, int] = {}
    gap_us = Counts()
    for request in order:
        session = trace.session[request]
        if session < 0:
            continue
        turns[session] = turns.get(session, 0) + 1
        if session in last_us:
            gap_us.add(trace.t_us[request] - last_us[session])
        last_us[session] = trace.t_us[request]
    return {
        "count": len(turns),
        "requests_without": trace.requests - sum(turns.values()),
        "of_one_turn": sum(count == 1 for count in turns.values()),
        "turns": Counts(turns.values()).summary(),
        "gap_us": gap_us.summary(),
    }
