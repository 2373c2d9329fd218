"""The tables of a fleet: how evenly it is used, what each replica served and from where, and what pools spare."""

from __future__ import annotations

from typing import Any

from harness.render.tables import Table
from harness.units import percent, size


def fleet_tables(report: dict[str, Any]) -> list[Table]:
    """Nothing where a report is of one engine."""
    if "fleet" not in report:
        return []
    fleet = report["fleet"]
    return [_arms(fleet), _replicas(report, fleet), _pools(fleet)]


def _arms(fleet: dict[str, Any]) -> Table:
    rows = [
        [
            name,
            f"{arm['prefill_tokens']:,}",
            percent(fleet["input_imbalance_ppm"]),
            percent(arm["prefill_imbalance_ppm"]),
            size(arm["resident_bytes"]["mean"]),
            size(arm["resident_bytes"]["end"]),
            size(arm["deduplicated_bytes"]["mean"]),
            size(arm["deduplicated_bytes"]["end"]),
        ]
        for name, arm in fleet["arms"].items()
    ]
    columns = ["arm", "prefill tokens", "most input of mean", "most prefill of mean"]
    held = ["resident mean", "resident end", "deduplicated mean", "deduplicated end"]
    return Table(f"The fleet: {fleet['replicas']} replicas, {fleet['router']}", [*columns, *held], rows)


def _replicas(report: dict[str, Any], fleet: dict[str, Any]) -> Table:
    tiers = list(report["machine"]["tiers"])
    rows = []
    for name, arm in fleet["arms"].items():
        for index, replica in enumerate(arm["replicas"]):
            traffic = [f"{fleet['requests'][index]:,}", f"{fleet['input_tokens'][index]:,}"]
            hits = [f"{replica['hit'][tier]:,}" if tier in replica["hit"] else "-" for tier in tiers]
            work = [f"{replica['prefill_tokens']:,}", percent(replica["engine_busy_ppm"])]
            rows.append([name, str(index), *traffic, *hits, *work])
    columns = ["arm", "replica", "requests", "input", *tiers, "prefill tokens", "engine busy"]
    return Table("Replicas: hit tokens by tier", columns, rows)


def _pools(fleet: dict[str, Any]) -> Table:
    rows = []
    for name, arm in fleet["arms"].items():
        for pool in arm["pools"]:
            members = f"{pool['replicas'][0]}-{pool['replicas'][-1]}"
            how = "in place" if pool["zero_copy"] else "as a copy"
            held = [size(pool["held_bytes"][when]) for when in ("peak", "mean", "end")]
            spared = [size(pool["deduplicated_bytes"][when]) for when in ("peak", "mean", "end")]
            rows.append([name, pool["tier"], members, how, *held, *spared])
    columns = ["arm", "tier", "replicas", "used", "peak", "mean", "end"]
    return Table("Pools", [*columns, "deduplicated peak", "mean", "end"], rows, left=4)
