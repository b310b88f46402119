"""From a GGUF file to a model: names, types and shapes become those of the native classes."""

import math
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import (
    GenerationConfig,
    MossTranscribeDiarizeConfig,
    MossTranscribeDiarizeProcessor,
)
from transformers import MossTranscribeDiarizeForConditionalGeneration as Model

from moss_demo.engine.checkpoints import read_json
from moss_demo.engine.gguf_file.container import GgufFile, read_gguf
from moss_demo.engine.gguf_file.names import HEAD, IGNORED, native_name
from moss_demo.engine.gguf_file.shape import derive_config, mel_bands
from moss_demo.engine.gguf_file.words import AUDIO, read_processor
from moss_demo.engine.native_model import build_model, native_config
from moss_demo.engine.weights.matrices import TABLE
from moss_demo.errors import CheckpointError


def read_gguf_model(path: Path, dtype: torch.dtype) -> tuple[Model, MossTranscribeDiarizeProcessor]:
    """Read a model and its processor from one file.

    Args:
        path: the file.
        dtype: type of every weight, whatever the file holds.

    Raises:
        CheckpointError: the file is damaged, incomplete or of another model.
    """
    file = read_gguf(path)
    entries = _by_native_name(file)
    shapes = {name: _squeezed(file.tensors[key].shape) for name, key in entries.items()}
    processor = read_processor(path, file.metadata, mel_bands(shapes))
    tokenizer = processor.tokenizer
    config = _config_beside(path) or native_config(
        derive_config(shapes, file.metadata, tokenizer.convert_tokens_to_ids(AUDIO))
    )
    state = {name: _tensor(file, key, dtype) for name, key in entries.items()}
    _drop_tied_head(path, state)
    source = {"pretrained_model_name_or_path": None, "state_dict": state}
    model = build_model(path, config, dtype, **source)
    model.generation_config = GenerationConfig(
        eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    return model, processor


def _by_native_name(file: GgufFile) -> dict[str, str]:
    """Return the file's name of each native tensor."""
    entries: dict[str, str] = {}
    for name in file.tensors:
        native = native_name(name)
        if name in IGNORED:
            continue
        if native is None or native in entries:
            raise CheckpointError(
                file.path,
                f" holds {name[:80]!r}, which is no tensor of this model or one too many; use a "
                "file of MOSS-Transcribe-Diarize.",
            )
        entries[native] = name
    return entries


def _squeezed(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Drop sizes of 1 that converters add to biases; a convolution keeps its three."""
    return shape if len(shape) != 2 or math.prod(shape) != max(shape) else (max(shape),)


def _tensor(file: GgufFile, key: str, dtype: torch.dtype) -> Tensor:
    values = torch.from_numpy(file.read(key)).to(dtype)
    return values.reshape(_squeezed(file.tensors[key].shape)).clone()


def _config_beside(path: Path) -> MossTranscribeDiarizeConfig | None:
    """Return the configuration beside a file, if it is one of this model."""
    beside = path.parent / "config.json"
    if not beside.is_file():
        return None
    values: dict[str, Any] = read_json(beside)
    return native_config(values) if values.get("model_type") == "moss_transcribe_diarize" else None


def _drop_tied_head(path: Path, state: dict[str, Tensor]) -> None:
    """Take away a head that repeats the embedding, as some converters write it.

    Raises:
        CheckpointError: it is another matrix, and this model has none of its own.
    """
    head, table = state.pop(HEAD, None), state.get(f"{TABLE}.weight")
    if head is not None and (table is None or not torch.equal(head, table)):
        raise CheckpointError(
            path,
            " holds a head that is not its embedding; use a file of MOSS-Transcribe-Diarize.",
        )
