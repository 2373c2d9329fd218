"""`fakbench probe`: what this machine is, what of it is proven, and an entry for the catalog."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from harness.commands.saying import say


def probe(
    spill: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where KV would be spilled to; without it no disk is proven.")
    ] = None,
    measure: Annotated[
        bool, typer.Option("--measure", help="Measure bandwidths, and the latency of the spill directory.")
    ] = False,
    measure_for: Annotated[
        str, typer.Option(metavar="DURATION", help="The longest that one measurement takes: 1ms to 60s.")
    ] = "1s",
    measure_memory: Annotated[
        str, typer.Option(metavar="SIZE", help="Memory that is copied in; at least four times the CPU caches.")
    ] = "512MiB",
    measure_disk: Annotated[
        str, typer.Option(metavar="SIZE", help="The largest file that is written into the spill directory, unnamed.")
    ] = "256MiB",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a catalog with this one machine here.")
    ] = None,
    name: Annotated[str, typer.Option("--id", metavar="ID", help="The machine's id in that catalog.")] = "probed",
    title: Annotated[str, typer.Option(help="The machine's title in that catalog, instead of one made up.")] = "",
    hbm_bytes: Annotated[
        str | None, typer.Option(metavar="SIZE", help="Assume this much GPU memory in all, whatever NVML proves.")
    ] = None,
    hbm_mb_s: Annotated[
        int | None, typer.Option(metavar="MB/S", help="Assume this bandwidth of GPU memory in all.")
    ] = None,
    sysfs: Annotated[Path | None, typer.Option(hidden=True, help="Read /sys and /proc of this root.")] = None,
) -> int:
    """Read this machine and print the ladder that it proves: every figure with its kind and source.

    Host memory and NUMA nodes come from Linux, GPUs from NVML (pip install 'fakbench[probe]'), the disk from the
    directory named. Nothing is written but the files asked for. A tier that cannot be proven is dropped, and the
    reason said.
    """
    from harness.documents import write_whole
    from harness.errors import EXIT_OK
    from harness.probing.errors import ProbeError

    if not sys.platform.startswith("linux"):
        raise ProbeError("probe reads Linux's /sys and /proc, which this system has not; write the entry by hand")
    from harness.probing.bounds import parse_bounds
    from harness.probing.given import parse_given
    from harness.probing.gpus import load_nvml
    from harness.probing.probe import Asked, measurer_of, probe_machine, read_machine

    if sysfs is not None and measure:
        raise ProbeError("--measure measures this machine and --sysfs reads another; keep one of them")
    root = sysfs or Path("/")
    bounds = parse_bounds(measure_for, measure_memory, measure_disk) if measure else None
    asked = Asked(spill=spill, given=parse_given(hbm_bytes, hbm_mb_s), name=name, title=title, out=out)
    readings = read_machine(root, spill, load_nvml() if sysfs is None else None, here=sysfs is None)
    probed = probe_machine(readings, asked, measurer_of(root, bounds) if bounds is not None else None)
    if out is not None and probed.entry is not None:
        write_whole(out, probed.entry.data)
    say(probed.text)
    for warning in probed.entry.warnings if probed.entry is not None else ():
        say(f"warning: {warning}")
    if out is not None:
        say("written")
    return EXIT_OK
