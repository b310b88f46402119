"""Names of checkpoints, where they lie and which layout they have. Loads no weights."""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from safetensors import safe_open

from moss_demo.engine.gguf_file.container import is_gguf, read_gguf
from moss_demo.engine.gguf_file.names import is_this_model
from moss_demo.errors import CheckpointError, name_of

TINY_DIR = Path(__file__).parents[2] / "assets" / "moss-td-tiny"
TINY = "tiny"
SYNTHETIC = "synthetic-0.9b"
AUTO = "auto"


class Layout(StrEnum):
    """Where the weights' names come from."""

    NATIVE = "native"
    """Names of the `transformers` classes."""

    ORIGINAL = "original"
    """Names of the publisher's own code; renamed while loading."""

    GGUF = "gguf"
    """One file of llama.cpp's format; its names are told apart one by one."""

    SYNTHETIC = "synthetic"
    """No files: random weights of the published size."""


@dataclass(frozen=True, slots=True)
class HubCheckpoint:
    """Published weights.

    Attributes:
        repo: repository on the Hugging Face hub.
        revision: commit that is used; a branch name where none could be pinned.
        size_bytes: about what a download moves.
    """

    repo: str
    revision: str
    size_bytes: int


PUBLISHED = HubCheckpoint(
    "OpenMOSS-Team/MOSS-Transcribe-Diarize",
    "704aa4a9c304e8520be88901e0d1960158ef5b15",
    1_817_000_000,
)
PUBLISHED_NATIVE = HubCheckpoint("hf-audio/MOSS-Transcribe-Diarize-HF", "main", 1_817_000_000)
HUB_CHECKPOINTS = {c.repo: c for c in (PUBLISHED, PUBLISHED_NATIVE)}

KNOWN = (AUTO, TINY, *HUB_CHECKPOINTS, SYNTHETIC)
"""Every name that needs no path."""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A checkpoint that can be loaded without a download.

    Attributes:
        name: what it is called beside every result, visitors included: never where it lies.
        layout: how its tensors are named.
        folder: where its files lie, or its one GGUF file; None for synthetic weights.
        revision: commit of a published checkpoint, else "local".
    """

    name: str
    layout: Layout
    folder: Path | None
    revision: str = "local"


class NotDownloadedError(CheckpointError):
    """Published weights are wanted that are not in the cache."""

    def __init__(self, hub: HubCheckpoint) -> None:
        """Name the weights, their size and how to get them."""
        self.hub = hub
        super().__init__(
            f"{hub.repo} ({hub.size_bytes / 1e9:.1f} GB) is not in the Hugging Face cache; "
            f"download it with the button on the page or `python -m moss_demo download {hub.repo}`."
        )


def find_checkpoint(name: str) -> Checkpoint:
    """Find a checkpoint by name or folder; nothing is downloaded.

    Args:
        name: one of `KNOWN`, or the path of a local folder or GGUF file. `auto` is the published
            checkpoint when its weights are in the cache, else `tiny`.

    Raises:
        NotDownloadedError: published weights are not in the cache.
        CheckpointError: there is no such checkpoint, or its files are not those of this model.
    """
    if name == AUTO:
        return _in_cache(PUBLISHED) or find_checkpoint(TINY)
    if name == TINY:
        return _in_folder(TINY, TINY_DIR)
    if name == SYNTHETIC:
        return Checkpoint(SYNTHETIC, Layout.SYNTHETIC, None)
    if name in HUB_CHECKPOINTS:
        cached = _in_cache(HUB_CHECKPOINTS[name])
        if cached is None:
            raise NotDownloadedError(HUB_CHECKPOINTS[name])
        return cached
    folder = Path(name).expanduser()
    if is_gguf(folder):
        return _gguf_file(folder)
    if not folder.is_dir():
        raise CheckpointError(
            Path(name),
            f" is no known checkpoint, no folder and no GGUF file; use one of {', '.join(KNOWN)} "
            "or the path of a checkpoint.",
        )
    return _in_folder(name_of(folder), folder)


def public_name(checkpoint: str) -> str:
    """Return what visitors call a checkpoint that the host names so: never where it lies."""
    return checkpoint if checkpoint in KNOWN else name_of(Path(checkpoint))


def is_downloaded(hub: HubCheckpoint) -> bool:
    """Tell whether published weights can be loaded without a network."""
    return _in_cache(hub) is not None


def _in_cache(hub: HubCheckpoint) -> Checkpoint | None:
    """Return the cached checkpoint, or None unless its weights are complete.

    Every shard that the index names must be there: an interrupted download is not a checkpoint.
    """
    config = try_to_load_from_cache(hub.repo, "config.json", revision=hub.revision)
    if not isinstance(config, str):
        return None
    folder = Path(config).parent
    try:
        return _in_folder(hub.repo, folder, folder.name)
    except CheckpointError:
        return None


def _in_folder(name: str, folder: Path, revision: str = "local") -> Checkpoint:
    keys = _tensor_names(folder)
    if any(key.startswith("model.whisper_encoder.") for key in keys):
        return Checkpoint(name, Layout.ORIGINAL, folder, revision)
    if any(key.startswith("model.audio_tower.") for key in keys):
        return Checkpoint(name, Layout.NATIVE, folder, revision)
    raise CheckpointError(
        folder,
        " holds weights of another model; a MOSS-Transcribe-Diarize checkpoint has tensors under "
        "model.audio_tower or model.whisper_encoder.",
    )


def _gguf_file(path: Path) -> Checkpoint:
    if not is_this_model(read_gguf(path).tensors):
        raise CheckpointError(
            path,
            " holds weights of another model; use a GGUF file of MOSS-Transcribe-Diarize with "
            "encoder, projector and decoder.",
        )
    return Checkpoint(name_of(path), Layout.GGUF, path)


def _tensor_names(folder: Path) -> set[str]:
    """Read the names of a checkpoint's tensors from its headers.

    Raises:
        CheckpointError: a file is missing or damaged; the message names it.
    """
    read_json(folder / "config.json")
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        shards = {folder / str(shard) for shard in read_json(index).get("weight_map", {}).values()}
    else:
        shards = {folder / "model.safetensors"}
    names: set[str] = set()
    for shard in sorted(shards):
        if not shard.is_file():
            raise CheckpointError(
                f"{shard.name} is missing in ",
                folder,
                "; copy the checkpoint again with every file.",
            )
        try:
            with safe_open(shard, framework="pt") as tensors:
                names.update(tensors.keys())
        except Exception as error:  # safetensors raises its own, unnamed kinds
            raise CheckpointError(
                f"{shard.name} in ", folder, " is damaged; copy the checkpoint again."
            ) from error
    return names


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object of a checkpoint.

    Raises:
        CheckpointError: the file is missing or holds no JSON object.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise CheckpointError(
            f"{path.name} is missing in ", path.parent, "; a checkpoint folder needs it."
        ) from error
    except (OSError, ValueError) as error:
        raise CheckpointError(path, " cannot be read; copy the checkpoint again.") from error
    if not isinstance(value, dict):
        raise CheckpointError(path, " holds no JSON object; copy the checkpoint again.")
    return value
