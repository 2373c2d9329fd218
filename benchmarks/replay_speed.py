"""The main job as a whole process, reading included, against a bare orjson pass over the same file (the floor).

    .venv/bin/python benchmarks/replay_speed.py [TRACE] [--rounds N]

TRACE is the Mooncake conversation trace where it is at hand, else a trace of this project.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from timing import in_turn, print_ratios

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT.parent / "shared" / "traces" / "mooncake" / "conversation_trace.jsonl"
OWN = ROOT / "traces" / "multi-turn-chat.jsonl"

FLOOR = "orjson pass"
_PARSE = "import orjson, sys\nfor line in open(sys.argv[1], 'rb'): orjson.loads(line)"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path, nargs="?", default=REAL if REAL.is_file() else OWN)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    replay = [str(Path(sys.executable).parent / "fakbench"), "replay", str(arguments.trace), "--now", "0"]
    replay += ["--machine", "reference", "--capacity", "hbm=400GB", "--capacity", "dram=2TB", "--capacity", "cxl=2TB"]
    replay += ["--capacity", "disk=8TB", "--drop-tier", "numa_far", "--drop-tier", "remote"]
    replay += ["--kv-bytes-per-token", "327680", "--prefill-ns-per-token", "250000"]
    commands = {
        FLOOR: [sys.executable, "-c", _PARSE, str(arguments.trace)],
        "tiered, blind-lru, infinite": replay,
        "the same and tiered-reference": [*replay, "--against", "blind-lru", "--against", "tiered-reference"],
    }
    print(f"{arguments.trace.name}: whole processes, {arguments.rounds} rounds in turn")
    print_ratios(in_turn(commands, arguments.rounds), FLOOR)


if __name__ == "__main__":
    main()
