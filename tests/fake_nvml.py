"""An NVML that answers as it is told: the calls a probe makes, and errors where a driver would raise them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any


class NVMLError(Exception):
    """What every call may raise."""


H100: dict[str, Any] = {
    "nvmlDeviceGetName": "NVIDIA H100 80GB HBM3",
    "nvmlDeviceGetMemoryInfo": SimpleNamespace(total=85_520_809_984),
    "nvmlDeviceGetMaxClockInfo": 2619,
    "nvmlDeviceGetMemoryBusWidth": 5120,
    "nvmlDeviceGetMaxPcieLinkGeneration": 5,
    "nvmlDeviceGetMaxPcieLinkWidth": 16,
    "nvmlDeviceGetPciInfo": SimpleNamespace(busId="00000000:3B:00.0"),
    "nvmlDeviceGetC2cModeInfoV": SimpleNamespace(isC2cEnabled=0),
    "nvmlDeviceGetNumaNodeId": NVMLError("Not Supported"),
}


class FakeNvml:
    """GPUs as dictionaries from a call's name to its answer; an exception is raised, a missing call is absent."""

    NVMLError = NVMLError
    NVML_CLOCK_MEM = 2

    def __init__(self, *gpus: dict[str, Any], start: Exception | None = None, count: Exception | None = None) -> None:
        self._gpus, self._start, self._count = gpus, start, count
        self.open = False

    def nvmlInit(self) -> None:  # noqa: N802 - the library's own name
        if self._start is not None:
            raise self._start
        self.open = True

    def nvmlShutdown(self) -> None:  # noqa: N802
        self.open = False

    def nvmlDeviceGetCount(self) -> int:  # noqa: N802
        if self._count is not None:
            raise self._count
        return len(self._gpus)

    def nvmlDeviceGetHandleByIndex(self, index: int) -> dict[str, Any]:  # noqa: N802
        return self._gpus[index]

    def __getattr__(self, name: str) -> Any:
        if not any(name in gpu for gpu in self._gpus):
            raise AttributeError(name)

        def call(handle: dict[str, Any], *_: object) -> Any:
            answer = handle.get(name, NVMLError("Function Not Found"))
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call
