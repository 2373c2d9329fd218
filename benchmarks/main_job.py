"""The main job as a command: the Mooncake conversation trace where it is at hand, else a trace of this project."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT.parent / "shared" / "traces" / "mooncake" / "conversation_trace.jsonl"
OWN = ROOT / "traces" / "multi-turn-chat.jsonl"


def arguments(description: str | None, rounds: int) -> argparse.Namespace:
    """`trace` and `rounds` from this process's command line."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("trace", type=Path, nargs="?", default=REAL if REAL.is_file() else OWN)
    parser.add_argument("--rounds", type=int, default=rounds)
    return parser.parse_args()


def replay_command(trace: Path) -> list[str]:
    """`fakbench replay` of `trace` on the reference ladder at the sizes of the README's result."""
    command = [str(Path(sys.executable).parent / "fakbench"), "replay", str(trace), "--now", "0"]
    command += ["--machine", "reference", "--kv-bytes-per-token", "327680", "--prefill-ns-per-token", "250000"]
    for size in ("hbm=400GB", "dram=2TB", "cxl=2TB", "disk=8TB"):
        command += ["--capacity", size]
    return [*command, "--drop-tier", "numa_far", "--drop-tier", "remote"]
