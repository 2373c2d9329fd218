"""The tables a person needs first, in order, as plain rows of text taken from a report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from harness.render.fleet import fleet_tables
from harness.render.footer import build_footer
from harness.render.isolation import level_rows, refusal_rows
from harness.render.tables import Table
from harness.units import counted, milliseconds, percent, seconds, size
from harness.verdict import ratio_ppm, waited_ns
from policy.policies.registry import CEILING

Report = dict[str, Any]

_VERDICTS = {
    "pays": "PAYS",
    "does_not_pay": "DOES NOT PAY",
    "too_close": "TOO CLOSE TO CALL",
    "does_not_fit": "DOES NOT FIT THE HARDWARE",
    "unknown": "CANNOT BE SAID",
}
_REASONS = {
    "saves_time": "what is loaded costs less than what need not be computed",
    "no_reuse": "nothing in this trace is ever used again",
    "reuse_unknown": "much of this trace carries no block ids, so its reuse is unknown",
    "baseline_keeps_everything": "the baseline loses nothing that is used again",
    "bandwidth_exceeded": "a tier or link would have to be busy for longer than the trace lasts",
    "loads_cost_more_than_they_save": "loads cost more than they save",
    "prompts_do_not_fit_hbm": "what is computed never fits into HBM",
    "nothing_saved": "it saves nothing over the baseline",
    "within_noise": "the difference is below 1 % of the baseline's time",
}
_LOSS = "loses_more_by_"


def _reason(code: str) -> str:
    if code.startswith(_LOSS):
        return f"it loses more than the baseline, most of it as `{code.removeprefix(_LOSS)}`"
    return _REASONS[code]


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
        _times(report),
        _hits(report),
        _causes(report),
        _refusals(report),
        _levels(report),
        _moves(report),
        _tiers(report),
        _links(report),
        *fleet_tables(report),
    ]
    if any(sum(arm["lifecycle"].values()) for arm in report["arms"].values()):
        tables.append(_lifecycle(report))
    return View(_headline(report), [table for table in tables if table.rows], build_footer(report))


def _headline(report: Report) -> list[str]:
    trace, machine, model = report["trace"], report["machine"], report["model"]
    lines = [
        f"{trace['name']}: {counted(trace['requests'], 'request')}, {trace['input_tokens']:,} input tokens,"
        f" {trace['span_ms'] // 1000:,} s",
        f"machine {machine['id']}, model {model['id'] or 'as given'}",
        *machine["derivation"],
        "",
    ]
    baseline = report["comparison"]["baseline"]
    if next(iter(report["arms"])) == baseline:
        lines.append(f"{baseline} is its own baseline: there is nothing to hold it against but the ceiling")
    for name, row in report["comparison"]["arms"].items():
        if name == CEILING:
            lines.append(
                f"The ceiling ({name}): at most {seconds(row['net_ns_saved'])} s = {percent(row['saved_ppm'])} of the"
                f" time of {baseline} can be saved"
            )
            continue
        lines += [
            f"{name} against {baseline}: {_VERDICTS[row['verdict']]}: {_reason(row['reason'])}",
            f"    {row['tokens_saved']:,} tokens and {seconds(row['prefill_ns_saved'])} s of prefill saved;"
            f" net {seconds(row['net_ns_saved'])} s = {percent(row['saved_ppm'])} of the time"
            + (f", {_of_possible(row)} of what is possible" if row["possible_ns"] else ""),
        ]
    return lines


def _of_possible(row: dict[str, Any]) -> str:
    """Where nothing is possible, a share of it says nothing."""
    return percent(row["of_possible_ppm"]) if row["possible_ns"] else "-"


def _saved(report: Report) -> Table:
    rows = []
    compared = report["comparison"]["arms"]
    for name, arm in report["arms"].items():
        row = compared.get(name)
        rows.append(
            [
                name,
                f"{sum(arm['tokens']['reprefilled'].values()):,}",
                f"{row['tokens_saved']:,}" if row else "-",
                seconds(row["net_ns_saved"]) if row else "-",
                percent(row["saved_ppm"]) if row else "-",
                _of_possible(row) if row else "-",
                milliseconds(arm["ttft_ns"]["p50"]),
                milliseconds(arm["ttft_ns"]["p99"]),
            ]
        )
    columns = ["arm", "re-prefilled", "tokens saved", "net s saved", "saved", "of possible"]
    return Table("What was saved", [*columns, "TTFT p50 ms", "p99 ms"], rows)


def _times(report: Report) -> Table:
    rows = []
    for name, arm in report["arms"].items():
        time = arm["time_ns"]
        parts = [seconds(time[part]) for part in ("prefill", "stage", "attend")]
        rows.append([name, *parts, seconds(waited_ns(arm)), seconds(time["offload"]), percent(arm["engine_busy_ppm"])])
    columns = ["arm", "prefill s", "stage s", "attend s", "requests wait s", "offload s", "engine busy"]
    return Table("Where the time goes", columns, rows)


def _tier_names(report: Report) -> list[str]:
    return list(report["machine"]["tiers"])


def _hits(report: Report) -> Table:
    tiers = _tier_names(report)
    rows = []
    for name, arm in report["arms"].items():
        tokens = arm["tokens"]
        hits = [f"{tokens['hit'][tier]:,}" if tier in tokens["hit"] else "-" for tier in tiers]
        share = percent(ratio_ppm(sum(tokens["hit"].values()), tokens["input"]))
        rows.append([name, share, *hits, f"{tokens['cold']:,}", f"{tokens['obligatory'] + tokens['unidentified']:,}"])
    return Table("Hit tokens by tier", ["arm", "hit", *tiers, "cold", "other"], rows)


def _causes(report: Report) -> Table:
    arms = report["arms"]
    causes = [
        cause
        for cause in next(iter(arms.values()))["tokens"]["reprefilled"]
        if any(arm["tokens"]["reprefilled"][cause] for arm in arms.values())
    ]
    rows = [[name, *(f"{arm['tokens']['reprefilled'][cause]:,}" for cause in causes)] for name, arm in arms.items()]
    return Table("Why tokens were re-prefilled", ["arm", *causes], rows if causes else [])


def _refusals(report: Report) -> Table:
    return Table("Cold tokens that isolation refused", *refusal_rows(report))


def _levels(report: Report) -> Table:
    return Table("What isolation costs", *level_rows(report))


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
    replicas = report["fleet"]["replicas"] if "fleet" in report else 1
    for name, arm in report["arms"].items():
        for tier, occupancy in arm["occupancy_bytes"].items():
            unbounded = machine[tier]["capacity_bytes"] == 0 or (arm["rules"]["hbm_unbounded"] and tier == "hbm")
            capacity = "unbounded" if unbounded else size(machine[tier]["capacity_bytes"] * replicas)
            held = [size(occupancy[key]) for key in ("peak", "mean", "end")]
            rows.append([name, tier, capacity, *held, _busy(arm["utilisation_ppm"], tier)])
    return Table("How full and how busy", ["arm", "tier", "capacity", "peak", "mean", "end", "busy"], rows, left=2)


def _links(report: Report) -> Table:
    links = report["machine"]["links"]
    rows = []
    for name, arm in report["arms"].items():
        for link in links if len(arm["occupancy_bytes"]) > 1 else []:
            place = f"{link['hotter']}-{link['colder']}"
            rates = [f"{link[way]:,}" if link[way] else "-" for way in ("down_mb_s", "up_mb_s", "both_mb_s")]
            rows.append([name, place, *rates, _busy(arm["link_utilisation_ppm"], place)])
    return Table("Links", ["arm", "link", "down MB/s", "up MB/s", "both MB/s", "busy"], rows, left=2)


def _busy(shares: dict[str, int], place: str) -> str:
    return percent(shares[place]) if place in shares else "-"


def _lifecycle(report: Report) -> Table:
    kinds = ("expiring", "revived", "expired")
    rows = [[name, *(f"{arm['lifecycle'][kind]:,}" for kind in kinds)] for name, arm in report["arms"].items()]
    return Table("Lifecycle", ["arm", *kinds], rows)
