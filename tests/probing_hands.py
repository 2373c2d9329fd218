"""Hands for measurements under test: a clock that ticks, CPUs and memory that are never touched."""

from __future__ import annotations

import dataclasses
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness.probing.bounds import Bounds
from harness.probing.host import read_host
from harness.probing.measure import Measured, Measurer
from harness.probing.memory_speed import Hands
from harness.probing.topology import classify
from harness.probing.tree import Tree

MIB = 2**20
MS = 10**6
BOUNDS = Bounds(time_ns=10 * MS, memory_bytes=4 * MIB, disk_bytes=16 * MIB)


class Ticking(threading.local):
    """A clock that moves on by a millisecond whenever it is read, in each thread on its own."""

    now_ns = 0

    def __call__(self) -> int:
        self.now_ns += MS
        return self.now_ns


class Counted:
    """The kernel's count of pages: nothing before, then what it is told."""

    def __init__(self, after: dict[int, int] | None) -> None:
        self._answers: list[dict[int, int] | None] = [{}, after]

    def __call__(self, _: Tree) -> dict[int, int] | None:
        answer = self._answers[0]
        self._answers.reverse()
        return answer


def no_more_than_threads(threads: int) -> None:
    """The threads have said that they are done; the last steps of each are the interpreter's."""
    for _ in range(1000):
        if threading.active_count() <= threads:
            return
        time.sleep(0.01)
    pytest.fail(f"{threading.active_count()} threads are left of {threads}")


def hands(**changed: Any) -> Hands:
    """Hands that may do everything and touch no CPU."""
    plain = Hands(Ticking(), pin=lambda _: True, bind=lambda *_: True, bytes_by_node=Counted({0: 2**40, 1: 2**40}))
    return dataclasses.replace(plain, **changed)


def measured_on(
    root: Path, given: Hands, bounds: Bounds = BOUNDS, cpus: frozenset[int] = frozenset(range(64))
) -> Measured:
    tree = Tree(root)
    readings = read_host(tree)
    return Measurer(tree, bounds, given, cpus).measure(readings, classify(readings), None)
