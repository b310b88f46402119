"""Lets a checkpoint write down many clips at once, for scores. Knows nothing of references."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoProcessor, MossTranscribeDiarizeForConditionalGeneration

TOKENS_PER_S = 20
EXTRA_TOKENS = 64


class Scribe:
    """A checkpoint ready to transcribe, float32, greedy."""

    def __init__(self, checkpoint: Path, device: torch.device) -> None:
        """Load the checkpoint with the classes of transformers alone."""
        self._processor = AutoProcessor.from_pretrained(checkpoint)
        model: Any = MossTranscribeDiarizeForConditionalGeneration.from_pretrained(
            checkpoint, dtype=torch.float32, attn_implementation="sdpa"
        )
        self._model = model.to(device).eval()
        self._device = device

    def write(
        self,
        clips: Sequence[NDArray[np.float32]],
        batch: int = 8,
    ) -> list[tuple[str, bool]]:
        """Return (raw text, whether the model ended it itself) of every clip, in their order."""
        order = sorted(range(len(clips)), key=lambda place: len(clips[place]))
        texts: dict[int, tuple[str, bool]] = {}
        for at in range(0, len(order), batch):
            some = order[at : at + batch]
            for place, text in zip(some, self._batch([clips[i] for i in some]), strict=True):
                texts[place] = text
        return [texts[place] for place in range(len(clips))]

    @torch.inference_mode()
    def _batch(self, clips: Sequence[NDArray[np.float32]]) -> list[tuple[str, bool]]:
        processor = self._processor
        inputs = processor.apply_transcription_request(
            list(clips), processor_kwargs={"return_tensors": "pt", "padding": True}
        ).to(self._device)
        seconds = max(len(clip) for clip in clips) / 16_000
        out = self._model.generate(
            **inputs, do_sample=False, max_new_tokens=int(seconds * TOKENS_PER_S) + EXTRA_TOKENS
        )
        end = processor.tokenizer.eos_token_id
        written = out[:, inputs["input_ids"].shape[1] :]
        return [
            (processor.tokenizer.decode(row, skip_special_tokens=True), bool((row == end).any()))
            for row in written
        ]
