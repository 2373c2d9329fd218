"""The spill directory is read past the page cache where it can be, and left as it was found."""

from __future__ import annotations

import dataclasses
import errno
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from probing_hands import BOUNDS, MIB, MS, Ticking, hands, no_more_than_threads
from sysfs_trees import put, two_sockets

from harness.probing import disk_speed
from harness.probing.bounds import steady_clock
from harness.probing.disk_speed import measure_disk, use_direct
from harness.probing.errors import NotMeasuredError
from harness.probing.host import read_host
from harness.probing.measure import Measurer
from harness.probing.readings import Spill
from harness.probing.spill import read_spill
from harness.probing.topology import classify
from harness.probing.tree import Tree
from policy.tiers import DISK


@pytest.mark.parametrize(("direct", "rounds"), [(True, 10), (False, 1)])
def test_a_disk_is_read_by_eight_until_the_time_is_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, direct: bool, rounds: int
) -> None:
    """Without direct I/O each piece is read once: the second time it would come from memory."""
    real, large = os.preadv, []

    def counting(descriptor: int, buffers: list[Any], offset: int) -> int:
        if len(buffers[0]) > disk_speed.BLOCK_BYTES:
            large.append(offset)
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(disk_speed.os, "preadv", counting)

    speed = measure_disk(tmp_path, 16 * MIB, 10 * MS, Ticking(), lambda _: direct)

    assert sorted(large) == sorted([piece * 2 * MIB for piece in range(8)] * rounds)
    assert speed.mb_s == 8 * (2 * MIB * 1000 // MS)
    assert (speed.latency_ns, speed.reads) == (MS, 5)
    assert (speed.file_bytes, speed.direct) == (16 * MIB, direct)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_is_really_read(tmp_path: Path) -> None:
    speed = measure_disk(tmp_path, 8 * MIB, 60_000 * MS, _short(steady_clock), use_direct)

    assert speed.mb_s > 0
    assert speed.latency_ns > 0
    assert list(tmp_path.iterdir()) == []


def _short(clock: Callable[[], int]) -> Callable[[], int]:
    """A real clock on which a minute is over soon, however slow the disk: each reading adds 50 ms."""
    ahead = [0]

    def read() -> int:
        ahead[0] += 50 * MS
        return clock() + ahead[0]

    return read


def test_the_file_has_no_name_while_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a file system can make files without a name, and where the name has to be taken away."""
    seen: list[list[Path]] = []
    ticking = Ticking()

    def looking() -> int:
        seen.append(list(tmp_path.iterdir()))
        return ticking()

    measure_disk(tmp_path, 16 * MIB, 10 * MS, looking, lambda _: False)
    monkeypatch.setattr(tempfile, "_O_TMPFILE_WORKS", False)
    measure_disk(tmp_path, 16 * MIB, 10 * MS, looking, lambda _: False)

    assert len(seen) > 20
    assert not any(seen)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EACCES])
def test_a_disk_that_fails_is_not_measured_and_left_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def fail(*_: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(disk_speed.os, "preadv", fail)

    with pytest.raises(NotMeasuredError) as caught:
        measure_disk(tmp_path, 16 * MIB, 10 * MS, Ticking(), lambda _: False)

    assert str(caught.value) == f"the spill directory cannot be used ({os.strerror(number)})"
    assert list(tmp_path.iterdir()) == []


def test_a_reader_thread_that_fails_is_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.preadv

    def fail(descriptor: int, buffers: list[Any], offset: int) -> int:
        if len(buffers[0]) > disk_speed.BLOCK_BYTES:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return real(descriptor, buffers, offset)

    monkeypatch.setattr(disk_speed.os, "preadv", fail)

    before = threading.active_count()
    with pytest.raises(NotMeasuredError, match="cannot be used"):
        measure_disk(tmp_path, 16 * MIB, 10 * MS, Ticking(), lambda _: False)
    no_more_than_threads(before)


def test_direct_reads_that_are_refused_late_are_made_without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some file systems take the switch and answer every read with EINVAL."""
    real, refused = os.pwrite, [True]

    def refuse_once(descriptor: int, data: Any, offset: int) -> int:
        if refused.pop() if refused else False:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        return real(descriptor, data, offset)

    monkeypatch.setattr(disk_speed.os, "pwrite", refuse_once)

    speed = measure_disk(tmp_path, 16 * MIB, 10 * MS, Ticking(), lambda _: True)

    assert not speed.direct


def test_too_little_written_in_time_measures_nothing(tmp_path: Path) -> None:
    with pytest.raises(NotMeasuredError, match=r"^only 4.19 MB could be written within the bounds given$"):
        measure_disk(tmp_path, 16 * MIB, 2 * MS, Ticking(), lambda _: False)


def test_a_file_is_not_made_where_it_would_fill_the_disk(tmp_path: Path) -> None:
    root, spill = two_sockets(tmp_path / "tree"), tmp_path / "spill"
    tree = Tree(root)
    readings = dataclasses.replace(read_host(tree), spill=Spill(31 * MIB, "ext4"))

    measured = Measurer(tree, BOUNDS, hands(), frozenset(range(16))).measure(readings, classify(readings), spill)

    assert measured.missing == {DISK: "16.78 MB are more than half of what is free there"}


@pytest.mark.parametrize("kind", ["tmpfs", "ext4"])
def test_a_directory_in_memory_is_not_measured_as_a_disk(tmp_path: Path, kind: str) -> None:
    root = two_sockets(tmp_path / "tree")
    (tmp_path / "spill").mkdir()
    tree = Tree(root)
    readings = dataclasses.replace(read_host(tree), spill=Spill(2**40, kind))

    measured = Measurer(tree, BOUNDS, hands(), frozenset(range(16))).measure(
        readings, classify(readings), tmp_path / "spill"
    )

    assert (DISK in measured.bandwidth) == (kind == "ext4")
    if kind == "ext4":
        assert measured.latency[DISK].source.startswith("fakbench probe --measure: median of 5 single reads of 4 KiB")
        assert measured.latency[DISK].note.endswith("About a microsecond of it is the interpreter's.")


def test_the_mount_nearest_above_the_directory_tells_its_kind(tmp_path: Path) -> None:
    spill = tmp_path / "with space" / "kv"
    spill.mkdir(parents=True)
    escaped = str(spill.parent.resolve()).replace(" ", "\\040")
    lines = [
        "22 27 0:21 / / rw - ext4 /dev/sda1 rw",
        f"23 22 0:22 / {escaped} rw shared:1 - tmpfs tmpfs rw",
        f"24 23 0:23 / {escaped} rw - xfs /dev/sdb1 rw",
        f"25 22 0:24 / {escaped}/kv2 rw - nfs4 server:/x rw",
        "nonsense",
        "26 22 - x",
    ]
    put(tmp_path / "tree", "proc/self/mountinfo", "\n".join(lines))

    found = read_spill(spill, Tree(tmp_path / "tree"))

    assert found.kind == "xfs"
    assert found.free_bytes > 0
    assert read_spill(tmp_path, Tree(tmp_path / "tree")).kind == "ext4"
    assert read_spill(tmp_path, Tree(tmp_path)).kind == ""
