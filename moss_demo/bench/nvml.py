"""What the NVIDIA driver says of a GPU. Asks only; never changes clocks or any other setting."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pynvml  # type: ignore[import-untyped]  # ships no types

from moss_demo.bench.report import GpuState

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MemoryReading:
    """Memory of one GPU at one moment, in bytes; None where the driver does not say.

    Attributes:
        own_bytes: of the process that was asked about, when the driver lists it.
        only_bytes: of the only compute process, when there is exactly one and it is another.
        device_bytes: of everything on the device.
    """

    own_bytes: int | None
    only_bytes: int | None
    device_bytes: int | None


class Gpu:
    """One GPU as the driver sees it."""

    def __init__(self, uuid: str) -> None:
        """Find the GPU by the identifier that torch gives, since the numbers of the two differ.

        Raises:
            pynvml.NVMLError: there is no driver or no such GPU.
        """
        pynvml.nvmlInit()
        self._handle: Any = pynvml.nvmlDeviceGetHandleByUUID(f"GPU-{uuid.removeprefix('GPU-')}")

    def driver(self) -> str:
        """Return the version of the driver."""
        return str(pynvml.nvmlSystemGetDriverVersion())

    def state(self) -> GpuState:
        """Return clocks, temperature, power and company."""
        handle = self._handle
        power_mw = _ask(lambda: pynvml.nvmlDeviceGetPowerUsage(handle))
        limit_mw = _ask(lambda: pynvml.nvmlDeviceGetEnforcedPowerLimit(handle))
        processes = _ask(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle))
        return GpuState(
            _ask(lambda: int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_SM))),
            _ask(lambda: int(pynvml.nvmlDeviceGetClockInfo(handle, pynvml.NVML_CLOCK_MEM))),
            _ask(lambda: int(pynvml.nvmlDeviceGetTemperature(handle, pynvml.NVML_TEMPERATURE_GPU))),
            None if power_mw is None else power_mw / 1e3,
            None if limit_mw is None else limit_mw / 1e3,
            None if processes is None else len(processes),
        )

    def memory(self, pid: int) -> MemoryReading:
        """Read the memory of a process and of the device.

        In a container the driver lists processes by numbers of the host, so that `pid` may not be
        among them although it runs.
        """
        handle = self._handle
        processes = _ask(lambda: pynvml.nvmlDeviceGetComputeRunningProcesses(handle)) or []
        own = [p.usedGpuMemory for p in processes if p.pid == pid]
        only = processes[0].usedGpuMemory if len(processes) == 1 and not own else None
        device = _ask(lambda: pynvml.nvmlDeviceGetMemoryInfo(handle, pynvml.nvmlMemory_v2))
        return MemoryReading(
            own[0] if own else None, only, None if device is None else int(device.used)
        )


def open_gpu(uuid: str | None) -> Gpu | None:
    """Return the GPU of that identifier, or None where no driver knows it."""
    if uuid is None:
        return None
    try:
        return Gpu(uuid)
    except pynvml.NVMLError:
        return None


def _ask(question: Callable[[], T]) -> T | None:
    """Return an answer of the driver, or None where it refuses."""
    try:
        return question()
    except pynvml.NVMLError:
        return None
