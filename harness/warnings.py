"""What a reader must know before believing the figures of a report, in a fixed order: codes and numbers, no words."""

from __future__ import annotations

from typing import Any

from harness.comparison import Comparison
from harness.isolation import mixed_axes
from harness.verdict import overloaded
from policy.cost import PPM
from policy.identity import NOT_STATED
from policy.policies.registry import CEILING
from policy.tiers import HBM, LADDER


def find_warnings(arms: dict[str, dict[str, Any]], comparison: Comparison) -> list[dict[str, Any]]:
    """Every warning of a run, in the order in which they matter."""
    return [
        *_overload(arms),
        *_slow_engine(arms),
        *_without_duration(comparison),
        *_unknown_reuse(comparison),
        *_unknown_identity(comparison),
        *_mixed_identities(comparison),
        *_unbounded(arms, comparison),
        *_large_hbm(comparison),
    ]


def _overload(arms: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        {"code": "plan_does_not_fit_the_hardware", "arm": name, "where": place, "ppm": ppm}
        for name, arm in arms.items()
        for place, ppm in overloaded(arm).items()
    ]


def _slow_engine(arms: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """An arm whose prefills alone take longer than the trace: it needs more engines than this one."""
    return [
        {"code": "engine_slower_than_the_trace", "arm": name, "ppm": arm["engine_busy_ppm"]}
        for name, arm in arms.items()
        if arm["engine_busy_ppm"] > PPM
    ]


def _without_duration(comparison: Comparison) -> list[dict[str, Any]]:
    """Everything arrives at one instant: no bandwidth can be judged."""
    return [] if comparison.workload.duration_us else [{"code": "trace_has_no_duration"}]


def _unknown_reuse(comparison: Comparison) -> list[dict[str, Any]]:
    """Requests that no block names: their reuse is unknown, not zero."""
    trace = comparison.workload.trace
    silent = [
        request
        for request in range(trace.requests)
        if trace.unidentified_tokens[request] and trace.path_start[request] == trace.path_start[request + 1]
    ]
    if not silent:
        return []
    tokens = sum(trace.unidentified_tokens[request] for request in silent)
    return [{"code": "reuse_unknown", "requests": len(silent), "tokens": tokens}]


def _unknown_identity(comparison: Comparison) -> list[dict[str, Any]]:
    """Requests that do not say whose KV theirs is: they may share what no engine would let them share."""
    trace = comparison.isolated.source
    stated = sum(trace.identities[index] != NOT_STATED for index in trace.identity)
    if stated == trace.requests:
        return []
    return [{"code": "identity_unknown", "requests": trace.requests - stated, "of": trace.requests}]


def _mixed_identities(comparison: Comparison) -> list[dict[str, Any]]:
    """Axes in which requests that share blocks differ: hits across them are wrong, or leak."""
    mixed = mixed_axes(comparison.isolated.source, comparison.options.isolation)
    return [{"code": "identities_are_mixed", "axes": list(mixed)}] if mixed else []


def _unbounded(arms: dict[str, dict[str, Any]], comparison: Comparison) -> list[dict[str, Any]]:
    """Tiers without bound that an arm relies on: somebody has to provide that much."""
    return [
        {"code": "unbounded_tier_is_used", "arm": name, "where": LADDER[tier], "peak_bytes": peak}
        for name, arm in arms.items()
        if name != CEILING
        for tier, profile in sorted(comparison.engine.profiles.items())
        if profile.capacity_bytes == 0 and (peak := arm["occupancy_bytes"].get(LADDER[tier], {"peak": 0})["peak"])
    ]


def _large_hbm(comparison: Comparison) -> list[dict[str, Any]]:
    """More HBM than the accelerators have."""
    most = comparison.engine.accelerator_bytes
    given = comparison.engine.profiles[HBM].capacity_bytes
    if not most or 0 < given <= most:
        return []
    return [{"code": "hbm_larger_than_the_accelerators", "capacity_bytes": given, "memory_bytes": most}]
