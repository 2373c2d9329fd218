"""Whole-process timings, in turn, so that a machine whose speed drifts does so for everybody alike."""

from __future__ import annotations

import statistics
import subprocess
import time


def run_once(command: list[str]) -> float:
    """Wall seconds of one run of `command`, its output thrown away. Raises where it fails."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def in_turn(commands: dict[str, list[str]], rounds: int) -> dict[str, list[float]]:
    """Run every command once to warm up, then `rounds` times in turn. Seconds by name, in order of the rounds."""
    for command in commands.values():
        run_once(command)
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            seconds[name].append(run_once(command))
    return seconds


def print_ratios(seconds: dict[str, list[float]], floor: str) -> None:
    """Median seconds of each, and the median over rounds of its ratio to `floor`."""
    for name, runs in seconds.items():
        ratios = [run / base for run, base in zip(runs, seconds[floor], strict=True)]
        print(f"{name:<44} median {statistics.median(runs):8.3f} s   {statistics.median(ratios):8.2f} x {floor}")
