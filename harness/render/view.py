"""The tables a person needs first, in order, as plain rows of text taken from a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.units import milliseconds, percent, seconds, size
from harness.verdict import computed_tokens, waited_ns

Report = dict[str, Any]

_VERDICTS = {
    "pays": "PAYS",
    "does_not_pay": "DOES NOT PAY",
    "too_close": "TOO CLOSE TO CALL",
    "does_not_fit": "DOES NOT FIT THE HARDWARE",
}
_REASONS = {
    "saves_time": "what is loaded costs less than what need not be computed",
    "no_reuse": "nothing in this trace is ever used again",
    "baseline_keeps_everything": "the baseline loses nothing that is used again",
    "bandwidth_exceeded": "a tier or link would have to be busy for longer than the trace lasts",
    "loads_cost_more_than_they_save": "loads cost more than they save",
    "nothing_saved": "it saves nothing over the baseline",
    "within_noise": "the difference is below 1 % of the baseline's time",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A titled table. The first `left` columns are words, the others numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    left: int = 1


@dataclass(frozen=True, slots=True)
class View:
    """What is said before the tables, the tables, and what is said after them."""

    before: list[str]
    tables: list[Table]
    after: list[str]


def build_view(report: Report) -> View:
    """Everything a person reads of a report."""
    tables = [
        _saved(report),
        _hits(report),
        _causes(report),
        _moves(report),
        _tiers(report),
    ]
    if any(sum(arm["lifecycle"].values()) for arm in report["arms"].values()):
        tables.append(_lifecycle(report))
    return View(_headline(report), [table for table in tables if table.rows], _footer(report))


def _headline(report: Report) -> list[str]:
    trace, machine, model = report["trace"], report["machine"], report["model"]
    lines = [
        f"{trace['name']}: {trace['requests']:,} requests, {trace['input_tokens']:,} input tokens,"
        f" {trace['span_ms'] // 1000:,} s; machine {machine['id']}, model {model['id'] or 'as given'},"
        f" {model['kv_bytes_per_token']:,} KV bytes a token"
    ]
    baseline = report["comparison"]["baseline"]
    for name, row in report["comparison"]["arms"].items():
        if name == "infinite":
            continue
        lines.append(
            f"{name} against {baseline}: {_VERDICTS[row['verdict']]}, {_REASONS[row['reason']]};"
            f" {row['tokens_saved']:,} tokens and {seconds(row['prefill_ns_saved'])} s of prefill saved,"
            f" net {seconds(row['net_ns_saved'])} s = {percent(row['saved_ppm'])} of the time,"
            f" {percent(row['of_possible_ppm'])} of what is possible"
        )
    return lines


def _saved(report: Report) -> Table:
    rows = []
    compared = report["comparison"]["arms"]
    for name, arm in report["arms"].items():
        time = arm["time_ns"]
        reprefilled = sum(arm["tokens"]["reprefilled"].values())
        row = compared.get(name)
        rows.append(
            [
                name,
                f"{computed_tokens(arm):,}",
                f"{reprefilled:,}",
                seconds(time["prefill"]),
                seconds(time["stage"]),
                seconds(time["attend"]),
                seconds(waited_ns(arm)),
                f"{row['tokens_saved']:,}" if row else "-",
                seconds(row["net_ns_saved"]) if row else "-",
                milliseconds(arm["ttft_ns"]["p50"]),
                milliseconds(arm["ttft_ns"]["p99"]),
            ]
        )
    columns = ["arm", "computed", "re-prefilled", "prefill s", "stage s", "attend s", "total s"]
    columns += ["tokens saved", "net s saved", "TTFT p50 ms", "p99 ms"]
    return Table("What was saved", columns, rows)


def _tier_names(report: Report) -> list[str]:
    return list(report["machine"]["tiers"])


def _hits(report: Report) -> Table:
    tiers = _tier_names(report)
    rows = []
    for name, arm in report["arms"].items():
        tokens = arm["tokens"]
        hits = [f"{tokens['hit'][tier]:,}" if tier in tokens["hit"] else "-" for tier in tiers]
        rows.append([name, *hits, *(f"{tokens[kind]:,}" for kind in ("cold", "obligatory", "unidentified"))])
    return Table("Hit tokens by tier", ["arm", *tiers, "cold", "obligatory", "unidentified"], rows)


def _causes(report: Report) -> Table:
    arms = report["arms"]
    causes = [
        cause
        for cause in next(iter(arms.values()))["tokens"]["reprefilled"]
        if any(arm["tokens"]["reprefilled"][cause] for arm in arms.values())
    ]
    rows = [[name, *(f"{arm['tokens']['reprefilled'][cause]:,}" for cause in causes)] for name, arm in arms.items()]
    return Table("Why tokens were re-prefilled", ["arm", *causes], rows if causes else [])


def _moves(report: Report) -> Table:
    rows = []
    for name, arm in report["arms"].items():
        for move in arm["moves"]:
            if move["action"] == "fill":
                continue
            words = [name, move["action"], move["directive"] or "-", move["from"], move["to"], move["outcome"]]
            rows.append([*words, f"{move['count']:,}", f"{move['tokens']:,}", size(move["bytes"])])
    columns = ["arm", "action", "directive", "from", "to", "outcome", "spans", "tokens", "bytes"]
    return Table("What moved", columns, rows, left=6)


def _tiers(report: Report) -> Table:
    rows = []
    machine = report["machine"]["tiers"]
    for name, arm in report["arms"].items():
        for tier, occupancy in arm["occupancy_bytes"].items():
            unbounded = machine[tier]["capacity_bytes"] == 0 or (arm["rules"]["hbm_unbounded"] and tier == "hbm")
            capacity = "unbounded" if unbounded else size(machine[tier]["capacity_bytes"])
            busy = arm["utilisation_ppm"].get(tier)
            rows.append(
                [
                    name,
                    tier,
                    capacity,
                    *(size(occupancy[key]) for key in ("peak", "mean", "end")),
                    "-" if busy is None else percent(busy),
                ]
            )
    return Table("How full and how busy", ["arm", "tier", "capacity", "peak", "mean", "end", "busy"], rows, left=2)


def _lifecycle(report: Report) -> Table:
    kinds = ("expiring", "revived", "expired")
    rows = [[name, *(f"{arm['lifecycle'][kind]:,}" for kind in kinds)] for name, arm in report["arms"].items()]
    return Table("Lifecycle", ["arm", *kinds], rows)


def _footer(report: Report) -> list[str]:
    lines = []
    for warning in report["warnings"]:
        if warning["code"] == "reuse_unknown":
            lines.append(
                f"warning: {warning['requests']:,} requests carry no block ids: their reuse is unknown,"
                " and counted as none"
            )
        else:
            lines.append(
                f"warning: {warning['arm']}: {warning['where']} would be busy for {percent(warning['ppm'])}"
                " of the trace: this plan does not fit the hardware"
            )
    for notice, count in report["trace"]["notices"].items():
        lines.append(f"trace: {notice.replace('_', ' ')}: {count:,}")
    checks = report["audit"]["checks"]
    failed = [f"{check['name']} ({check['detail']})" for check in checks if not check["ok"]]
    if failed:
        lines.append(f"audit: FAILED: {'; '.join(failed)}")
    else:
        lines.append(f"audit: balanced ({', '.join(check['name'] for check in checks)})")
    return lines
