"""Tokenizer, prompt template and audio settings of a GGUF file: its own, or those beside it."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer
from transformers import (
    MossTranscribeDiarizeFeatureExtractor,
    MossTranscribeDiarizeProcessor,
    PreTrainedTokenizerFast,
    Qwen2Tokenizer,
)

from moss_demo.engine.checkpoints import read_json
from moss_demo.errors import CheckpointError

AUDIO = "<|audio_pad|>"
NAMES = {"eos_token": "<|im_end|>", "pad_token": "<|endoftext|>", "padding_side": "left"}
"""Roles of tokens, which no list tells."""

TEMPLATE = (
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{%- for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' }}"
    "{%- for part in message['content'] %}"
    "{%- if part['type'] == 'audio' %}"
    "{{ '<|audio_start|><|audio_pad|><|audio_end|>\n' }}"
    "{%- elif part['type'] == 'text' %}{{ part['text'] }}{%- endif %}"
    "{%- endfor %}{{ '<|im_end|>\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{%- endif %}"
)
"""The published prompt, for files that carry no template."""

_SPECIAL = re.compile(r"<\|[^|<>]+\|>")


def read_processor(
    path: Path, metadata: Mapping[str, Any], mels: int
) -> MossTranscribeDiarizeProcessor:
    """Make the processor of a file.

    Args:
        path: the file; what it does not carry is read from its folder.
        metadata: its metadata.
        mels: mel bands of its encoder.

    Raises:
        CheckpointError: no tokenizer is found, or one that lacks the audio token.
    """
    try:
        tokenizer = _tokenizer(path, metadata)
        processor = MossTranscribeDiarizeProcessor(
            MossTranscribeDiarizeFeatureExtractor(feature_size=mels),
            tokenizer,
            chat_template=_template(path, metadata),
            time_marker_every_seconds=_marker_stride_s(path, metadata),
        )
        trial: Any = [{"role": "user", "content": [{"type": "audio"}]}]
        processor.apply_chat_template(trial)
    except CheckpointError:
        raise
    except Exception as error:  # the libraries behind raise nothing narrower
        raise CheckpointError(
            "The tokenizer or the prompt template of ", path, " is damaged; copy the file again."
        ) from error
    if tokenizer.convert_tokens_to_ids(AUDIO) in (None, tokenizer.unk_token_id):
        raise CheckpointError(
            "The tokenizer of ", path, f" has no {AUDIO}; use a file of this model."
        )
    return processor


def _tokenizer(path: Path, metadata: Mapping[str, Any]) -> PreTrainedTokenizerFast:
    whole, beside = metadata.get("tokenizer.huggingface.json"), path.parent / "tokenizer.json"
    if isinstance(whole, str):
        return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_str(whole), **NAMES)
    tokens, merges = (_texts(metadata, kind) for kind in ("tokens", "merges"))
    if tokens:
        return _qwen2_tokenizer(tokens, merges)
    if beside.is_file():
        return PreTrainedTokenizerFast(tokenizer_object=Tokenizer.from_file(str(beside)), **NAMES)
    raise CheckpointError(
        path,
        " carries no tokenizer; put the checkpoint's tokenizer.json into the same folder.",
    )


def _qwen2_tokenizer(tokens: list[str], merges: list[str]) -> PreTrainedTokenizerFast:
    """Build the published tokenizer from llama.cpp's lists."""
    pairs: Any = [tuple(merge.split(" ")) for merge in merges]
    vocabulary = {token: number for number, token in enumerate(tokens) if token}
    return Qwen2Tokenizer(
        vocab=vocabulary,
        merges=pairs,
        extra_special_tokens=[token for token in vocabulary if _SPECIAL.fullmatch(token)],
        **NAMES,
    )


def _texts(metadata: Mapping[str, Any], kind: str) -> list[str]:
    found = metadata.get(f"tokenizer.ggml.{kind}", metadata.get(f"tokenizer.{kind}"))
    return [str(entry) for entry in found] if isinstance(found, list) else []


def _template(path: Path, metadata: Mapping[str, Any]) -> str:
    own, beside = metadata.get("tokenizer.chat_template"), path.parent / "chat_template.jinja"
    if isinstance(own, str):
        return own
    return beside.read_text(encoding="utf-8") if beside.is_file() else TEMPLATE


def _marker_stride_s(path: Path, metadata: Mapping[str, Any]) -> int:
    """Return the stride of time markers in seconds, 0 for none and the published 5 when unsaid."""
    beside = path.parent / "processor_config.json"
    values = read_json(beside) if beside.is_file() else metadata
    said = {key.rpartition(".")[2]: value for key, value in values.items()}
    stride_s = said.get("time_marker_every_seconds")
    if said.get("enable_time_marker") is False:
        return 0
    return int(stride_s) if isinstance(stride_s, int | float) else 5
