"""Each tier is measured from home within the bounds, or the reason is said why not."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from probing_hands import BOUNDS, MIB, MS, Counted, hands, measured_on
from sysfs_trees import Box, expander, four_nodes, put, tree_of, two_sockets

from harness.probing.bounds import parse_bounds
from harness.probing.errors import ProbeError
from harness.probing.host import read_host
from harness.probing.measure import Measurer
from harness.probing.memory_speed import Reader
from harness.probing.topology import classify
from harness.probing.tree import Tree
from policy.tiers import CXL, DRAM, NUMA_FAR


def test_both_sockets_are_measured_from_home(tmp_path: Path) -> None:
    """Eight CPUs at home, each with 512 KiB: half of it copied ten times in ten milliseconds, counted twice."""
    measured = measured_on(two_sockets(tmp_path), hands())

    each = 2 * 10 * (4 * MIB // 16) * 1000 // (10 * MS)
    assert {tier: figure.value for tier, figure in measured.bandwidth.items()} == {DRAM: 8 * each, NUMA_FAR: 8 * each}
    assert (measured.missing, measured.lines) == ({}, [])
    assert measured.bandwidth[NUMA_FAR].source == (
        "fakbench probe --measure: copies inside node 1 by 8 threads on the home socket,"
        " 4.19 MB of buffers, 10 ms; read and written bytes counted, as STREAM does"
    )


def test_each_node_of_a_split_socket_is_measured_and_then_all_together(tmp_path: Path) -> None:
    measured = measured_on(four_nodes(tmp_path), hands(bytes_by_node=Counted(dict.fromkeys(range(4), 2**40))))

    each = 2 * 10 * (4 * MIB // 8) * 1000 // (10 * MS)
    assert measured.lines == [
        f"node {node} ({tier}), copied by 4 threads: {4 * each:,} MB/s"
        for node, tier in ((0, "dram"), (1, "dram"), (2, "numa_far"), (3, "numa_far"))
    ]
    assert measured.bandwidth[DRAM].value == 4 * each


def test_readers_use_their_own_node_where_it_is_one_of_the_tier(tmp_path: Path) -> None:
    tree = Tree(four_nodes(tmp_path))
    readings = read_host(tree)
    topology = classify(readings)
    measurer = Measurer(tree, BOUNDS, hands(), frozenset(range(8)))

    near, far = (measurer._readers(topology.nodes[tier], readings, topology) for tier in (DRAM, NUMA_FAR))

    assert near == [Reader(0, 0, 0), Reader(1, 0, 1), Reader(2, 1, 2), Reader(3, 1, 3)]
    assert far == [Reader(0, 2, 4), Reader(1, 3, 6), Reader(2, 2, 4), Reader(3, 3, 6)]


def test_an_expander_needs_the_kernel_to_bind(tmp_path: Path) -> None:
    measured = measured_on(expander(tmp_path), hands(bind=lambda _address, _bytes, node: node == 0))

    assert list(measured.bandwidth) == [DRAM]
    assert measured.missing[CXL].startswith("memory cannot be put on node 1: the kernel refuses to bind it")


def test_a_process_kept_off_the_home_socket_measures_nothing(tmp_path: Path) -> None:
    measured = measured_on(two_sockets(tmp_path), hands(), cpus=frozenset({4, 5}))

    reason = "this process may not run on the CPUs of the home socket"
    assert measured.missing == {DRAM: reason, NUMA_FAR: reason}


def test_buffers_that_the_caches_would_hold_measure_nothing(tmp_path: Path) -> None:
    """Two caches of 2 MiB, one of them shared by two CPUs: 16 MiB are four times both."""
    root = tree_of(tmp_path, Box("0-2", 0, 4, "10"))
    for cpu, shared in ((0, "0-1"), (1, "0-1"), (2, "2")):
        for index, level, size in ((0, 1, "32K"), (3, 3, "2M")):
            folder = f"sys/devices/system/cpu/cpu{cpu}/cache/index{index}"
            for name, text in (("level", str(level)), ("size", size), ("shared_cpu_list", shared)):
                put(root, f"{folder}/{name}", text)

    few = measured_on(root, hands(), dataclasses.replace(BOUNDS, memory_bytes=16 * MIB - 1))
    enough = measured_on(root, hands(), dataclasses.replace(BOUNDS, memory_bytes=16 * MIB))

    assert few.missing == {
        DRAM: "16.78 MB of buffers would be served by the CPU caches; give --measure-memory 16MiB or more"
    }
    assert enough.missing == {}


@pytest.mark.parametrize("limited", ["free", "limit"])
def test_buffers_may_not_fill_the_memory(tmp_path: Path, limited: str) -> None:
    root = tree_of(tmp_path, Box("0", 0, 4, "10"))
    if limited == "free":
        put(root, "proc/meminfo", f"MemTotal: {4 * 2**20} kB\nMemAvailable: 7168 kB\n")
    else:
        put(root, "proc/self/cgroup", "0::/")
        put(root, "sys/fs/cgroup/memory.max", str(14 * MIB))

    assert measured_on(root, hands()).missing == {
        DRAM: "4.19 MB of buffers are more than half of the 7.34 MB that are free"
    }


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("2h", "1GiB", "1GiB"), "--measure-for 2h: out of range; give 1ms to 60s"),
        (("0", "1GiB", "1GiB"), "--measure-for 0: out of range; give 1ms to 60s"),
        (("1s", "1kB", "1GiB"), "--measure-memory 1kB: out of range; give 1MiB to 1TiB"),
        (("1s", "1GiB", "2TiB"), "--measure-disk 2TiB: out of range; give 1MiB to 1TiB"),
    ],
)
def test_bounds_are_bounded(texts: tuple[str, str, str], message: str) -> None:
    with pytest.raises(ProbeError) as caught:
        parse_bounds(*texts)
    assert str(caught.value) == message


def test_bounds_say_themselves() -> None:
    assert parse_bounds("1.5s", "512MiB", "256MiB").words() == (
        "at most 1,500 ms each, 536.87 MB of memory, 268.44 MB of the spill directory"
    )
