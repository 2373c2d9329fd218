"""What is said under the tables: warnings in words, what was noticed in the trace, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.units import counted, percent, size

Said = dict[str, Any]

_WARNINGS: dict[str, Callable[[Said], str]] = {
    "plan_does_not_fit_the_hardware": lambda w: (
        f"{w['arm']}: {w['where']} would be busy for {percent(w['ppm'])} of the trace: this plan does not fit the"
        " hardware"
    ),
    "engine_slower_than_the_trace": lambda w: (
        f"{w['arm']}: prefill alone needs {percent(w['ppm'])} of the trace's time: more than one such engine, and times"
        " to first token are without the queue that this means"
    ),
    "trace_has_no_duration": lambda _: "everything arrives at one instant: no bandwidth can be judged",
    "reuse_unknown": lambda w: (
        f"{counted(w['requests'], 'request')} with {w['tokens']:,} tokens carry no block ids: their reuse is unknown,"
        " and counted as none"
    ),
    "identity_unknown": lambda w: _unknown_identity(w["requests"], w["of"]),
    "identities_are_mixed": lambda w: (
        f"requests that share blocks differ in {' and '.join(w['axes'])}, which --isolation leaves out: hits across"
        " them are counted, but would be wrong, or leak"
    ),
    "unbounded_tier_is_used": lambda w: (
        f"{w['arm']}: {w['where']} is taken to be unbounded and holds {size(w['peak_bytes'])}: give its size with"
        f" --capacity {w['where']}=SIZE, or do without it with --drop-tier {w['where']}"
    ),
    "hbm_larger_than_the_accelerators": lambda w: (
        f"HBM for KV is {size(w['capacity_bytes']) if w['capacity_bytes'] else 'unbounded'}, more than the"
        f" {size(w['memory_bytes'])} that the engine's accelerators have"
    ),
}


def _unknown_identity(requests: int, of: int) -> str:
    axes = "(model, tokenizer, adapter, salt, tenant)"
    if requests == of:
        return f"this trace states no identity {axes}: its reuse is an upper bound"
    return f"{requests:,} of {counted(of, 'request')} state no identity {axes}: reuse among them is an upper bound"


def build_footer(report: dict[str, Any]) -> list[str]:
    """The lines under the tables of a report."""
    lines = [f"warning: {_WARNINGS[warning['code']](warning)}" for warning in report["warnings"]]
    lines += [f"trace: {notice.replace('_', ' ')}: {count:,}" for notice, count in report["trace"]["notices"].items()]
    checks = report["audit"]["checks"]
    failed = [f"{check['name']} ({check['detail']})" for check in checks if not check["ok"]]
    if failed:
        lines.append(f"audit: FAILED: {'; '.join(failed)}")
    else:
        lines.append(f"audit: balanced ({', '.join(check['name'] for check in checks)})")
    return lines
