"""What counting cache events costs a replay: the same process with metrics written, and served too, and without.

    .venv/bin/python benchmarks/metrics_overhead.py [TRACE] [--rounds N]

TRACE is the Mooncake conversation trace where it is at hand, else a trace of this project. Serving takes the package
`prometheus_client` (the extra `metrics`).
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from timing import in_turn, print_ratios

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT.parent / "shared" / "traces" / "mooncake" / "conversation_trace.jsonl"
OWN = ROOT / "traces" / "multi-turn-chat.jsonl"

FLOOR = "without metrics"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path, nargs="?", default=REAL if REAL.is_file() else OWN)
    parser.add_argument("--rounds", type=int, default=7)
    arguments = parser.parse_args()
    replay = [str(Path(sys.executable).parent / "fakbench"), "replay", str(arguments.trace), "--now", "0"]
    replay += ["--machine", "reference", "--capacity", "hbm=400GB", "--capacity", "dram=2TB", "--capacity", "cxl=2TB"]
    replay += ["--capacity", "disk=8TB", "--drop-tier", "numa_far", "--drop-tier", "remote"]
    replay += ["--kv-bytes-per-token", "327680", "--prefill-ns-per-token", "250000"]
    commands = {
        FLOOR: replay,
        "--metrics": [*replay, "--metrics", os.devnull],
        "--metrics and --metrics-port": [*replay, "--metrics", os.devnull, "--metrics-port", "0"],
    }
    print(f"{arguments.trace.name}: whole processes, {arguments.rounds} rounds in turn")
    print_ratios(in_turn(commands, arguments.rounds), FLOOR)


if __name__ == "__main__":
    main()
