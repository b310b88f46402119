"""Prompt tokens of a request, counted before any model work. Knows nothing of sound or weights."""

from typing import Any

from transformers import MossTranscribeDiarizeProcessor

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset, with_hotwords
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import Layout
from moss_demo.errors import CheckpointError

CHUNK_S = 30
CHUNK_SAMPLES = CHUNK_S * SAMPLE_RATE_HZ
HOP_SAMPLES = 160


def count_audio_tokens(sample_count: int, merge_size: int) -> int:
    """Count the audio positions of a recording in the prompt.

    Each 30 s chunk has ceil(n / 160) mel frames, halved (rounding up) by the encoder's second
    convolution and grouped by `merge_size` (rounding up); chunks are rounded one by one.

    Args:
        sample_count: samples at 16 kHz, at least 1.
        merge_size: encoder frames an audio token.
    """
    whole, rest = divmod(sample_count, CHUNK_SAMPLES)
    lengths = [CHUNK_SAMPLES] * whole + ([rest] if rest else [])
    frames = [-(-length // HOP_SAMPLES) for length in lengths]
    return sum(-(-((frame - 1) // 2 + 1) // merge_size) for frame in frames)


def build_prompt_ids(
    processor: MossTranscribeDiarizeProcessor, layout: Layout, request: Request
) -> list[int]:
    """Render and tokenize the prompt with the audio span expanded.

    Args:
        processor: the checkpoint's own processor; its template decides where text goes.
        layout: an original checkpoint gets the published default prompt as text, and so does a
            GGUF file whose template has none; any other one the default of its template.
        request: clip, prompt and hotwords.

    Returns:
        Token ids; the audio positions hold the audio placeholder token.

    Raises:
        CheckpointError: the template has no place for the audio.
    """
    content: list[dict[str, Any]] = [{"type": "audio"}]
    prompt, hotwords = request.prompt, tuple(_as_text(word) for word in request.hotwords)
    takes_hotwords = "keywords" in (processor.chat_template or "")
    if prompt is None and (
        layout is Layout.ORIGINAL
        or (hotwords and not takes_hotwords)
        or (layout is Layout.GGUF and not _has_own_prompt(processor))
    ):
        prompt = PROMPT_TEXTS[PromptPreset.CHINESE]
    if prompt is not None:
        text = _as_text(prompt)
        text = text if takes_hotwords else with_hotwords(text, hotwords)
        content.append({"type": "text", "text": text})
    if hotwords and takes_hotwords:
        content.append({"type": "keywords", "keywords": list(hotwords)})
    rendered = _render(processor, content)
    before, placeholder, after = rendered.partition(processor.audio_token)
    if not placeholder:
        raise CheckpointError(
            f"The checkpoint's chat template has no {processor.audio_token}; use its own template."
        )
    count = count_audio_tokens(request.clip.samples.size, processor.audio_merge_size)
    span = processor.replace_audio_token({"num_audio_tokens": [count]}, audio_idx=0)
    ids: list[int] = processor.tokenizer(before + span + after)["input_ids"]
    return ids


def _render(processor: MossTranscribeDiarizeProcessor, content: list[dict[str, Any]]) -> str:
    conversation: Any = [{"role": "user", "content": content}]
    rendered: str = processor.apply_chat_template(
        conversation, tokenize=False, add_generation_prompt=True
    )
    return rendered


def _has_own_prompt(processor: MossTranscribeDiarizeProcessor) -> bool:
    """Tell whether a template writes something where no text is given."""
    audio, text = {"type": "audio"}, {"type": "text", "text": "x"}
    return len(_render(processor, [audio])) >= len(_render(processor, [audio, text]))


def _as_text(words: str) -> str:
    """Break what spells a special token, so that a person's text cannot end the turn."""
    return words.replace("<|", "< |")
