"""The library's model made from weights of any source, complete or not at all."""

from pathlib import Path
from typing import Any

import torch
from transformers import (
    MossTranscribeDiarizeConfig,
    MossTranscribeDiarizeForConditionalGeneration,
)

from moss_demo.errors import CheckpointError

ATTENTION = "sdpa"
"""Passed explicitly: left to itself the library may fall back to an attention whose memory grows
with the square of the length."""

DERIVED_KEYS = ("adaptor_input_dim", "auto_map", "architectures")
"""Keys of the publisher's configuration that the native one derives or must not obey."""


def native_config(values: dict[str, Any]) -> MossTranscribeDiarizeConfig:
    """Make a configuration of what `config.json` holds in either layout."""
    kept = {key: value for key, value in values.items() if key not in DERIVED_KEYS}
    return MossTranscribeDiarizeConfig.from_dict(kept)


def build_model(
    path: Path, config: MossTranscribeDiarizeConfig, dtype: torch.dtype, **source: Any
) -> MossTranscribeDiarizeForConditionalGeneration:
    """Build a model on the CPU and fill it.

    Args:
        path: where the weights are from, for messages.
        config: sizes.
        dtype: type of every weight.
        source: arguments of `from_pretrained` that say where weights are.

    Raises:
        CheckpointError: a tensor is missing, unknown or of another shape.
    """
    answer: Any = MossTranscribeDiarizeForConditionalGeneration.from_pretrained(
        config=config,
        dtype=dtype,
        attn_implementation=ATTENTION,
        output_loading_info=True,
        local_files_only=True,
        use_safetensors=True,
        **source,
    )
    model: MossTranscribeDiarizeForConditionalGeneration
    model, report = answer
    _refuse_partial_load(path, report)
    return model


def _refuse_partial_load(path: Path, report: dict[str, Any]) -> None:
    """Fail when any tensor was left random, unused or cut; the library itself only prints that."""
    for kind in ("missing_keys", "unexpected_keys", "mismatched_keys"):
        names = sorted(str(name) for name in report.get(kind, ()))
        if names:
            raise CheckpointError(
                path,
                f" does not hold this model: {len(names)} {kind.replace('_', ' ')} "
                f"(first: {names[0]}); use a complete checkpoint of MOSS-Transcribe-Diarize.",
            )
