"""The curve as a document, `fakbench.curve/1`: integers, ratios in parts per million, keys in a fixed order."""

from __future__ import annotations

from typing import Any

from harness.curve.axis import KNEES_PPM, Axis, shown_capacities
from harness.curve.options import CurveOptions
from harness.curve.sweep import Sweep
from harness.engine import Engine
from harness.errors import SetupError
from harness.verdict import ratio_ppm
from harness.workload import US_PER_MS
from policy.cost import PPM
from policy.ladder import UNBOUNDED_BYTES
from policy.tiers import HBM, LADDER

SCHEMA = "fakbench.curve/1"


def check_splits(options: CurveOptions) -> None:
    """Raise `SetupError` for a split without HBM, in which every engine computes."""
    for split in options.splits:
        if HBM not in split:
            named = ",".join(LADDER[tier] for tier in sorted(split))
            raise SetupError(f"--at {named}: names no hbm; every engine computes in HBM, so give hbm=SIZE too")


def build_document(sweep: Sweep, engine: Engine, axis: Axis, options: CurveOptions) -> dict[str, Any]:
    """The whole document. The engine's own ladder is the first of its splits."""
    workload = sweep.workload
    trace = workload.trace
    found = sweep.distances
    own = {tier: profile.capacity_bytes for tier, profile in engine.profiles.items()}
    return {
        "schema": SCHEMA,
        "trace": {
            "name": trace.name,
            "format": trace.format,
            "sha256": trace.sha256,
            "requests": trace.requests,
            "block_tokens": trace.block_tokens,
            "spans": len(workload.tree),
            "span_ms": workload.duration_us // US_PER_MS,
            "notices": dict(trace.notices),
        },
        "machine": {"id": engine.machine_id, "digest": engine.machine_digest},
        "model": {
            "id": engine.model_id,
            "digest": engine.model_digest,
            "kv_bytes_per_token": engine.kv_bytes_per_token,
        },
        "parameters": {
            "span_tokens": options.span_tokens,
            "window_us": options.window_us,
            "sample_ppm": options.rate_ppm,
        },
        "tokens": {
            "input": sum(trace.input_tokens),
            "ceiling": sweep.curve.ceiling_tokens,
            "cold": found.cold_tokens,
            "obligatory": found.obligatory_tokens,
            "unidentified": sum(trace.unidentified_tokens),
        },
        "live_set": axis.amounts(sweep.live_set_bytes),
        "exactness": _exactness(sweep),
        "knees": axis.knees(sweep),
        "curve": [axis.point(sweep, capacity) for capacity in shown_capacities(sweep.curve)],
        "splits": [_split(sweep, split) for split in (own, *options.splits)],
        "windows": [
            {
                "start_ms": window.start_us // US_PER_MS,
                "requests": window.requests,
                "input_tokens": window.input_tokens,
                "ceiling_tokens": window.curve.ceiling_tokens,
                "knees_bytes": [window.curve.knee_bytes(knee_ppm) for knee_ppm in KNEES_PPM],
            }
            for window in sweep.windows
        ],
    }


def _exactness(sweep: Sweep) -> dict[str, Any]:
    """From where the curve equals a replay to the token, and what stands against it."""
    found = sweep.distances
    exact_from = sweep.exact_from_bytes
    return {
        "largest_request_bytes": sweep.largest_request_bytes,
        "largest_span_bytes": sweep.largest_span_bytes,
        **({"exact_from_bytes": exact_from} if exact_from < UNBOUNDED_BYTES else {}),
        "events_left_out": len(sweep.workload.trace.controls),
        **(
            {
                "followed_spans": found.followed_spans,
                "far_spans": sweep.far_spans,
                "error_ppm": sweep.error_ppm,
            }
            if found.rate_ppm < PPM
            else {}
        ),
    }


def _split(sweep: Sweep, split: dict[int, int]) -> dict[str, Any]:
    """Hits by tier where each tier has its capacity, 0 being unbounded, and the bracket of each running total."""
    tiers = sorted(split)
    capacities = [split[tier] or UNBOUNDED_BYTES for tier in tiers]
    cuts = sweep.cuts(capacities)
    before = [0, *(cut.hit_tokens for cut in cuts)]
    hit_tokens = cuts[-1].hit_tokens
    total_bytes = sum(split.values()) if all(split.values()) else 0
    certain = capacities[0] >= sweep.exact_from_bytes
    return {
        "tiers": {
            LADDER[tier]: {
                "capacity_bytes": split[tier],
                "hit_tokens": cut.hit_tokens - hotter,
                "down_to_here": cut.hit_tokens,
                "down_to_here_at_least": cut.at_least,
            }
            for tier, cut, hotter in zip(tiers, cuts, before, strict=False)
        },
        "hit_tokens": hit_tokens,
        "reprefilled_tokens": cuts[-1].reprefilled_tokens,
        "of_ceiling_ppm": ratio_ppm(hit_tokens, sweep.curve.ceiling_tokens),
        **({"live_set_ppm": ratio_ppm(sweep.live_set_bytes, total_bytes)} if total_bytes else {}),
        "exact": certain and all(cut.hit_tokens == cut.at_least for cut in cuts),
    }
