"""Which tier a node is: home socket DRAM, other sockets NUMA-far, nodes without CPUs CXL, everything else none."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from sysfs_trees import Box, expander, four_nodes, no_numa, one_socket_in_four, put, tree_of, two_sockets

from harness.probing.host import read_host
from harness.probing.readings import Gpu, Gpus, Readings
from harness.probing.topology import Topology, classify
from harness.probing.tree import Tree
from policy.tiers import CXL, DRAM, NUMA_FAR


def read(root: Path) -> Readings:
    return read_host(Tree(root))


def tiers(topology: Topology) -> dict[int, list[int]]:
    return {tier: [node.index for node in nodes] for tier, nodes in topology.nodes.items() if nodes}


def with_gpus(readings: Readings, *gpus: Gpu) -> Readings:
    return dataclasses.replace(readings, gpus=Gpus(gpus))


def test_another_socket_is_far(tmp_path: Path) -> None:
    topology = classify(read(two_sockets(tmp_path)))

    assert tiers(topology) == {DRAM: [0], NUMA_FAR: [1]}
    assert (topology.home_socket, topology.home_cpus) == (0, (0, 1, 2, 3, 8, 9, 10, 11))


def test_memory_without_cpus_is_cxl(tmp_path: Path) -> None:
    assert tiers(classify(read(expander(tmp_path)))) == {DRAM: [0], CXL: [1]}


def test_nodes_of_one_socket_are_one_dram(tmp_path: Path) -> None:
    """Sub-NUMA clustering splits a socket; it makes none of it far."""
    topology = classify(read(one_socket_in_four(tmp_path)))

    assert tiers(topology) == {DRAM: [0, 1, 2, 3]}
    assert topology.home_cpus == (0, 1, 2, 3)


def test_split_sockets_are_still_near_and_far(tmp_path: Path) -> None:
    assert tiers(classify(read(four_nodes(tmp_path)))) == {DRAM: [0, 1], NUMA_FAR: [2, 3]}


def test_a_kernel_without_numa_has_one_dram(tmp_path: Path) -> None:
    assert tiers(classify(read(no_numa(tmp_path)))) == {DRAM: [0]}


def test_home_is_the_first_gpus_socket(tmp_path: Path) -> None:
    readings = with_gpus(read(four_nodes(tmp_path)), Gpu("a", 1, near_node=3), Gpu("b", 1, near_node=0))

    topology = classify(readings)

    assert tiers(topology) == {DRAM: [2, 3], NUMA_FAR: [0, 1]}
    assert (topology.home_socket, topology.home_cpus) == (1, (4, 5, 6, 7))


def test_a_gpu_near_a_node_without_memory_is_near_that_nodes_socket(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, Box("0", 0, 4, "10 21 21"), Box("1", 1, 0, "21 10 12"), Box("2", 1, 4, "21 12 10"))

    topology = classify(with_gpus(read(tree), Gpu("a", 1, near_node=1)))

    assert tiers(topology) == {DRAM: [2], NUMA_FAR: [0]}
    assert topology.home_cpus == (1, 2)
    assert topology.unproven == [(1, "has no memory that can be read")]


def test_the_memory_of_a_gpu_is_not_cxl(tmp_path: Path) -> None:
    """On C2C systems a GPU's memory is a node without CPUs too."""
    topology = classify(with_gpus(read(expander(tmp_path)), Gpu("a", 1, own_node=1)))

    assert tiers(topology) == {DRAM: [0]}
    assert topology.unproven == [(1, "is the memory of a GPU")]


def test_a_node_whose_socket_is_unknown_is_neither_near_nor_far(tmp_path: Path) -> None:
    tree = tree_of(tmp_path, Box("0", 0, 4, "10 21"), Box("1", -1, 4, "21 10"))

    topology = classify(read(tree))

    assert tiers(topology) == {DRAM: [0]}
    assert topology.unproven == [(1, "does not tell whether its socket is that of node 0")]


def test_a_node_whose_cpus_are_unreadable_is_not_taken_for_cxl(tmp_path: Path) -> None:
    put(two_sockets(tmp_path), "sys/devices/system/node/node1/cpulist", "4-")

    topology = classify(read(tmp_path))

    assert tiers(topology) == {DRAM: [0]}
    assert topology.unproven == [(1, "does not tell whether it has CPUs")]


def test_a_node_outside_the_cpu_set_is_not_this_processes(tmp_path: Path) -> None:
    put(two_sockets(tmp_path), "proc/self/status", "Mems_allowed_list:\t0\n")

    topology = classify(read(tmp_path))

    assert tiers(topology) == {DRAM: [0]}
    assert topology.unproven == [(1, "may not be used by this process (its CPU set leaves it out)")]


def test_one_memory_beside_cpus_on_another_node_is_dram(tmp_path: Path) -> None:
    """Some virtual machines are built so: there is nothing else that it could be."""
    topology = classify(read(tree_of(tmp_path, Box("0-1", 0, 0, "10 10"), Box("", 0, 8, "10 10"))))

    assert tiers(topology) == {DRAM: [1]}
    assert topology.home_cpus == (0, 1)


def test_several_memories_and_no_home_prove_nothing(tmp_path: Path) -> None:
    topology = classify(read(tree_of(tmp_path, Box("0", 0, 0, "10"), Box("", 0, 8, "10"), Box("", 0, 8, "10"))))

    assert tiers(topology) == {}
    reason = "has no CPUs, and no other node has both CPUs and memory"
    assert topology.unproven == [(0, "has no memory that can be read"), (1, reason), (2, reason)]
