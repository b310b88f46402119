"""Work of a fixed size for an engine, and the least memory it can take."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from moss_demo.domain.audio import SAMPLE_RATE_HZ, AudioClip
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.checkpoints import Layout
from moss_demo.engine.loading import Loaded
from moss_demo.engine.prompting import build_prompt_ids

FILLER = "a "


@dataclass(frozen=True, slots=True)
class Workload:
    """A clip with a prompt and a transcript of given lengths.

    Attributes:
        duration_s: length of the clip.
        prompt_tokens: least length of the prompt; its text is stretched until it is reached.
        tokens: token budget; it is used up, since the engine of a benchmark knows no end.
    """

    duration_s: float
    prompt_tokens: int
    tokens: int

    def request(self, loaded: Loaded, seed: int = 0) -> Request:
        """Make the request: noise, and a text that fills the prompt."""
        count = round(self.duration_s * SAMPLE_RATE_HZ)
        noise = np.random.default_rng(seed).normal(0, 0.1, count).astype(np.float32)
        clip, options = AudioClip("noise", noise), DecodeOptions(self.tokens)
        words = 1
        while True:
            request = Request(clip, FILLER * words, options=options, speech_gate=False)
            ids = build_prompt_ids(loaded.processor, Layout.SYNTHETIC, request)
            if len(ids) >= self.prompt_tokens:
                return request
            words += max(1, (self.prompt_tokens - len(ids)) // 4)


def decode_bytes(loaded: Loaded, positions: int) -> int:
    """Return the memory of keys and values of `positions` positions."""
    config: Any = loaded.model.config.text_config
    width = int(config.num_key_value_heads) * int(config.head_dim)
    layers = int(config.num_hidden_layers)
    return 2 * layers * width * positions * int(loaded.model.dtype.itemsize)
