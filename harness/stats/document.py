"""The statistics as a document, `fakbench.trace_stats/1`: integers, ratios in parts per million, keys in a fixed order.

Where no request has block ids reuse is unknown, which is not none: `blocks`, `reuse` and what rests on them are null.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.engine import Engine
from harness.isolation import Isolated, axis_values, separating_axes
from harness.spanning import replay_order
from harness.stats.arrivals import arrivals, sessions
from harness.stats.counts import Counts
from harness.stats.live import Live, live_set
from harness.stats.names import is_span
from harness.stats.reuse import Reuse, Tally, find_reuse
from harness.stats.roots import shared_roots
from harness.stats.series import series
from harness.trace import IDENTITY_AXES, Trace
from harness.verdict import ratio_ppm
from policy.cost import PPM
from policy.tiers import HBM

SCHEMA = "fakbench.trace_stats/1"

# The most of a request that was seen, in parts per million, below which it is counted under this name.
_SHARES = {"below_25": 250_000, "below_50": 500_000, "below_75": 750_000, "below_100": PPM}


@dataclass(frozen=True, slots=True)
class StatsOptions:
    """`buckets` is how many stretches of equal length the time is cut into."""

    buckets: int


def build_stats(isolated: Isolated, engine: Engine, options: StatsOptions) -> dict[str, Any]:
    """All of the document."""
    trace = isolated.trace
    order = replay_order(trace)
    known = len(trace.path) > 0
    reuse = find_reuse(trace, order) if known else None
    live = _lives(reuse, engine, trace.requests) if reuse is not None else None
    return {
        "schema": SCHEMA,
        "trace": _trace(trace, isolated),
        "machine": {"id": engine.machine_id, "digest": engine.machine_digest},
        "model": {
            "id": engine.model_id,
            "digest": engine.model_digest,
            "kv_bytes_per_token": engine.kv_bytes_per_token,
            "hbm_room_bytes": engine.profiles[HBM].capacity_bytes,
        },
        "tokens": _tokens(trace),
        "tails": _tails(trace),
        "blocks": _blocks(reuse, engine) if reuse is not None else None,
        "reuse": _reuse(trace, reuse) if reuse is not None else None,
        "live_set": _live_set(trace, order, live, engine) if live is not None else None,
        "shared_roots": shared_roots(trace, order, reuse) if reuse is not None else None,
        "lengths": _lengths(trace),
        "arrivals": arrivals(trace, order),
        "sessions": sessions(trace, order),
        "series": series(trace, order, options.buckets, reuse, *(live or (None, None))),
    }


def _trace(trace: Trace, isolated: Isolated) -> dict[str, Any]:
    controls: dict[str, int] = {}
    for control in trace.controls:
        controls[control.kind] = controls.get(control.kind, 0) + 1
    stated = {axis: [name for name in axis_values(isolated.source, axis) if name] for axis in IDENTITY_AXES}
    return {
        "name": trace.name,
        "format": trace.format,
        "sha256": trace.sha256,
        "requests": trace.requests,
        "block_tokens": trace.block_tokens,
        "namespaces": len(trace.namespaces),
        # How many values of each axis requests state; and by which of them blocks are told apart here.
        "identity": {axis: len(names) for axis, names in stated.items() if names},
        "isolation": list(separating_axes(isolated.source, isolated.axes)),
        "isolation_classes": len(isolated.classes),
        "conventions": dict(trace.conventions),
        "notices": dict(trace.notices),
        "controls": controls,
    }


def _tokens(trace: Trace) -> dict[str, int]:
    unidentified = sum(trace.unidentified_tokens)
    without_ids = sum(trace.unidentified_tokens[request] for request in _without_ids(trace))
    return {
        "input": sum(trace.input_tokens),
        "output": sum(trace.output_tokens),
        "unidentified": unidentified,
        "of_requests_without_ids": without_ids,
    }


def _without_ids(trace: Trace) -> list[int]:
    starts = trace.path_start
    return [request for request in range(trace.requests) if starts[request] == starts[request + 1]]


def _tails(trace: Trace) -> dict[str, int]:
    """How requests end: with a whole block, a partial one that has an id, or tokens that have none."""
    found = {"whole": 0, "partial_with_id": 0, "partial_without_id": 0, "access": 0, "without_ids": 0}
    starts = trace.path_start
    for request in range(trace.requests):
        if starts[request] == starts[request + 1]:
            found["without_ids"] += 1
            continue
        last = trace.path[starts[request + 1] - 1]
        if is_span(trace.block_names[last]):
            found["access"] += 1
        elif trace.unidentified_tokens[request]:
            found["partial_without_id"] += 1
        elif trace.block_size_tokens[last] < trace.block_tokens:
            found["partial_with_id"] += 1
        else:
            found["whole"] += 1
    return found


def _blocks(reuse: Reuse, engine: Engine) -> dict[str, Any]:
    tree = reuse.tree
    uses = Counts()
    for count, blocks in zip(reuse.uses, tree.block_count, strict=True):
        uses.add(count, blocks)
    return {
        "references": reuse.references.blocks,
        "references_tokens": reuse.references.tokens,
        "distinct": len(tree.span_blocks),
        "distinct_tokens": sum(tree.tokens),
        "distinct_bytes": sum(_span_bytes(reuse, engine)),
        "used_once": uses.of.get(1, 0),
        "uses": uses.summary(),
        "uses_histogram": uses.histogram(),
    }


def _span_bytes(reuse: Reuse, engine: Engine) -> list[int]:
    tree, kv_bytes = reuse.tree, engine.kv_bytes_per_token
    return [stated or tokens * kv_bytes for tokens, stated in zip(tree.tokens, tree.stated_bytes, strict=True)]


def _reuse(trace: Trace, reuse: Reuse) -> dict[str, Any]:
    """What a cache without bound would have had."""
    input_tokens = sum(trace.input_tokens)
    servable = reuse.leading.tokens - reuse.obligatory
    return {
        "seen": _tally(reuse.seen),
        "seen_of_references_ppm": ratio_ppm(reuse.seen.blocks, reuse.references.blocks),
        "seen_of_identified_tokens_ppm": ratio_ppm(reuse.seen.tokens, reuse.references.tokens),
        "seen_of_input_tokens_ppm": ratio_ppm(reuse.seen.tokens, input_tokens),
        "leading": _tally(reuse.leading),
        "leading_of_references_ppm": ratio_ppm(reuse.leading.blocks, reuse.references.blocks),
        "leading_of_identified_tokens_ppm": ratio_ppm(reuse.leading.tokens, reuse.references.tokens),
        "obligatory_tokens": reuse.obligatory,
        "servable_tokens": servable,
        "servable_of_input_tokens_ppm": ratio_ppm(servable, input_tokens),
        "last_used_by": {
            "same_session": _tally(reuse.same_session),
            "other_session": _tally(reuse.other_session),
            "not_stated": _tally(reuse.no_session),
        },
        "requests_by_share_seen": _by_share(trace, reuse),
        "gap_us": reuse.gap_us.summary(),
        "gap_histogram": reuse.gap_us.histogram(),
        "distance_tokens": reuse.distance_tokens.summary(),
        "distance_histogram": reuse.distance_tokens.histogram(),
    }


def _tally(tally: Tally) -> dict[str, int]:
    return {"blocks": tally.blocks, "tokens": tally.tokens}


def _by_share(trace: Trace, reuse: Reuse) -> dict[str, int]:
    """Requests by how much of their input was seen; those without ids, and those without input, are apart."""
    found = {"none": 0, **dict.fromkeys(_SHARES, 0), "all": 0, "unknown": 0, "without_input": 0}
    starts = trace.path_start
    for request in range(trace.requests):
        share_ppm = ratio_ppm(reuse.seen_tokens[request], trace.input_tokens[request])
        if not trace.input_tokens[request]:
            found["without_input"] += 1
        elif starts[request] == starts[request + 1]:
            found["unknown"] += 1
        elif not reuse.seen_tokens[request]:
            found["none"] += 1
        else:
            found[next((name for name, most in _SHARES.items() if share_ppm < most), "all")] += 1
    return found


def _lives(reuse: Reuse, engine: Engine, requests: int) -> tuple[Live, Live]:
    """The live set in tokens and in bytes."""
    return live_set(reuse, reuse.tree.tokens, requests), live_set(reuse, _span_bytes(reuse, engine), requests)


def _live_set(trace: Trace, order: list[int], live: tuple[Live, Live], engine: Engine) -> dict[str, Any]:
    times_us = [trace.t_us[request] for request in order]
    tokens, size_bytes = live
    room = engine.profiles[HBM].capacity_bytes
    return {
        "peak_tokens": tokens.peak,
        "mean_tokens": tokens.mean(times_us),
        "peak_bytes": size_bytes.peak,
        "mean_bytes": size_bytes.mean(times_us),
        "peak_of_hbm_room_ppm": ratio_ppm(size_bytes.peak, room) if room else None,
    }


def _lengths(trace: Trace) -> dict[str, Any]:
    starts = trace.path_start
    with_ids = [count for at in range(trace.requests) if (count := starts[at + 1] - starts[at])]
    inputs, outputs = Counts(trace.input_tokens), Counts(trace.output_tokens)
    return {
        "input_tokens": inputs.summary(),
        "output_tokens": outputs.summary(),
        "blocks": Counts(with_ids).summary(),
        "input_histogram": inputs.histogram(),
        "output_histogram": outputs.histogram(),
    }
