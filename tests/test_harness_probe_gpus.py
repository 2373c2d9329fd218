"""GPUs are what NVML proves: memory is required, everything else may be unknown, and nothing is guessed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
from fake_nvml import H100, FakeNvml, NVMLError
from sysfs_trees import put

from harness.probing.gpus import read_gpus
from harness.probing.readings import Gpu, Gpus
from harness.probing.tree import Tree


def test_a_gpu_is_read_whole(tmp_path: Path) -> None:
    """2 x 2619 MHz x 5120 bits is the data sheet's 3,352 GB/s; 16 lanes of PCIe 5 are 64 GB/s."""
    put(tmp_path, "sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n")
    nvml = FakeNvml(H100)

    gpus = read_gpus(nvml, Tree(tmp_path))

    assert gpus == Gpus((Gpu("NVIDIA H100 80GB HBM3", 85_520_809_984, 3_352_320, 64_000, near_node=1),))
    assert not nvml.open


def test_what_a_driver_does_not_know_is_unknown(tmp_path: Path) -> None:
    only_memory = {"nvmlDeviceGetMemoryInfo": SimpleNamespace(total=2**34)}

    assert read_gpus(FakeNvml(only_memory), Tree(tmp_path)) == Gpus((Gpu("GPU without a name", 2**34),))


def test_older_libraries_answer_in_bytes(tmp_path: Path) -> None:
    put(tmp_path, "sys/bus/pci/devices/0000:3b:00.0/numa_node", "0")
    old = H100 | {
        "nvmlDeviceGetName": b"Tesla\x00 \n V100",
        "nvmlDeviceGetPciInfo": SimpleNamespace(busId=b"0000:3B:00.0"),
    }

    gpu = read_gpus(FakeNvml(old), Tree(tmp_path)).proven[0]

    assert (gpu.name, gpu.near_node) == ("Tesla V100", 0)


@pytest.mark.parametrize("node", ["-1", "none", ""])
def test_a_slot_of_no_node_is_unknown(tmp_path: Path, node: str) -> None:
    put(tmp_path, "sys/bus/pci/devices/0000:3b:00.0/numa_node", node)

    assert read_gpus(FakeNvml(H100), Tree(tmp_path)).proven[0].near_node == -1


@pytest.mark.parametrize("bus", ["../../../etc", "0000:3b:00.0/../x", "", "3b"])
def test_a_bus_id_that_is_none_names_no_file(tmp_path: Path, bus: str) -> None:
    gpu = H100 | {"nvmlDeviceGetPciInfo": SimpleNamespace(busId=bus)}

    assert read_gpus(FakeNvml(gpu), Tree(tmp_path)).proven[0].near_node == -1


def test_a_coherent_gpu_has_a_node_of_its_own(tmp_path: Path) -> None:
    coherent = H100 | {
        "nvmlDeviceGetC2cModeInfoV": SimpleNamespace(isC2cEnabled=1),
        "nvmlDeviceGetNumaNodeId": 2,
    }

    gpu = read_gpus(FakeNvml(coherent), Tree(tmp_path)).proven[0]

    assert (gpu.coherent_link, gpu.own_node) == (True, 2)


@pytest.mark.parametrize(
    ("nvml", "why_not"),
    [
        (None, "the library nvidia-ml-py is not installed (pip install 'fakbench[probe]')"),
        (FakeNvml(start=NVMLError("Driver Not Loaded")), "NVML does not start (Driver Not Loaded)"),
        (FakeNvml(count=NVMLError("Unknown Error")), "NVML cannot count GPUs (Unknown Error)"),
        (FakeNvml(), "NVML lists no GPU"),
    ],
)
def test_no_gpu_is_proven_and_the_reason_said(tmp_path: Path, nvml: FakeNvml | None, why_not: str) -> None:
    assert read_gpus(nvml, Tree(tmp_path)) == Gpus(why_not=why_not)


def test_a_gpu_without_memory_of_its_own_is_left_out(tmp_path: Path) -> None:
    """Lost GPUs, and those that share the host's memory, do not tell any."""
    lost = H100 | {"nvmlDeviceGetMemoryInfo": NVMLError("GPU is lost")}
    empty = H100 | {"nvmlDeviceGetMemoryInfo": SimpleNamespace(total=0)}

    gpus = read_gpus(FakeNvml(lost, H100, empty), Tree(tmp_path))

    assert [gpu.memory_bytes for gpu in gpus.proven] == [85_520_809_984]
    assert gpus.why_not == "GPU 0 does not tell its memory (GPU is lost); GPU 2 does not tell its memory (0 bytes)"


@pytest.mark.parametrize(("generation", "lanes", "mb_s"), [(3, 16, 16_000), (4, 8, 16_000), (9, 16, 0), (4, 0, 0)])
def test_a_slot_is_lanes_times_their_generation(tmp_path: Path, generation: int, lanes: int, mb_s: int) -> None:
    slot = {"nvmlDeviceGetMaxPcieLinkGeneration": generation, "nvmlDeviceGetMaxPcieLinkWidth": lanes}

    assert read_gpus(FakeNvml(H100 | slot), Tree(tmp_path)).proven[0].pcie_mb_s == mb_s
