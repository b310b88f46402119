"""Where a benchmark runs: hardware, driver, versions, weights, code."""

import hashlib
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import torch
import transformers

from moss_demo.bench.nvml import Gpu
from moss_demo.bench.report import Environment
from moss_demo.domain.figures import NOT_AVAILABLE
from moss_demo.engine.info import EngineInfo

PACKAGE = Path(__file__).parents[1]


def gpu_uuid(device: str) -> str | None:
    """Return the driver's identifier of a CUDA device, None for a CPU."""
    return None if device == "cpu" else str(torch.cuda.get_device_properties(device).uuid)


def describe_environment(
    info: EngineInfo, precision: str, effort: str, gpu: Gpu | None
) -> Environment:
    """Collect what a report must say of its origin.

    Args:
        info: the first engine.
        precision: what was asked for; a plan may begin with another one.
        effort: how often things are done, in words.
        gpu: what the driver says.
    """
    return Environment(
        started_at=datetime.now(UTC).isoformat(timespec="seconds"),
        device=info.device,
        hardware=_hardware(info.device),
        memory_bytes=_memory_bytes(info.device),
        driver=NOT_AVAILABLE if gpu is None else gpu.driver(),
        cuda=torch.version.cuda or NOT_AVAILABLE,
        torch=torch.__version__,
        transformers=transformers.__version__,
        python=platform.python_version(),
        threads=torch.get_num_threads(),
        checkpoint=info.checkpoint,
        revision=info.revision,
        parameters=info.parameters,
        precision=precision,
        code=_code(),
        effort=effort,
        before=None if gpu is None else gpu.state(),
    )


def _hardware(device: str) -> str:
    if device != "cpu":
        return torch.cuda.get_device_name(device)
    cores = f"{os.cpu_count()} cores"
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    model = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), "")
    return f"{model or platform.processor() or platform.machine()}, {cores}"


def _memory_bytes(device: str) -> int | None:
    if device != "cpu":
        return int(torch.cuda.get_device_properties(device).total_memory)
    if sys.platform == "win32":
        return None
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _code() -> str:
    """Return the commit of the sources, or their digest where they are no checkout."""
    try:
        answer = subprocess.run(
            ["git", "describe", "--always", "--abbrev=12", "--dirty"],
            cwd=PACKAGE,
            capture_output=True,
            text=True,
            timeout=10,
            check=True,
        )
        return answer.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        digest = hashlib.sha256()
        for path in sorted(PACKAGE.rglob("*.py")):
            digest.update(path.read_bytes())
        return f"sources {digest.hexdigest()[:12]}"
