"""The reference decode path: `generate` of transformers, token by token. The oracle of any other.

Tokens are pushed to a callback because `generate` owns its loop; `worker.py` turns that into an
iterator.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from transformers import GenerationConfig, StoppingCriteria, StoppingCriteriaList
from transformers.generation.streamers import BaseStreamer

from moss_demo.domain.request import DecodeOptions
from moss_demo.engine.encoding import extractor_log_mel
from moss_demo.engine.loading import Loaded

PushToken = Callable[[int], None]
PushRowToken = Callable[[int, int], None]
IsStopped = Callable[[], bool]


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """One transcript to be decoded.

    Attributes:
        prompt: embeddings of shape (1, prompt tokens, hidden size).
        options: how tokens are chosen.
        max_new_tokens: token budget, within the context.
    """

    prompt: torch.Tensor
    options: DecodeOptions
    max_new_tokens: int


class ReferencePath:
    """`generate` behind the engine; it decodes rows one after the other."""

    def __init__(self, loaded: Loaded) -> None:
        """Take over a loaded model."""
        self._loaded = loaded
        text_config: Any = loaded.model.config.text_config
        self.attention = str(text_config._attn_implementation)
        self.log_mel = extractor_log_mel(loaded.processor.feature_extractor)

    def check(self, options: DecodeOptions) -> None:
        """Accept everything: greedy search and sampling."""

    def decode(self, rows: Sequence[Row], push: PushRowToken, is_stopped: IsStopped) -> None:
        """Decode each row until an end token, its budget or a stop."""
        for number, row in enumerate(rows):
            if not is_stopped():
                generate_tokens(
                    self._loaded,
                    row.prompt,
                    row.options,
                    row.max_new_tokens,
                    partial(push, number),
                    is_stopped,
                )


class _Push(BaseStreamer):
    """Hands every generated token on; the library puts the (empty) prompt first."""

    def __init__(self, push: PushToken) -> None:
        self._push = push

    def put(self, value: torch.Tensor) -> None:
        for token_id in value.flatten().tolist():
            self._push(token_id)

    def end(self) -> None:
        """Nothing is held back."""


class _Stopped(StoppingCriteria):
    """Ends the loop after the step in flight once the caller has lost interest."""

    def __init__(self, is_stopped: IsStopped) -> None:
        self._is_stopped = is_stopped

    def __call__(
        self,
        input_ids: torch.Tensor,
        scores: torch.Tensor,  # noqa: ARG002  # the library passes it by position
        **kwargs: object,  # noqa: ARG002
    ) -> torch.Tensor:
        return torch.full(
            (input_ids.shape[0],), self._is_stopped(), dtype=torch.bool, device=input_ids.device
        )


def end_token_ids(loaded: Loaded) -> frozenset[int]:
    """Return the tokens that end a transcript: those of the checkpoint and of its tokenizer."""
    if loaded.end_ids is not None:
        return loaded.end_ids
    declared = loaded.generation.eos_token_id
    listed = declared if isinstance(declared, list) else [declared]
    return frozenset(i for i in (*listed, loaded.processor.tokenizer.eos_token_id) if i is not None)


@torch.inference_mode()
def embed_prompt(loaded: Loaded, prompt_ids: list[int], audio: torch.Tensor) -> torch.Tensor:
    """Return prompt embeddings with the audio in its place, shape (1, prompt, hidden size)."""
    model = loaded.model
    ids = torch.tensor([prompt_ids], device=model.device)
    embeddings: torch.Tensor = model.get_input_embeddings()(ids)
    is_audio = (ids == loaded.processor.audio_token_id).unsqueeze(-1)
    return embeddings.masked_scatter(is_audio, audio.to(embeddings.dtype))


@torch.inference_mode()
def generate_tokens(
    loaded: Loaded,
    prompt: torch.Tensor,
    options: DecodeOptions,
    max_new_tokens: int,
    push: PushToken,
    is_stopped: IsStopped,
) -> None:
    """Decode until an end token, the budget or a stop.

    Args:
        loaded: model and processor.
        prompt: embeddings of shape (1, prompt, hidden size).
        options: greedy search, or sampling with its temperature, nucleus and seed.
        max_new_tokens: token budget, within the context.
        push: called with each token as it is chosen, the end token included.
        is_stopped: asked after each token.
    """
    loaded.model.generate(
        inputs_embeds=prompt,
        attention_mask=torch.ones(prompt.shape[:2], dtype=torch.long, device=prompt.device),
        generation_config=_generation_config(loaded, options, max_new_tokens),
        streamer=_Push(push),
        stopping_criteria=StoppingCriteriaList([_Stopped(is_stopped)]),
    )


def _generation_config(
    loaded: Loaded, options: DecodeOptions, max_new_tokens: int
) -> GenerationConfig:
    ends = sorted(end_token_ids(loaded))
    common = {
        "max_new_tokens": max_new_tokens,
        "eos_token_id": ends,
        "pad_token_id": loaded.processor.tokenizer.pad_token_id,
    }
    if options.temperature == 0.0:
        return GenerationConfig(do_sample=False, **common)
    torch.manual_seed(options.seed)
    return GenerationConfig(
        do_sample=True,
        temperature=options.temperature,
        top_p=options.top_p,
        top_k=0,
        **common,
    )
