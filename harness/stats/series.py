"""The trace over time: stretches of equal length, with what arrives, what comes back, and what is live in each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.stats.live import Live
from harness.stats.reuse import Reuse
from harness.trace import Trace


def series(
    trace: Trace, order: Sequence[int], buckets: int, reuse: Reuse | None, tokens: Live | None, live_bytes: Live | None
) -> list[dict[str, Any]]:
    """The stretches, empty ones too; one only where no time passes. Live is the most at any moment of the stretch."""
    times_us = [trace.t_us[request] for request in order]
    length_us = times_us[-1] - times_us[0] + 1
    buckets = min(buckets, length_us)
    rows: list[dict[str, Any]] = []
    place = 0
    for bucket in range(buckets):
        end = times_us[0] - (-(bucket + 1) * length_us // buckets)
        first = place
        while place < len(order) and times_us[place] < end:
            place += 1
        requests = order[first:place]
        row: dict[str, Any] = {
            "start_us": -(-bucket * length_us // buckets),
            "requests": len(requests),
            "input_tokens": sum(trace.input_tokens[request] for request in requests),
        }
        if reuse is not None:
            row["seen_tokens"] = sum(reuse.seen_tokens[request] for request in requests)
        if tokens is not None and live_bytes is not None:
            row["live_tokens"] = max(tokens.after[max(0, first - 1) : place], default=0)
            row["live_bytes"] = max(live_bytes.after[max(0, first - 1) : place], default=0)
        rows.append(row)
    return rows
