"""Host memory is read as the kernel shows it; what cannot be read is said and claimed by nobody."""

from __future__ import annotations

from pathlib import Path

import pytest
from sysfs_trees import Box, expander, four_nodes, no_numa, put, tree_of, two_sockets

from harness.probing.host import read_host
from harness.probing.readings import Node, Readings, listed
from harness.probing.tree import Tree, parse_list

GIB = 2**30


def read(root: Path) -> Readings:
    return read_host(Tree(root))


def test_two_sockets_are_read_whole(tmp_path: Path) -> None:
    readings = read(two_sockets(tmp_path))

    assert readings == Readings(
        total_bytes=512 * GIB,
        available_bytes=256 * GIB,
        nodes=(
            Node(0, (0, 1, 2, 3, 8, 9, 10, 11), 0, 256 * GIB, 128 * GIB, (10, 21)),
            Node(1, (4, 5, 6, 7, 12, 13, 14, 15), 1, 256 * GIB, 128 * GIB, (21, 10)),
        ),
    )


def test_a_node_without_cpus_has_an_empty_list_and_the_firmwares_figures(tmp_path: Path) -> None:
    far = read(expander(tmp_path)).nodes[1]

    assert far == Node(1, (), -1, 512 * GIB, 256 * GIB, (14, 10), (0,), 230, 56_000)


def test_older_kernels_have_one_access_class(tmp_path: Path) -> None:
    tree = expander(tmp_path)
    (tree / "sys/devices/system/node/node1/access1").rename(tree / "sys/devices/system/node/node1/access0")

    assert read(tree).nodes[1].firmware_mb_s == 56_000


@pytest.mark.parametrize("nonsense", ["0", "-5", "999999999", "fast", "56000 MB/s"])
def test_nonsense_of_the_firmware_is_no_figure(tmp_path: Path, nonsense: str) -> None:
    tree = expander(tmp_path)
    put(tree, "sys/devices/system/node/node1/access1/initiators/read_bandwidth", nonsense)

    node = read(tree).nodes[1]

    assert (node.firmware_latency_ns, node.firmware_mb_s, node.initiators) == (0, 0, ())


def test_a_kernel_without_numa_is_one_node_and_says_so(tmp_path: Path) -> None:
    readings = read(no_numa(tmp_path))

    assert readings.nodes == (Node(0, (0, 1, 2, 3), total_bytes=16 * GIB, free_bytes=8 * GIB),)
    assert readings.notes == ("the kernel shows no NUMA nodes: all memory is taken as one node",)


def test_an_empty_root_proves_nothing(tmp_path: Path) -> None:
    assert read(tmp_path) == Readings(notes=("proc/meminfo: gives no MemTotal",))


def test_malformed_files_are_named_and_not_believed(tmp_path: Path) -> None:
    """Each file is wrong in its own way; the node beside it is read all the same."""
    tree = two_sockets(tmp_path)
    node = "sys/devices/system/node/node1"
    put(tree, f"{node}/cpulist", "4-7,twelve\n")
    put(tree, f"{node}/meminfo", "Node 1 Memory: plenty\n")
    put(tree, f"{node}/distance", "21 ten\n")

    readings = read(tree)

    assert readings.nodes[0].total_bytes == 256 * GIB
    assert readings.nodes[1] == Node(1, None)
    assert readings.notes == (
        "node1/cpulist: cannot be read as a list of CPUs",
        "node1/meminfo: gives no MemTotal",
        "node1/distance: cannot be read as a list of distances",
    )


@pytest.mark.parametrize(
    "meminfo", [b"", b"\xff\xfe\x00", b"MemTotal: -5 kB", b"MemTotal: 99999999999999999999 kB", b"MemTotal: 9 pages"]
)
def test_a_memory_that_cannot_be_is_no_memory(tmp_path: Path, meminfo: bytes) -> None:
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc" / "meminfo").write_bytes(meminfo)

    assert read(tmp_path).total_bytes == 0


def test_a_file_that_never_ends_is_not_read(tmp_path: Path) -> None:
    put(tmp_path, "proc/meminfo", "MemTotal: 16777216 kB\n" + "x" * 2**21)

    assert read(tmp_path).total_bytes == 0


@pytest.mark.parametrize(
    ("text", "members"),
    [
        ("", ()),
        ("0", (0,)),
        ("0-2", (0, 1, 2)),
        ("0-1,8,10-11", (0, 1, 8, 10, 11)),
        ("3-1", None),
        ("0-999999", None),
        ("0-65535,0-65535", None),
        ("-1", None),
        ("1,", None),
        ("\u0663", None),
    ],
)
def test_a_kernel_list_is_read_or_refused(text: str, members: tuple[int, ...] | None) -> None:
    """A list of more CPUs than a kernel can have is refused before it is built."""
    assert parse_list(text) == members


def test_indices_are_listed_as_the_kernel_lists_them() -> None:
    assert listed([3, 0, 1, 8]) == "0-1,3,8"
    assert listed([]) == ""


def test_the_socket_is_that_of_the_first_cpu_that_tells(tmp_path: Path) -> None:
    tree = four_nodes(tmp_path)
    (tree / "sys/devices/system/cpu/cpu4/topology/physical_package_id").unlink()

    assert [node.socket for node in read(tree).nodes] == [0, 0, 1, 1]


def test_a_negative_socket_is_unknown(tmp_path: Path) -> None:
    assert read(tree_of(tmp_path, Box("0", -1, 4, "10"))).nodes[0].socket == -1


def test_the_nodes_this_process_may_use_are_read(tmp_path: Path) -> None:
    put(two_sockets(tmp_path), "proc/self/status", "Name:\tx\nMems_allowed:\t1\nMems_allowed_list:\t0\n")

    assert read(tmp_path).allowed_nodes == (0,)


@pytest.mark.parametrize(
    ("files", "limit_bytes"),
    [
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": "max"}, 0),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/memory.max": str(8 * GIB)}, 8 * GIB),
        (
            {
                "proc/self/cgroup": "0::/slice/box",
                "sys/fs/cgroup/slice/box/memory.max": "max",
                "sys/fs/cgroup/slice/memory.max": str(4 * GIB),
            },
            4 * GIB,
        ),
        (
            {
                "proc/self/cgroup": "4:cpu,memory:/box\n0::/",
                "sys/fs/cgroup/memory/box/memory.limit_in_bytes": str(2 * GIB),
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            },
            2 * GIB,
        ),
        ({"proc/self/cgroup": "0::/../../etc", "sys/fs/cgroup/memory.max": str(GIB)}, GIB),
        ({"proc/self/cgroup": "nonsense"}, 0),
    ],
)
def test_the_narrowest_limit_of_the_control_groups_counts(
    tmp_path: Path, files: dict[str, str], limit_bytes: int
) -> None:
    for name, text in files.items():
        put(tmp_path, name, text)

    assert read(tmp_path).limit_bytes == limit_bytes
