"""Versions, devices, checkpoints and caches, as the `info` command and the System tab show them."""

import importlib.metadata
import platform
from pathlib import Path

import torch
from huggingface_hub import constants

from moss_demo import __version__
from moss_demo.engine.checkpoints import HUB_CHECKPOINTS, TINY, find_checkpoint, is_downloaded
from moss_demo.errors import CheckpointError
from moss_demo.settings import Settings

PACKAGES = (
    "torch",
    "transformers",
    "gradio",
    "soundfile",
    "av",
    "soxr",
    "silero-vad",
    "torchao",
    "gguf",
)


def describe(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return label and value of everything worth knowing; nothing is loaded or downloaded."""
    return (
        ("moss_demo", __version__),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in PACKAGES),
        ("CUDA", torch.version.cuda or "not in this build of torch"),
        *_devices(),
        *_checkpoints(),
        ("default model", settings.model),
        ("longest recording", f"{settings.max_duration_s / 60:g} min"),
        ("Hugging Face cache", _folder(Path(constants.HF_HUB_CACHE))),
        ("compiled kernels", _folder(settings.cache.expanduser())),
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _devices() -> list[tuple[str, str]]:
    rows = [
        ("cpu", f"{platform.processor() or platform.machine()}, {torch.get_num_threads()} threads")
    ]
    for index in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        properties = torch.cuda.get_device_properties(index)
        memory_gib = properties.total_memory / 2**30
        rows.append((f"cuda:{index}", f"{properties.name}, {memory_gib:.0f} GiB"))
    return rows


def _checkpoints() -> list[tuple[str, str]]:
    rows = []
    try:
        rows.append((TINY, str(find_checkpoint(TINY).folder)))
    except CheckpointError as error:
        rows.append((TINY, str(error)))
    for repo, hub in HUB_CHECKPOINTS.items():
        state = "in the cache" if is_downloaded(hub) else "not downloaded"
        rows.append((repo, f"{state} (revision {hub.revision[:12]})"))
    return rows


def _folder(path: Path) -> str:
    return f"{path}{'' if path.is_dir() else ' (not there yet)'}"
