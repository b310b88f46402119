"""The configuration of a model that comes without one: read off its tensors and its metadata."""

import re
from collections.abc import Mapping
from typing import Any

from moss_demo.engine.gguf_file.names import DECODER, ENCODER, PROJECTOR
from moss_demo.errors import CheckpointError

WHISPER_HEAD_DIM = 64
"""Width of a head in every size of Whisper; files do not always say it."""

ENCODER_POSITIONS = 1_500
"""Frames of 30 s; the encoder takes no others."""

MOST_LAYERS = 256
"""No file's claim of more is believed."""

DEFAULTS: dict[str, float] = {
    "rope_theta": 1_000_000.0,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 131_072,
}
"""Of the published checkpoint, for files that do not say."""

_KEYS = {
    "encoder_heads": r"(audio|encoder)\.(attention\.head_count|n_heads?)",
    "rope_theta": r"rope\.freq_base|text\.rope_theta",
    "rms_norm_eps": r"attention\.layer_norm_rms_epsilon|text\.rms_eps",
    "max_position_embeddings": r"(qwen3|\w*moss\w*)\.context_length|text\.max_pos",
}
"""Ends of metadata keys, in llama.cpp's form and in those of ports of this model."""

Shapes = Mapping[str, tuple[int, ...]]
"""Shapes by the names of the native classes."""


def derive_config(
    shapes: Shapes, metadata: Mapping[str, Any], audio_token_id: int
) -> dict[str, Any]:
    """Return the values of a native configuration.

    Raises:
        CheckpointError: a tensor that tells a size is missing or has too few dimensions.
    """
    vocabulary, hidden = _shape(shapes, f"{DECODER}embed_tokens.weight", 2)
    width, mels, _ = _shape(shapes, f"{ENCODER}conv1.weight", 3)
    (head_dim,) = _shape(shapes, f"{DECODER}layers.0.self_attn.q_norm.weight", 1)
    queries, _ = _shape(shapes, f"{DECODER}layers.0.self_attn.q_proj.weight", 2)
    keys, _ = _shape(shapes, f"{DECODER}layers.0.self_attn.k_proj.weight", 2)
    joined = _shape(shapes, f"{PROJECTOR}linear_1.weight", 2)[1]
    positions, _ = _shape(shapes, f"{ENCODER}embed_positions.weight", 2)
    if positions != ENCODER_POSITIONS or joined % width:
        raise _other_model(f"{ENCODER}embed_positions or {PROJECTOR}linear_1")
    heads = find_number(metadata, "encoder_heads", width // WHISPER_HEAD_DIM)
    return {
        "audio_token_id": audio_token_id,
        "audio_merge_size": joined // width,
        "tie_word_embeddings": True,
        "audio_config": {
            "hidden_size": width,
            "num_hidden_layers": _layers(shapes, ENCODER),
            "num_attention_heads": int(heads),
            "intermediate_size": _shape(shapes, f"{ENCODER}layers.0.fc1.weight", 2)[0],
            "max_source_positions": positions,
            "num_mel_bins": mels,
        },
        "text_config": {
            "model_type": "qwen3",
            "vocab_size": vocabulary,
            "hidden_size": hidden,
            "intermediate_size": _shape(shapes, f"{DECODER}layers.0.mlp.gate_proj.weight", 2)[0],
            "num_hidden_layers": _layers(shapes, DECODER),
            "num_attention_heads": queries // head_dim,
            "num_key_value_heads": keys // head_dim,
            "head_dim": head_dim,
            "rms_norm_eps": find_number(metadata, "rms_norm_eps", DEFAULTS["rms_norm_eps"]),
            "max_position_embeddings": int(
                find_number(
                    metadata, "max_position_embeddings", DEFAULTS["max_position_embeddings"]
                )
            ),
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": find_number(metadata, "rope_theta", DEFAULTS["rope_theta"]),
            },
            "tie_word_embeddings": True,
        },
    }


def mel_bands(shapes: Shapes) -> int:
    """Return the mel bands of the encoder.

    Raises:
        CheckpointError: its first convolution is missing.
    """
    return _shape(shapes, f"{ENCODER}conv1.weight", 3)[1]


def find_number(metadata: Mapping[str, Any], name: str, default: float) -> float:
    """Return the first positive number whose key ends as `name` is written somewhere."""
    for key, value in metadata.items():
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
        if is_number and re.search(rf"(?:^|\.)(?:{_KEYS[name]})$", key):
            number: float = value
            return number
    return default


def _shape(shapes: Shapes, name: str, dimensions: int) -> tuple[int, ...]:
    shape = shapes.get(name, ())
    if len(shape) != dimensions:
        raise _other_model(name)
    return shape


def _layers(shapes: Shapes, part: str) -> int:
    pattern = rf"{re.escape(part)}layers\.(\d+)"
    numbers = {int(found[1]) for name in shapes if (found := re.match(pattern, name))}
    if numbers != set(range(len(numbers))) or len(numbers) > MOST_LAYERS:
        raise _other_model(f"{part}layers")
    return len(numbers)


def _other_model(name: str) -> CheckpointError:
    return CheckpointError(
        f"The file does not hold this model: {name} is missing or has another shape; use a "
        "complete file of MOSS-Transcribe-Diarize."
    )
