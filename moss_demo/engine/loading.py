"""Turns a checkpoint into a model and a processor. Never runs code that ships with weights.

The publisher's layout differs from the native one in the names of its tensors, in one key of its
configuration and in its processor files; each difference is handled here and nowhere else.
"""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers import (
    GenerationConfig,
    MossTranscribeDiarizeConfig,
    MossTranscribeDiarizeFeatureExtractor,
    MossTranscribeDiarizeForConditionalGeneration,
    MossTranscribeDiarizeProcessor,
    Qwen2Tokenizer,
)

from moss_demo.engine.checkpoints import TINY_DIR, Checkpoint, Layout, read_json
from moss_demo.engine.faults import is_out_of_memory
from moss_demo.engine.gguf_file.model import read_gguf_model
from moss_demo.engine.native_model import ATTENTION, build_model, native_config
from moss_demo.engine.weights.report import QuantizationReport
from moss_demo.errors import CheckpointError

ORIGINAL_TO_NATIVE = {
    r"^model\.whisper_encoder\.": "model.audio_tower.",
    r"^model\.vq_adaptor\.layers\.0\.": "model.multi_modal_projector.linear_1.",
    r"^model\.vq_adaptor\.layers\.2\.": "model.multi_modal_projector.linear_2.",
    r"^model\.vq_adaptor\.layers\.3\.": "model.multi_modal_projector.norm.",
}
"""Tensor names of the publisher's code, as patterns, with what the native classes call them."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model ready to run, with what belongs to it.

    Attributes:
        model: weights on their device, in evaluation mode.
        processor: tokenizer, feature extractor and chat template.
        generation: end and padding tokens.
        end_ids: tokens that end a transcript, or None for those of the checkpoint; synthetic
            weights have `NO_END`, so that a benchmark can force its token counts.
    """

    model: MossTranscribeDiarizeForConditionalGeneration
    processor: MossTranscribeDiarizeProcessor
    generation: GenerationConfig
    end_ids: frozenset[int] | None = None
    quantization: QuantizationReport | None = None


NO_END = frozenset({2**31 - 1})
"""An end that no token has; the library warns of negative ones at every request."""


def load(checkpoint: Checkpoint, dtype: torch.dtype, device: str) -> Loaded:
    """Load a checkpoint onto a device.

    Args:
        checkpoint: what to load.
        dtype: type of every weight.
        device: torch device that holds the weights.

    Raises:
        CheckpointError: a tensor is missing, unknown or of another shape, or a file is unusable.
    """
    transformers.logging.disable_progress_bar()  # its bar would mix with ours
    if checkpoint.folder is None:
        processor = MossTranscribeDiarizeProcessor.from_pretrained(TINY_DIR)
        return Loaded(build_synthetic(dtype, device), processor, GenerationConfig(), NO_END)
    try:
        if checkpoint.layout is Layout.GGUF:
            model, processor = read_gguf_model(checkpoint.folder, dtype)
        else:
            model = _load_model(checkpoint.folder, checkpoint.layout, dtype)
            processor = _load_processor(checkpoint.folder, checkpoint.layout)
    except (OSError, ValueError, KeyError, TypeError, RuntimeError, AttributeError) as error:
        if is_out_of_memory(error) or isinstance(error, torch.AcceleratorError):
            raise
        raise CheckpointError(
            f"{checkpoint.name} cannot be loaded: one of its files is damaged or belongs to "
            f"another model ({type(error).__name__}); copy the checkpoint again."
        ) from error
    processor.tokenizer.model_max_length = sys.maxsize  # lengths are checked by the budget
    generation = model.generation_config or GenerationConfig()
    return Loaded(_on_device(model, device), processor, generation)


def build_synthetic(
    dtype: torch.dtype, device: str
) -> MossTranscribeDiarizeForConditionalGeneration:
    """Build the published architecture with random weights: right for timing, not for words."""
    with torch.device(device):
        model: MossTranscribeDiarizeForConditionalGeneration = (
            MossTranscribeDiarizeForConditionalGeneration._from_config(
                MossTranscribeDiarizeConfig(), dtype=dtype, attn_implementation=ATTENTION
            )
        )
    model.eval()
    return model


def _on_device(
    model: MossTranscribeDiarizeForConditionalGeneration, device: str
) -> MossTranscribeDiarizeForConditionalGeneration:
    torch.nn.Module.to(model, device)
    model.eval()
    return model


def _load_model(
    folder: Path, layout: Layout, dtype: torch.dtype
) -> MossTranscribeDiarizeForConditionalGeneration:
    return build_model(
        folder,
        native_config(read_json(folder / "config.json")),
        dtype,
        pretrained_model_name_or_path=folder,
        key_mapping=ORIGINAL_TO_NATIVE if layout is Layout.ORIGINAL else None,
    )


def _load_processor(folder: Path, layout: Layout) -> MossTranscribeDiarizeProcessor:
    if layout is Layout.NATIVE:
        return MossTranscribeDiarizeProcessor.from_pretrained(folder, local_files_only=True)
    settings = read_json(folder / "processor_config.json")
    template = folder / "chat_template.jinja"
    return MossTranscribeDiarizeProcessor(
        MossTranscribeDiarizeFeatureExtractor.from_pretrained(folder, local_files_only=True),
        Qwen2Tokenizer.from_pretrained(folder, local_files_only=True, padding_side="left"),
        chat_template=template.read_text(encoding="utf-8") if template.is_file() else None,
        audio_tokens_per_second=settings.get("audio_tokens_per_second", 12.5),
        audio_merge_size=settings.get("audio_merge_size", 4),
        time_marker_every_seconds=_time_marker_s(settings),
    )


def _time_marker_s(settings: dict[str, Any]) -> int:
    """Return the stride of time markers in seconds, 0 when the checkpoint has none."""
    if settings.get("enable_time_marker") is False:
        return 0
    stride_s = settings.get("time_marker_every_seconds", 5)
    return int(stride_s) if isinstance(stride_s, (int, float)) else 5
