"""The matrices that a weight format is applied to: the decoder's, and the table of its tokens."""

from collections.abc import Iterator
from typing import Any

from torch import nn
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.errors import CheckpointError

DECODER = "model.language_model"
TABLE = f"{DECODER}.embed_tokens"
"""The table that looks tokens up and, as the head, tells how likely each is."""


def decoder_linears(
    model: MossTranscribeDiarizeForConditionalGeneration,
) -> Iterator[tuple[str, nn.Linear]]:
    """Yield the name and the module of every matrix of the decoder's layers."""
    for name, module in model.get_submodule(DECODER).named_modules():
        if isinstance(module, nn.Linear):
            yield f"{DECODER}.{name}", module


def token_table(model: MossTranscribeDiarizeForConditionalGeneration) -> nn.Embedding:
    """Return the table that embedding and head share.

    Raises:
        CheckpointError: the head has a matrix of its own.
    """
    table: Any = model.get_submodule(TABLE)
    if model.lm_head.weight is not table.weight:
        raise CheckpointError(
            "This checkpoint's head is not its embedding, which no weight format here knows; "
            "choose fp32, bf16 or fp16."
        )
    shared: nn.Embedding = table
    return shared
