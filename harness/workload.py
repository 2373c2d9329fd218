"""A trace made ready for one engine: spans with their sizes and costs, and every event in replay order."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

from harness.engine import Engine
from harness.errors import SetupError
from harness.spanning import SpanTree, cut_spans, replay_order
from harness.trace import Trace
from policy.spans import Spans

US_PER_MS = 1000
# Compiled integers wrap silently, so a run whose sums could pass this is refused.
MAX_SUM = 2**62


@dataclass(slots=True)
class Workload:
    """What every arm replays. `events` holds request indices, and controls as `-1 - index`."""

    trace: Trace
    tree: SpanTree
    spans: Spans
    tail_ns: array[int]
    events: array[int]
    event_us: array[int]
    start_us: int
    duration_us: int


def prepare(trace: Trace, engine: Engine, span_tokens: int, now_ms: int) -> Workload:
    """Cut spans, price them for `engine`, and put requests and controls in order of time, file order breaking ties.

    Event time is `now_ms` plus the distance from the first event. Raises `SetupError` where sums could overflow.
    """
    order = replay_order(trace)
    tree = cut_spans(trace, order, span_tokens)
    spans = _price(tree, engine)
    tail_ns = _tails(trace, engine)
    events, event_us = _merge(trace, order)
    start_us = now_ms * US_PER_MS
    first_us = event_us[0]
    shifted = array("q", [start_us + (time - first_us) for time in event_us])
    workload = Workload(trace, tree, spans, tail_ns, events, shifted, start_us, shifted[-1] - shifted[0])
    _refuse_overflow(workload, engine)
    return workload


def _price(tree: SpanTree, engine: Engine) -> Spans:
    kv_bytes = engine.kv_bytes_per_token
    prefill = engine.prefill
    shapes = list(zip(tree.tokens, tree.context_tokens, strict=True))
    sizes = [stated or tokens * kv_bytes for tokens, stated in zip(tree.tokens, tree.stated_bytes, strict=True)]
    return Spans(
        tree.tokens,
        _column("bytes of a span", sizes),
        _column("prefill time of a span in ns", [prefill.ns(tokens, context) for tokens, context in shapes]),
        _column("prefill time of a token in ns", [prefill.ns(1, context + tokens - 1) for tokens, context in shapes]),
    )


def _tails(trace: Trace, engine: Engine) -> array[int]:
    """What each request's unidentified tokens cost: they stand behind everything that blocks name."""
    prefill = engine.prefill
    pairs = zip(trace.unidentified_tokens, trace.input_tokens, strict=True)
    return _column(
        "prefill time of a request in ns", [prefill.ns(tail, total - tail) if tail else 0 for tail, total in pairs]
    )


def _column(what: str, values: list[int]) -> array[int]:
    """Values as a column of 64-bit integers, or `SetupError` where one passes what the replay counts to."""
    largest = max(values, default=0)
    if largest >= MAX_SUM:
        raise _too_large(what, largest)
    return array("q", values)


def _too_large(what: str, bound: int) -> SetupError:
    return SetupError(
        f"the {what} could reach {bound}, beyond the 2**62 that the replay counts to;"
        " check the KV bytes per token, the prefill rate and the tier figures"
    )


def _merge(trace: Trace, order: list[int]) -> tuple[array[int], array[int]]:
    """Events by time; at one time, in the order of the file."""
    if not trace.controls:
        return array("q", order), array("q", [trace.t_us[request] for request in order])
    rows = [(trace.t_us[request], request, 1, request) for request in order]
    rows += [(control.t_us, control.before_request, 0, -1 - index) for index, control in enumerate(trace.controls)]
    # Controls that stand between the same two requests keep their own order: -1 - index falls as index grows.
    rows.sort(key=lambda row: (row[0], row[1], row[2], -row[3]))
    return array("q", [row[3] for row in rows]), array("q", [row[0] for row in rows])


def _refuse_overflow(workload: Workload, engine: Engine) -> None:
    """No sum of this run may pass `MAX_SUM`: bytes resident, prefill time, staging time, attend time."""
    spans = workload.spans
    trace = workload.trace
    tree = workload.tree
    visits = [tree.path_start[r + 1] - tree.path_start[r] for r in range(trace.requests)]
    most_output = max(trace.output_tokens, default=0) + 1
    largest = max(spans.size_bytes, default=0)
    slowest = min((p.bandwidth_mb_s for p in engine.profiles.values() if p.bandwidth_mb_s > 0), default=1)
    for link in engine.links:
        slowest = min(slowest, link.down_mb_s, link.up_mb_s)
    latency = max((p.read_latency_ns for p in engine.profiles.values()), default=0)
    longest_stage = latency + largest * 1000 // slowest
    total_visits = sum(visits) + 1
    checks = (
        ("bytes of all spans", sum(spans.size_bytes)),
        ("prefill time in ns", sum(trace.input_tokens) * max(1, max(spans.last_token_ns, default=1))),
        ("bytes of one span, times 1000", largest * 1000),
        ("staging time in ns", longest_stage * total_visits),
        ("attend time in ns", longest_stage * most_output),
        ("bytes of one span that are read in place", largest * most_output),
    )
    for what, bound in checks:
        if bound >= MAX_SUM:
            raise _too_large(what, bound)
