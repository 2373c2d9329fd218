"""How much a measurement may take: time, memory and disk, said in the output beside what was measured."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from harness.probing.errors import ProbeError
from harness.units import parse_duration_us, parse_size, size

Clock = Callable[[], int]

DEFAULT_TIME = "1s"
DEFAULT_MEMORY = "512MiB"
DEFAULT_DISK = "256MiB"

_LEAST_US, _MOST_US = 1_000, 60 * 10**6
_LEAST_BYTES, _MOST_BYTES = 2**20, 2**40

# Steady, in nanoseconds; from no particular start.
steady_clock: Clock = time.perf_counter_ns


@dataclass(frozen=True, slots=True)
class Bounds:
    """The most that one measurement takes: nanoseconds, bytes of memory, bytes of the spill directory."""

    time_ns: int
    memory_bytes: int
    disk_bytes: int

    def words(self) -> str:
        """The bounds in words."""
        return (
            f"at most {self.time_ns // 10**6:,} ms each, {size(self.memory_bytes)} of memory,"
            f" {size(self.disk_bytes)} of the spill directory"
        )


def parse_bounds(time_text: str, memory_text: str, disk_text: str) -> Bounds:
    """The bounds that options give. Raises `SetupError` for what is not understood, `ProbeError` beyond limits."""
    time_us = parse_duration_us(time_text, "--measure-for")
    if not _LEAST_US <= time_us <= _MOST_US:
        raise ProbeError(f"--measure-for {time_text}: out of range; give 1ms to 60s")
    sizes = []
    for text, option in ((memory_text, "--measure-memory"), (disk_text, "--measure-disk")):
        size_bytes = parse_size(text, option)
        if not _LEAST_BYTES <= size_bytes <= _MOST_BYTES:
            raise ProbeError(f"{option} {text}: out of range; give 1MiB to 1TiB")
        sizes.append(size_bytes)
    return Bounds(time_us * 1000, *sizes)
