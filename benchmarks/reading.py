"""How long reading a trace takes beside a plain orjson pass over the same bytes, and how much memory it needs.

The Mooncake conversation trace where it is at hand (else a trace of this project), and a generated native trace. Each
run is a process of its own that does the pass once to warm up and then measures one: imports are not what is compared.
"""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import orjson
from big_trace import write
from main_job import OWN, REAL

from harness.readers import read_trace


def plain(path: Path) -> None:
    """Parse every line and keep nothing."""
    with path.open("rb") as file:
        for line in file:
            orjson.loads(line)


def ours(path: Path) -> None:
    """Read the trace."""
    read_trace(path)


PASSES: dict[str, Callable[[Path], None]] = {"plain orjson pass": plain, "fakbench reads": ours}


def measure(name: str, path: Path) -> None:
    """Print the seconds of one pass of this process, and its peak memory in KiB."""
    # As the command line does.
    gc.disable()
    PASSES[name](path)
    start = time.perf_counter()
    PASSES[name](path)
    print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def compare(path: Path, title: str, rounds: int) -> None:
    """Both passes in turn, each time in processes of their own; medians, and the median of the rounds' ratios."""
    figures: dict[str, list[tuple[float, int]]] = {name: [] for name in PASSES}
    for _ in range(rounds):
        for name in PASSES:
            command = [sys.executable, __file__, "--measure", name, str(path)]
            seconds, memory = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.split()
            figures[name].append((float(seconds), int(memory)))
    base = [seconds for seconds, _ in figures["plain orjson pass"]]
    print(f"{title}: {path.stat().st_size:,} bytes")
    for name, runs in figures.items():
        ratio = statistics.median(seconds / other for (seconds, _), other in zip(runs, base, strict=True))
        median = statistics.median(seconds for seconds, _ in runs)
        peak = max(memory for _, memory in runs) // 1024
        print(f"  {name:<20} median {median:8.3f} s   {ratio:6.2f} x plain   peak {peak:5} MiB")


def main() -> None:
    """Compare, or be one of the processes that are compared."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--references", type=int, default=10_000_000)
    parser.add_argument("--measure", nargs=2, metavar=("PASS", "TRACE"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure[0], Path(arguments.measure[1]))
        return
    real = REAL if REAL.is_file() else OWN
    compare(real, real.stem, arguments.rounds)
    with tempfile.TemporaryDirectory() as folder:
        big = Path(folder) / "big.jsonl"
        write(big, arguments.references)
        compare(big, f"generated, {arguments.references:,} references", arguments.rounds)


if __name__ == "__main__":
    main()
