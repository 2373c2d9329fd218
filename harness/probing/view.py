"""What a probe prints: the machine as read, the ladder it proves with the source of every figure, and what it drops."""

from __future__ import annotations

from rich.text import Text

from harness.catalog.figures import Figure
from harness.catalog.walk import figures_of
from harness.probing.entry import Entry
from harness.probing.ladder import Ladder
from harness.probing.measure import Measured
from harness.probing.readings import UNKNOWN, Readings
from harness.probing.topology import Topology
from harness.render.pinned import new_grid, printed
from harness.render.table import ascii_table
from harness.render.tables import Table
from harness.render.text import printable
from harness.units import size
from policy.tiers import TIER_NAMES

# Wide enough for words beside a path and a number; pinned, so the bytes do not depend on the terminal.
_WIDTH = 120


def probe_view(
    readings: Readings, topology: Topology, ladder: Ladder, measured: Measured, bounds: str, entry: Entry | None
) -> str:
    """Everything that a probe says, without a final newline. `bounds` is "" where nothing was measured."""
    parts = [_head(readings), ascii_table(_nodes(readings, topology)) if readings.nodes else ""]
    parts.append("\n".join(_measured_lines(measured, bounds)))
    parts.append(_figures(ladder, entry))
    dropped = [f"  {name}: {why}" for name, why in ladder.dropped.items()]
    dropped += [f"  node {index}: {why}" for index, why in topology.unproven]
    parts.append("\n".join(["not proven:", *map(printable, dropped)]))
    if readings.notes:
        parts.append("\n".join(["not readable:", *(f"  {printable(note)}" for note in readings.notes)]))
    return "\n\n".join(part for part in parts if part)


def _head(readings: Readings) -> str:
    lines = [f"host memory: {size(readings.total_bytes)}, {size(readings.available_bytes)} available"]
    if readings.limit_bytes and readings.limit_bytes < readings.total_bytes:
        lines.append(f"this process may use {size(readings.limit_bytes)} (its control group's limit)")
    for gpu in readings.gpus.proven:
        known = [size(gpu.memory_bytes)]
        known += [f"{gpu.memory_mb_s:,} MB/s of memory"] if gpu.memory_mb_s else []
        known += [f"{gpu.pcie_mb_s:,} MB/s of PCIe"] if gpu.pcie_mb_s else []
        known += ["a coherent link"] if gpu.coherent_link else []
        known += [f"near node {gpu.near_node}"] if gpu.near_node != UNKNOWN else []
        lines.append(printable(f"GPU: {gpu.name}, {', '.join(known)}"))
    if readings.gpus.proven and readings.gpus.why_not:
        lines.append(printable(f"GPUs left out: {readings.gpus.why_not}"))
    if readings.spill is not None:
        kind = f" ({readings.spill.kind})" if readings.spill.kind else ""
        lines.append(printable(f"spill directory{kind}: {size(readings.spill.free_bytes)} free"))
    return "\n".join(lines)


def _nodes(readings: Readings, topology: Topology) -> Table:
    tiers = {node.index: TIER_NAMES[tier] for tier, nodes in topology.nodes.items() for node in nodes}
    rows = [
        [
            str(node.index),
            tiers.get(node.index, "-"),
            "-" if node.socket == UNKNOWN else str(node.socket),
            " ".join(map(str, node.distances)) or "-",
            "-" if node.cpus is None else str(len(node.cpus)),
            size(node.total_bytes),
            size(node.free_bytes),
        ]
        for node in readings.nodes
    ]
    return Table("", ["node", "tier", "socket", "distances", "CPUs", "memory", "free"], rows, left=4)


def _measured_lines(measured: Measured, bounds: str) -> list[str]:
    if not bounds:
        return ["nothing was measured: give --measure"]
    lines = [f"measured, {bounds}:"]
    lines += [f"  {line}" for line in measured.lines]
    for tier in sorted(measured.bandwidth.keys() | measured.missing.keys()):
        if tier in measured.missing:
            lines.append(f"  {TIER_NAMES[tier]}: not measured: {measured.missing[tier]}")
            continue
        latency = f", {measured.latency[tier].value:,} ns" if tier in measured.latency else ""
        lines.append(f"  {TIER_NAMES[tier]}: {measured.bandwidth[tier].value:,} MB/s{latency}")
    return [printable(line) for line in lines]


def _figures(ladder: Ladder, entry: Entry | None) -> str:
    """The figures of the ladder, and of its links where there is a machine to have them."""
    rows: list[tuple[str, Figure]] = []
    for name, tier in ladder.tiers.items():
        rows += figures_of(tier, name)
    if entry is not None:
        rows += [row for row in figures_of(entry.machine) if row[0].startswith("links.")]
    if not rows:
        return "no tier is proven"
    grid = new_grid()
    grid.add_column(Text("figure"), no_wrap=True)
    grid.add_column(Text("value"), justify="right", no_wrap=True)
    grid.add_column(Text("kind"), no_wrap=True)
    grid.add_column(Text("source and note"), overflow="fold")
    for path, figure in rows:
        words = figure.source + (f" -- {figure.note}" if figure.note else "")
        grid.add_row(*(Text(printable(cell)) for cell in (path, f"{figure.value:,}", figure.kind, words)))
    notes = [f"  {name}: {tier.note}" for name, tier in ladder.tiers.items() if tier.note]
    table = printed(grid, _WIDTH)
    return "\n".join(["the ladder that is proven, hot to cold:", "", table, *map(printable, notes)])
