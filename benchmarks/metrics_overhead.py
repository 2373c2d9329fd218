"""What counting cache events costs a replay: the same process with metrics written, and served too, and without.

    .venv/bin/python benchmarks/metrics_overhead.py [TRACE] [--rounds N]

Serving takes the package `prometheus_client` (the extra `metrics`); without it that row is named as absent.
"""

from __future__ import annotations

import importlib.util
import os

from main_job import arguments, replay_command
from timing import in_turn, print_ratios

FLOOR = "without metrics"


def main() -> None:
    given = arguments(__doc__, 7)
    replay = replay_command(given.trace)
    commands = {FLOOR: replay, "--metrics": [*replay, "--metrics", os.devnull]}
    print(f"{given.trace.name}: whole processes, {given.rounds} rounds in turn")
    if importlib.util.find_spec("prometheus_client"):
        commands["--metrics and --metrics-port"] = [*replay, "--metrics", os.devnull, "--metrics-port", "0"]
    else:
        print("--metrics-port: absent, since prometheus_client is not installed")
    print_ratios(in_turn(commands, given.rounds), FLOOR)


if __name__ == "__main__":
    main()
