"""What this installation is made of, for everybody and for the host alone."""

import importlib.metadata
import platform
from pathlib import Path

import torch
from huggingface_hub import constants

from moss_demo import __version__
from moss_demo.engine.checkpoints import (
    HUB_CHECKPOINTS,
    KNOWN,
    TINY,
    TINY_DIR,
    find_checkpoint,
    is_downloaded,
    public_name,
)
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
    """Return label and value of what visitors may know; nothing is loaded or downloaded."""
    return (
        ("moss_demo", __version__),
        ("Python", platform.python_version()),
        *((name, _version(name)) for name in PACKAGES),
        ("CUDA", torch.version.cuda or "not in this build of torch"),
        *_devices(),
        *_checkpoints(),
        ("default model", public_name(settings.model)),
        ("longest recording", f"{settings.max_duration_s / 60:g} min"),
    )


def describe_places(settings: Settings) -> tuple[tuple[str, str], ...]:
    """Return label and place of what lies on the disk, which is the host's to know."""
    places = {
        TINY: TINY_DIR,
        "Hugging Face cache": Path(constants.HF_HUB_CACHE),
        "compiled kernels": settings.cache.expanduser(),
    }
    own = {} if settings.model in KNOWN else {"default model": Path(settings.model)}
    return tuple((label, _folder(path)) for label, path in (places | own).items())


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
        find_checkpoint(TINY)
        rows.append((TINY, "ships with the project"))
    except CheckpointError as error:
        rows.append((TINY, str(error)))
    for repo, hub in HUB_CHECKPOINTS.items():
        state = "in the cache" if is_downloaded(hub) else "not downloaded"
        rows.append((repo, f"{state} (revision {hub.revision[:12]})"))
    return rows


def _folder(path: Path) -> str:
    return f"{path}{'' if path.exists() else ' (not there yet)'}"
