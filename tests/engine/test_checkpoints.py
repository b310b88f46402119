"""Checkpoints are found by name or folder, and what is not one is told apart with a remedy."""

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from moss_demo.engine import checkpoints
from moss_demo.engine.checkpoints import Layout, NotDownloadedError, find_checkpoint
from moss_demo.engine.loading import build_synthetic
from moss_demo.errors import CheckpointError


def test_the_embedded_checkpoint_is_found_by_name() -> None:
    """It needs no path, no cache and no network."""
    found = find_checkpoint("tiny")
    assert (found.layout, found.revision) == (Layout.NATIVE, "local")


def test_its_files_are_small_enough_to_be_committed() -> None:
    """No shard reaches 10 MB and the weights stay within 40 MB."""
    sizes = [p.stat().st_size for p in checkpoints.TINY_DIR.glob("*.safetensors")]
    assert max(sizes) < 10_000_000
    assert sum(sizes) <= 40_000_000


def test_auto_is_tiny_while_the_published_weights_are_not_cached() -> None:
    """Nothing is downloaded unasked."""
    assert find_checkpoint("auto").name == "tiny"


def test_auto_is_the_published_checkpoint_once_its_weights_are_cached(
    hub_cache: Path,
) -> None:
    """A Space that preloads the weights uses them without being told."""
    _fill_cache(hub_cache)
    found = find_checkpoint("auto")
    assert found.name == checkpoints.PUBLISHED.repo
    assert found.revision == checkpoints.PUBLISHED.revision


def test_an_interrupted_download_is_no_checkpoint(hub_cache: Path) -> None:
    """A missing shard means that the weights are not there yet."""
    snapshot = _fill_cache(hub_cache)
    (snapshot / "model-00002-of-00002.safetensors").unlink()
    assert find_checkpoint("auto").name == "tiny"


def test_published_weights_that_are_not_cached_name_their_size_and_the_command() -> None:
    """The message says how much there is to download and how."""
    with pytest.raises(NotDownloadedError, match=r"1\.8 GB.*moss_demo download OpenMOSS"):
        find_checkpoint("OpenMOSS-Team/MOSS-Transcribe-Diarize")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "config.json is missing"),
        ({"config.json": b"{}"}, "model.safetensors is missing"),
        ({"config.json": b"no json"}, "cannot be read"),
        ({"config.json": b"[]"}, "no JSON object"),
        ({"config.json": b"{}", "model.safetensors": b"\0" * 99}, "damaged"),
    ],
)
def test_a_folder_that_is_no_checkpoint_says_what_it_lacks(
    tmp_path: Path, files: dict[str, bytes], message: str
) -> None:
    """The file at fault is named."""
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    with pytest.raises(CheckpointError, match=message):
        find_checkpoint(str(tmp_path))


def test_weights_of_another_model_are_refused(tmp_path: Path) -> None:
    """A folder of some other network is told apart by its tensors."""
    (tmp_path / "config.json").write_text("{}")
    save_file({"model.layers.0.weight": torch.zeros(2)}, tmp_path / "model.safetensors")
    with pytest.raises(CheckpointError, match="another model"):
        find_checkpoint(str(tmp_path))


def test_an_unknown_name_lists_the_known_ones() -> None:
    """A typo is answered with the choices."""
    with pytest.raises(CheckpointError, match=r"tinny is no known.*auto, tiny, OpenMOSS"):
        find_checkpoint("tinny")


def test_the_synthetic_checkpoint_has_the_published_size() -> None:
    """Random weights stand in for the published ones in timing: same tensors, same count."""
    model = build_synthetic(torch.bfloat16, "meta")
    assert sum(weight.numel() for weight in model.parameters()) == 908_513_280
    assert find_checkpoint("synthetic-0.9b").layout is Layout.SYNTHETIC


@pytest.fixture
def hub_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty Hugging Face cache for one test."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    monkeypatch.setattr("huggingface_hub.file_download.constants.HF_HUB_CACHE", str(tmp_path))
    return tmp_path


def _fill_cache(cache: Path) -> Path:
    """Lay the published repository out in the cache, with two tiny shards."""
    hub = checkpoints.PUBLISHED
    snapshot = cache / f"models--{hub.repo.replace('/', '--')}" / "snapshots" / hub.revision
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    shards = {
        "model.whisper_encoder.conv1.bias": "model-00001-of-00002.safetensors",
        "model.language_model.norm.weight": "model-00002-of-00002.safetensors",
    }
    for tensor, shard in shards.items():
        save_file({tensor: torch.zeros(2)}, snapshot / shard)
    (snapshot / "model.safetensors.index.json").write_text(json.dumps({"weight_map": shards}))
    return snapshot
