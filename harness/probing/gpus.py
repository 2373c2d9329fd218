"""GPUs through NVML: their memory, the theoretical rates of memory and slot, and which NUMA node is theirs.

Source: NVIDIA's `nvidia-ml-py`, an optional dependency (`fakbench[probe]`). Memory is moved twice a clock on every
line of the bus: 2 x clock x width gives the data sheet's 3,352 GB/s of an H100 and 864 GB/s of an L40S.
"""

from __future__ import annotations

import importlib
import re
from typing import Any

from harness.catalog.figures import MAX_MEMORY_BYTES
from harness.probing.errors import ProbeError
from harness.probing.readings import UNKNOWN, Gpu, Gpus
from harness.probing.tree import Tree

NOT_INSTALLED = "the library nvidia-ml-py is not installed (pip install 'fakbench[probe]')"

# One lane, one way: 250 MB/s in the first PCIe generation and twice as much in each later one.
_FIRST_LANE_MB_S = 250
_MOST_GENERATION = 8
_MOST_LANES = 32
_MOST_GPUS = 64


def load_nvml() -> Any:
    """The NVML library, or None where it is not installed."""
    try:
        return importlib.import_module("pynvml")
    except ImportError:
        return None


def read_gpus(nvml: Any, tree: Tree) -> Gpus:
    """Every GPU that NVML proves. `nvml` is the module, or anything that answers like it; None proves nothing."""
    if nvml is None:
        return Gpus(why_not=NOT_INSTALLED)
    try:
        nvml.nvmlInit()
    except nvml.NVMLError as error:
        return Gpus(why_not=f"NVML does not start ({_words(error)})")
    try:
        count = nvml.nvmlDeviceGetCount()
        proven: list[Gpu] = []
        refused: list[str] = []
        for index in range(min(count, _MOST_GPUS)):
            try:
                proven.append(_read_gpu(nvml, index, tree))
            except (nvml.NVMLError, ProbeError) as error:
                refused.append(f"GPU {index} does not tell its memory ({_words(error)})")
    except nvml.NVMLError as error:
        return Gpus(why_not=f"NVML cannot count GPUs ({_words(error)})")
    finally:
        nvml.nvmlShutdown()
    return Gpus(tuple(proven), "; ".join(refused) if count else "NVML lists no GPU")


def _read_gpu(nvml: Any, index: int, tree: Tree) -> Gpu:
    handle = nvml.nvmlDeviceGetHandleByIndex(index)
    memory_bytes = int(nvml.nvmlDeviceGetMemoryInfo(handle).total)
    if not 0 < memory_bytes <= MAX_MEMORY_BYTES:
        raise ProbeError(f"{memory_bytes} bytes")
    clock_mhz = _ask(nvml, "nvmlDeviceGetMaxClockInfo", handle, getattr(nvml, "NVML_CLOCK_MEM", 2))
    bus_bits = _ask(nvml, "nvmlDeviceGetMemoryBusWidth", handle)
    c2c = _ask(nvml, "nvmlDeviceGetC2cModeInfoV", handle)
    own_node = _ask(nvml, "nvmlDeviceGetNumaNodeId", handle)
    return Gpu(
        name=_words(_ask(nvml, "nvmlDeviceGetName", handle) or "GPU without a name"),
        memory_bytes=memory_bytes,
        memory_mb_s=2 * int(clock_mhz or 0) * int(bus_bits or 0) // 8,
        pcie_mb_s=_pcie_mb_s(
            int(_ask(nvml, "nvmlDeviceGetMaxPcieLinkGeneration", handle) or 0),
            int(_ask(nvml, "nvmlDeviceGetMaxPcieLinkWidth", handle) or 0),
        ),
        coherent_link=bool(c2c is not None and c2c.isC2cEnabled),
        near_node=_near_node(_ask(nvml, "nvmlDeviceGetPciInfo", handle), tree),
        own_node=UNKNOWN if own_node is None else int(own_node),
    )


def _ask(nvml: Any, function: str, *arguments: Any) -> Any:
    """What an optional call answers; None where the library, the driver or the GPU does not know it."""
    try:
        return getattr(nvml, function)(*arguments)
    except (AttributeError, nvml.NVMLError):
        return None


def _pcie_mb_s(generation: int, lanes: int) -> int:
    if not (1 <= generation <= _MOST_GENERATION and 1 <= lanes <= _MOST_LANES):
        return 0
    return (_FIRST_LANE_MB_S << (generation - 1)) * lanes


def _near_node(pci: Any, tree: Tree) -> int:
    """The NUMA node of a GPU's slot. NVML writes `00000000:3B:00.0` where the kernel writes `0000:3b:00.0`."""
    bus = "" if pci is None else _words(pci.busId).lower()
    match = re.fullmatch(r"(?:0000)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])", bus, re.ASCII)
    node = tree.number(f"sys/bus/pci/devices/{match[1]}/numa_node") if match else None
    return UNKNOWN if node is None or node < 0 else node


def _words(value: object) -> str:
    """Text as NVML gives it, bytes in older versions, on one line and short enough for a title."""
    text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
    return "".join(letter for letter in " ".join(text.split()) if letter.isprintable())[:80]
