"""Copies are what a clock and the bytes give, on memory that lies where it was meant to; or they are not said."""

from __future__ import annotations

import os
import signal
import threading
from pathlib import Path

import pytest
from probing_hands import MIB, MS, Counted, hands, no_more_than_threads
from sysfs_trees import put

from harness.probing.bounds import steady_clock
from harness.probing.errors import NotMeasuredError
from harness.probing.memory_speed import Hands, Reader, copy_mb_s
from harness.probing.placement import allowed_cpus, bind, bytes_by_node
from harness.probing.tree import Tree


@pytest.mark.parametrize("readers", [1, 2, 4])
def test_a_copied_byte_is_counted_twice_and_threads_add_up(readers: int) -> None:
    """Ten copies of half the buffers in ten milliseconds, read and written."""
    half_bytes = 4 * MIB // (2 * readers)
    each = 2 * 10 * half_bytes * 1000 // (10 * MS)

    found = copy_mb_s([Reader(cpu, 0, cpu) for cpu in range(readers)], 4 * MIB, 10 * MS, hands())

    assert found == readers * each


def test_memory_is_really_copied() -> None:
    cpu = min(allowed_cpus())

    assert copy_mb_s([Reader(cpu, 0, cpu)], 2 * MIB, 2 * MS, Hands(steady_clock, bind=lambda *_: False)) > 0


def test_the_affinity_of_the_caller_is_left_alone() -> None:
    before = os.sched_getaffinity(0)

    copy_mb_s([Reader(min(before), 0, min(before))], 2 * MIB, MS, Hands(steady_clock, bind=lambda *_: False))

    assert os.sched_getaffinity(0) == before


def test_memory_that_cannot_be_put_on_a_node_is_not_measured() -> None:
    """The kernel refuses to bind, and a node without CPUs cannot be touched first."""
    with pytest.raises(NotMeasuredError) as caught:
        copy_mb_s([Reader(0, 1, None), Reader(1, 1, None)], 4 * MIB, 10 * MS, hands(bind=lambda *_: False))
    assert str(caught.value) == (
        "memory cannot be put on node 1: the kernel refuses to bind it,"
        " and no CPU of that node may be used to touch it first"
    )


def test_first_touch_is_from_a_cpu_of_the_node_and_copying_from_its_own() -> None:
    pinned: list[int] = []

    def pin(cpu: int) -> bool:
        pinned.append(cpu)
        return True

    copy_mb_s([Reader(cpu=0, node=1, touch_cpu=7)], 4 * MIB, 10 * MS, hands(pin=pin, bind=lambda *_: False))

    assert pinned == [7, 7, 0]


def test_a_thread_that_may_not_be_kept_on_a_cpu_measures_nothing() -> None:
    with pytest.raises(NotMeasuredError, match=r"^a thread may not be kept on CPU 3$"):
        copy_mb_s([Reader(3, 0, 3)], 4 * MIB, 10 * MS, hands(pin=lambda _: False))


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ({0: 4 * MIB}, "only 0 B of 4.19 MB came to lie on node 1"),
        ({0: 2 * MIB, 1: 2 * MIB}, "only 2.10 MB of 4.19 MB came to lie on node 1"),
        (None, "the kernel does not tell on which node memory lies (proc/self/numa_maps)"),
    ],
)
def test_memory_that_lies_elsewhere_is_not_measured(tmp_path: Path, after: dict[int, int] | None, message: str) -> None:
    with pytest.raises(NotMeasuredError) as caught:
        copy_mb_s([Reader(0, 1, 1)], 4 * MIB, 10 * MS, hands(bytes_by_node=Counted(after)), Tree(tmp_path))
    assert str(caught.value) == message


def test_memory_that_lies_where_it_was_meant_is_measured(tmp_path: Path) -> None:
    found = copy_mb_s([Reader(0, 1, 1)], 4 * MIB, 10 * MS, hands(bytes_by_node=Counted({1: 4 * MIB})), Tree(tmp_path))

    assert found == 4194


def test_a_failure_of_one_thread_is_the_reason_and_stops_the_others() -> None:
    def fails(*_: int) -> bool:
        raise MemoryError("no more")

    before = threading.active_count()
    with pytest.raises(NotMeasuredError, match=r"^a thread failed \(MemoryError: no more\)$"):
        copy_mb_s([Reader(cpu, 0, cpu) for cpu in range(3)], 4 * MIB, 10 * MS, hands(bind=fails))
    no_more_than_threads(before)


def test_an_interrupt_stops_every_thread() -> None:
    """The clock's first reading interrupts the main thread as Ctrl-C does; by that clock the time is never over."""
    main = threading.main_thread().ident
    assert main is not None
    before = threading.active_count()
    sent: list[int] = []

    def interrupting() -> int:
        if not sent:
            sent.append(signal.SIGINT)
            signal.pthread_kill(main, signal.SIGINT)
        return 0

    with pytest.raises(KeyboardInterrupt):
        copy_mb_s([Reader(0, 0, 0)], 4 * MIB, 10 * MS, hands(clock=interrupting))
    no_more_than_threads(before)


def test_an_interrupt_while_a_thread_is_being_started_stops_it_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It runs already, though its start never came back."""
    real = threading.Thread.start

    def start(self: threading.Thread) -> None:
        real(self)
        raise KeyboardInterrupt

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(KeyboardInterrupt):
        copy_mb_s([Reader(0, 0, 0)], 4 * MIB, 10 * MS, hands(clock=lambda: 0))
    no_more_than_threads(before)


def test_a_thread_that_cannot_be_started_stops_those_that_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    real, started = threading.Thread.start, []

    def start(self: threading.Thread) -> None:
        if len(started) == 2:
            raise RuntimeError("can't start new thread")
        started.append(self)
        real(self)

    before = threading.active_count()
    monkeypatch.setattr(threading.Thread, "start", start)

    with pytest.raises(NotMeasuredError, match=r"^threads cannot be started \(can't start new thread\)$"):
        copy_mb_s([Reader(cpu, 0, cpu) for cpu in range(3)], 4 * MIB, 10 * MS, hands())
    no_more_than_threads(before)


def test_pages_are_counted_by_node(tmp_path: Path) -> None:
    lines = [
        "7f0000000000 default anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=4",
        "7f0000200000 bind:1 huge anon=1 N1=1 kernelpagesize_kB=2048",
        "7ffc00000000 default file=/lib/N0=5.so",
    ]
    put(tmp_path, "proc/self/numa_maps", "\n".join(lines))

    assert bytes_by_node(Tree(tmp_path)) == {0: 4096, 1: 8192 + 2 * MIB}
    assert bytes_by_node(Tree(tmp_path / "absent")) is None


def test_memory_is_not_bound_to_a_node_that_cannot_be() -> None:
    assert not bind(0, 4096, -1)
    assert not bind(0, 4096, 5000)
