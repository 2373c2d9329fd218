"""The entry is a catalog as good as any: valid, canonical, the same every time; or refused in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from catalog_edits import SHIPPED
from probing_machines import ASSUMED, GIB, ladder_of, probed, read
from sysfs_trees import expander, four_nodes, no_numa, put, two_sockets

from harness.catalog import validate
from harness.catalog.figures import MegabytesPerSecond
from harness.errors import SetupError
from harness.probing.entry import build_entry, check_target, machine_of
from harness.probing.errors import ProbeError
from harness.probing.given import Given, parse_given
from harness.probing.measure import Measured
from harness.probing.probe import Asked
from harness.probing.readings import Gpu
from policy.tiers import DRAM

Trees = Callable[[Path], Path]


@pytest.mark.parametrize("tree", [two_sockets, expander, four_nodes, no_numa])
@pytest.mark.parametrize("gpus", [(), (Gpu("NVIDIA H100", 80 * GIB, 3_352_320, 64_000),)])
def test_every_entry_is_a_valid_canonical_catalog(tmp_path: Path, tree: Trees, gpus: tuple[Gpu, ...]) -> None:
    readings = read(tree(tmp_path), *gpus)

    entry = probed(readings, Asked(given=Given() if gpus else ASSUMED)).entry

    assert entry is not None
    assert validate(entry.data) == ([], entry.warnings)
    assert list(orjson.loads(entry.data)["machines"]) == ["probed"]


def test_the_slots_of_the_gpus_are_the_links(tmp_path: Path) -> None:
    """25/32 of the theoretical rate, as the catalog's own links have it; once for each tier of host memory."""
    readings = read(two_sockets(tmp_path), *[Gpu("NVIDIA H100", 80 * GIB, 3_352_320, 64_000)] * 2)

    machine = machine_of(readings, ladder_of(readings), "")

    assert [(link.a, link.b, link.a_to_b_mb_s.value, link.per_accelerator) for link in machine.links] == [
        ("hbm", "dram", 100_000, False),
        ("hbm", "numa_far", 100_000, False),
    ]
    assert machine.title == "Probed: 2 x NVIDIA H100, 2 NUMA nodes, hbm/dram/numa_far/disk"


@pytest.mark.parametrize(
    "gpu", [Gpu("a", 80 * GIB, 3_352_320, 0), Gpu("a", 80 * GIB, 3_352_320, 64_000, coherent_link=True)]
)
def test_a_slot_that_is_unknown_or_not_the_path_is_no_link(tmp_path: Path, gpu: Gpu) -> None:
    readings = read(two_sockets(tmp_path), gpu)

    assert machine_of(readings, ladder_of(readings), "").links == ()


def test_a_slot_wider_than_both_ends_is_no_link(tmp_path: Path) -> None:
    readings = read(two_sockets(tmp_path), Gpu("a", 80 * GIB, 30_000, 64_000))
    slow = MegabytesPerSecond(value=40_000, kind="measured", source="a test")

    machine = machine_of(readings, ladder_of(readings, measured=Measured(bandwidth={DRAM: slow})), "")

    assert [link.b for link in machine.links] == ["numa_far"]


def test_an_entry_without_hbm_is_refused_in_a_sentence(tmp_path: Path) -> None:
    out = tmp_path / "entry.json"

    with pytest.raises(ProbeError) as caught:
        probed(read(two_sockets(tmp_path)), Asked(out=out))

    assert str(caught.value) == (
        f"--out {out}: a machine of the catalog needs the tier hbm and there is none"
        " (no GPU is proven: NVML lists no GPU); give --hbm-bytes and --hbm-mb-s to assume one"
    )
    assert not out.exists()


def test_without_a_gpu_both_figures_are_needed(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="one alone makes no tier where no GPU is proven; give both"):
        probed(read(two_sockets(tmp_path)), Asked(given=Given(hbm_bytes=80 * GIB)))


@pytest.mark.parametrize("title", [" ", "x" * 201])
def test_a_title_that_the_catalog_refuses_is_refused(tmp_path: Path, title: str) -> None:
    with pytest.raises(ProbeError, match=r"^the entry would not be valid: machines\.probed\.title: "):
        probed(read(two_sockets(tmp_path)), Asked(given=ASSUMED, title=title))


def test_an_id_that_the_catalog_refuses_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProbeError) as caught:
        probed(read(two_sockets(tmp_path)), Asked(name="My Box"))

    assert str(caught.value) == (
        "--id My Box: is not an id; use at most 64 lower-case letters, digits, '.' and '-', a letter or digit first"
    )


def test_a_whole_catalog_is_not_replaced_by_one_machine(tmp_path: Path) -> None:
    kept = tmp_path / "catalog.json"
    kept.write_bytes(SHIPPED.read_bytes())

    with pytest.raises(ProbeError, match="is a catalog with other entries"):
        check_target(kept, "probed")


def test_an_earlier_probe_of_the_same_machine_is_replaced(tmp_path: Path) -> None:
    readings = read(two_sockets(tmp_path))
    earlier = tmp_path / "earlier.json"
    earlier.write_bytes(build_entry("probed", machine_of(readings, ladder_of(readings, ASSUMED), "")).data)

    check_target(earlier, "probed")
    with pytest.raises(ProbeError, match=r"other entries \(probed\) that would be lost"):
        check_target(earlier, "another")


def test_a_place_that_does_not_exist_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    with pytest.raises(ProbeError, match="its directory does not exist; choose another place"):
        check_target(tmp_path / "absent" / "entry.json", "probed")


@pytest.mark.parametrize(
    ("bytes_text", "mb_s", "message"),
    [
        ("80", None, "--hbm-bytes 80: out of range; give 1GiB to 1024TiB, like 80GiB"),
        ("0", None, "--hbm-bytes 0: out of range; give 1GiB to 1024TiB, like 80GiB"),
        ("2PiB", None, "--hbm-bytes 2PiB: out of range; give 1GiB to 1024TiB, like 80GiB"),
        (None, 0, "--hbm-mb-s 0: out of range; give 1 to 1000000000, like 3350000 for 3,350 GB/s"),
        (None, 2**40, f"--hbm-mb-s {2**40}: out of range; give 1 to 1000000000, like 3350000 for 3,350 GB/s"),
    ],
)
def test_figures_that_are_no_gpus_are_refused(bytes_text: str | None, mb_s: int | None, message: str) -> None:
    with pytest.raises(ProbeError) as caught:
        parse_given(bytes_text, mb_s)
    assert str(caught.value) == message


def test_figures_are_read_as_everywhere() -> None:
    assert parse_given("80GiB", 3_350_000) == ASSUMED
    assert parse_given(None, None) == Given()
    with pytest.raises(SetupError, match="--hbm-bytes much: not understood"):
        parse_given("much", None)


def test_the_same_readings_give_the_same_words(tmp_path: Path) -> None:
    put(expander(tmp_path), "sys/devices/system/node/node1/distance", "?")
    readings = read(tmp_path, Gpu("NVIDIA H100", 80 * GIB, 3_352_320, 64_000, near_node=0))

    first, second = (probed(readings, Asked()) for _ in range(2))

    assert first == second
    assert first.text.splitlines()[:9] == [
        "host memory: 687.19 GB, 343.60 GB available",
        "GPU: NVIDIA H100, 85.90 GB, 3,352,320 MB/s of memory, 64,000 MB/s of PCIe, near node 0",
        "spill directory (ext4): 966.37 GB free",
        "",
        " node | tier | socket | distances | CPUs |    memory |      free",
        "------+------+--------+-----------+------+-----------+-----------",
        " 0    | dram | 0      | 10 14     |    8 | 137.44 GB |  68.72 GB",
        " 1    | cxl  | -      | -         |    0 | 549.76 GB | 274.88 GB",
        "",
    ]
    assert first.text.splitlines()[-8:] == [
        "  cxl: Nodes without CPUs: persistent memory and on-package memory look the same as a CXL expander.",
        "",
        "not proven:",
        "  numa_far: no other socket's memory is proven",
        "  remote: a probe of one machine cannot see it",
        "",
        "not readable:",
        "  node1/distance: cannot be read as a list of distances",
    ]
