"""A model of the real layout, small enough to be made anew for every test."""

from collections.abc import Callable

import pytest
import torch
from transformers import (
    MossTranscribeDiarizeConfig,
    MossTranscribeDiarizeForConditionalGeneration,
)

SMALL = {
    "audio_config": {
        "hidden_size": 64,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 128,
    },
    "text_config": {
        "model_type": "qwen3",
        "vocab_size": 16_500,
        "hidden_size": 96,
        "intermediate_size": 288,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 32,
        "tie_word_embeddings": True,
    },
    "audio_token_id": 5,
}


@pytest.fixture
def make_model() -> Callable[[], MossTranscribeDiarizeForConditionalGeneration]:
    """Make the same random model in bf16 as often as it is wanted."""

    def make() -> MossTranscribeDiarizeForConditionalGeneration:
        torch.manual_seed(0)
        model = MossTranscribeDiarizeForConditionalGeneration._from_config(
            MossTranscribeDiarizeConfig(**SMALL), dtype=torch.bfloat16, attn_implementation="sdpa"
        )
        return model.eval()

    return make
