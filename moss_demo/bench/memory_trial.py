"""Memory of a process while it works, from the best source that can tell, named beside the figure.

The ladder, from the top: the process as the driver lists it; the only process on the GPU, when the
driver counts processes of the host; the whole device; nothing. The allocator's own peaks are kept
apart: they leave out context and libraries and are no measure of the process.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic

from moss_demo.bench.nvml import MemoryReading


class Source(StrEnum):
    """What a figure of memory is a figure of."""

    RESIDENT = "process, resident (/proc)"
    PROCESS = "process (NVML)"
    ONLY_PROCESS = "single process (NVML, listed under another number)"
    DEVICE = "whole device (NVML), others included"
    NONE = "n/a"


@dataclass(frozen=True, slots=True)
class Timeline:
    """Memory over time.

    Attributes:
        source: what was measured.
        at_s: seconds since the trial began.
        used_bytes: memory at those moments.
    """

    source: Source
    at_s: tuple[float, ...]
    used_bytes: tuple[float, ...]


def watch_memory(work: Callable[[], None], uuid: str | None) -> Timeline:
    """Do `work` while a second process samples this one.

    Args:
        work: what is watched.
        uuid: the GPU in use, or None on a CPU.
    """
    command = [sys.executable, "-m", "moss_demo.bench.memory_probe", str(os.getpid())]
    with subprocess.Popen(
        command if uuid is None else [*command, uuid],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],  # where the module is found
    ) as probe:
        assert probe.stdout is not None  # asked for above
        first = probe.stdout.readline()  # the probe is up before the work begins
        began_at = monotonic()
        try:
            work()
        finally:
            rest, _ = probe.communicate()
    return read_timeline([first, *rest.splitlines()], began_at, on_gpu=uuid is not None)


def read_timeline(lines: list[str], began_at: float, *, on_gpu: bool) -> Timeline:
    """Choose the best source that every sample has.

    Args:
        lines: what the probe printed.
        began_at: monotonic clock at the beginning of the work.
        on_gpu: whether the samples are of a GPU.
    """
    values = [json.loads(line) for line in lines if line.strip()]
    at_s = tuple(round(value[0] - began_at, 3) for value in values)
    readings = [MemoryReading(*value[1:]) for value in values]
    ladder: list[tuple[Source, list[int | None]]] = [
        (Source.PROCESS if on_gpu else Source.RESIDENT, [r.own_bytes for r in readings]),
        (Source.ONLY_PROCESS, [r.only_bytes for r in readings]),
        (Source.DEVICE, [r.device_bytes for r in readings]),
    ]
    for source, used in ladder:
        known = tuple(float(value) for value in used if value is not None)
        if known and len(known) == len(used):
            return Timeline(source, at_s, known)
    return Timeline(Source.NONE, (), ())
