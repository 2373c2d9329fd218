"""The ladder is what the readings prove, each figure with its kind; the rest is dropped by name."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_nvml import H100, FakeNvml
from probing_machines import GIB, capacities, ladder_of, read
from sysfs_trees import Box, expander, no_numa, tree_of, two_sockets

from harness.catalog.figures import MegabytesPerSecond
from harness.probing.given import Given
from harness.probing.gpus import read_gpus
from harness.probing.measure import Measured
from harness.probing.readings import Gpu, Spill
from harness.probing.tree import Tree
from policy.tiers import DRAM


def test_two_sockets_prove_near_and_far_and_drop_the_rest_by_name(tmp_path: Path) -> None:
    ladder = ladder_of(read(two_sockets(tmp_path)))

    assert capacities(ladder) == {
        "dram": (256 * GIB, "measured"),
        "numa_far": (256 * GIB, "measured"),
        "disk": (900 * GIB, "measured"),
    }
    assert ladder.dropped == {
        "hbm": "no GPU is proven: NVML lists no GPU",
        "cxl": "no node with memory and without CPUs is proven",
        "remote": "a probe of one machine cannot see it",
    }
    assert ladder.tiers["dram"].capacity_bytes.source == "MemTotal of NUMA node 0, as the kernel gives it"


def test_what_is_not_measured_is_the_default_and_assumed(tmp_path: Path) -> None:
    dram = ladder_of(read(two_sockets(tmp_path))).tiers["dram"]

    assert (dram.read_latency_ns.value, dram.read_latency_ns.kind) == (90, "assumed")
    assert (dram.bandwidth_mb_s.value, dram.bandwidth_mb_s.kind) == (300_000, "assumed")
    assert dram.bandwidth_mb_s.source == "the default profile of this tier, as in the catalog's machine reference"
    assert dram.bandwidth_mb_s.note == "Not measured: give --measure."
    assert dram.read_latency_ns.note.startswith("No load latency can be measured from Python.")


def test_the_firmwares_figures_are_a_data_sheets(tmp_path: Path) -> None:
    tiers = ladder_of(read(expander(tmp_path))).tiers

    figures = [(tier.read_latency_ns, tier.bandwidth_mb_s) for tier in (tiers["dram"], tiers["cxl"])]
    assert [(one.value, other.value) for one, other in figures] == [(95, 240_000), (230, 56_000)]
    assert {figure.kind for pair in figures for figure in pair} == {"datasheet"}
    assert figures[1][0].source == (
        "the firmware's memory attribute table (HMAT) of node 1, as seen from the home socket"
    )


def test_the_firmwares_figures_for_another_socket_are_not_taken(tmp_path: Path) -> None:
    """It gives those of the nearest CPUs, and the far node's nearest CPUs are not at home."""
    tree = tree_of(
        tmp_path,
        Box("0", 0, 4, "10 21", firmware=(90, 200_000), initiators=(0,)),
        Box("1", 1, 4, "21 10", firmware=(90, 200_000), initiators=(1,)),
    )

    tiers = ladder_of(read(tree)).tiers

    assert tiers["dram"].bandwidth_mb_s.kind == "datasheet"
    assert (tiers["numa_far"].bandwidth_mb_s.kind, tiers["numa_far"].bandwidth_mb_s.value) == ("assumed", 200_000)


def test_the_firmwares_figures_of_several_nodes_add_up(tmp_path: Path) -> None:
    tree = tree_of(
        tmp_path,
        Box("0", 0, 4, "10 12", firmware=(90, 100_000), initiators=(0,)),
        Box("1", 0, 4, "12 10", firmware=(95, 110_000), initiators=(1,)),
    )

    dram = ladder_of(read(tree)).tiers["dram"]

    assert (dram.bandwidth_mb_s.value, dram.bandwidth_mb_s.kind) == (210_000, "derived")
    assert (dram.read_latency_ns.value, dram.read_latency_ns.kind) == (95, "datasheet")


def test_a_measured_figure_is_preferred_to_any_other(tmp_path: Path) -> None:
    figure = MegabytesPerSecond(value=5, kind="measured", source="a test")
    readings = read(expander(tmp_path))

    ladder = ladder_of(readings, measured=Measured(bandwidth={DRAM: figure}))

    assert ladder.tiers["dram"].bandwidth_mb_s is figure


def test_a_limited_process_proves_its_limit_hottest_first(tmp_path: Path) -> None:
    ladder = ladder_of(read(two_sockets(tmp_path), limit_bytes=300 * GIB))

    assert capacities(ladder)["dram"] == (256 * GIB, "measured")
    assert capacities(ladder)["numa_far"] == (44 * GIB, "derived")
    assert ladder.tiers["numa_far"].capacity_bytes.note == f"MemTotal of NUMA node 1 is {256 * GIB}."


def test_a_tier_that_the_limit_leaves_nothing_of_is_dropped(tmp_path: Path) -> None:
    """A capacity of 0 would say unbounded."""
    ladder = ladder_of(read(two_sockets(tmp_path), limit_bytes=256 * GIB))

    assert "numa_far" not in ladder.tiers
    assert ladder.dropped["numa_far"] == (
        "0 B (the memory limit of this process's control group, less what hotter tiers take of it)"
        " is less than the 1 GiB that a tier of the catalog has at least"
    )


@pytest.mark.parametrize(
    ("spill", "why"),
    [
        (None, "no spill directory is named; give --spill DIR"),
        (Spill(9 * GIB, "tmpfs"), "the spill directory is in memory (tmpfs), counted already; name another"),
        (Spill(2**63, "nfs4"), "the spill directory claims 9223372036854775808 free bytes, which is no reading"),
        (
            Spill(GIB - 1, "ext4"),
            "1.07 GB (free space of the spill directory's file system (statvfs), for an unprivileged user)"
            " is less than the 1 GiB that a tier of the catalog has at least",
        ),
    ],
)
def test_a_disk_that_is_none_is_dropped(tmp_path: Path, spill: Spill | None, why: str) -> None:
    ladder = ladder_of(read(no_numa(tmp_path), spill=spill))

    assert "disk" not in ladder.tiers
    assert ladder.dropped["disk"] == why


def test_a_disk_over_a_network_is_said_to_be_one(tmp_path: Path) -> None:
    disk = ladder_of(read(no_numa(tmp_path), spill=Spill(9 * GIB, "nfs4"))).tiers["disk"]

    assert disk.note == "Mounted over a network (nfs4): rather a remote tier than a disk."


def test_a_gpus_rate_is_derived_from_its_bus(tmp_path: Path) -> None:
    gpus = read_gpus(FakeNvml(H100, H100), Tree(two_sockets(tmp_path))).proven

    hbm = ladder_of(read(tmp_path, *gpus)).tiers["hbm"]

    assert (hbm.capacity_bytes.value, hbm.capacity_bytes.kind) == (2 * 85_520_809_984, "measured")
    assert hbm.capacity_bytes.source == "the memory of 2 x 85520809984 bytes of GPUs, from NVML"
    assert (hbm.bandwidth_mb_s.value, hbm.bandwidth_mb_s.kind) == (2 * 3_352_320 * 8 // 10, "derived")
    assert hbm.bandwidth_mb_s.note == "6,704,640 theoretical."


def test_a_gpu_with_an_unknown_bus_has_the_default_rate(tmp_path: Path) -> None:
    hbm = ladder_of(read(two_sockets(tmp_path), Gpu("a", 80 * GIB, 5), Gpu("b", 40 * GIB))).tiers["hbm"]

    assert (hbm.bandwidth_mb_s.value, hbm.bandwidth_mb_s.kind) == (4_000_000, "assumed")
    assert hbm.capacity_bytes.source == f"the memory of 1 x {80 * GIB}, 1 x {40 * GIB} bytes of GPUs, from NVML"


def test_what_a_person_gives_is_assumed_even_beside_a_gpu(tmp_path: Path) -> None:
    hbm = ladder_of(read(two_sockets(tmp_path), Gpu("a", 80 * GIB, 2_000_000)), Given(hbm_bytes=70 * GIB)).tiers["hbm"]

    assert (hbm.capacity_bytes.value, hbm.capacity_bytes.kind) == (70 * GIB, "assumed")
    assert hbm.bandwidth_mb_s.kind == "derived"
