"""How many recordings fit on a device together: estimates that err on the large side."""

from pathlib import Path
from typing import Any

import torch

from moss_demo.engine.budget import (
    EXTRA_TOKENS,
    TOKENS_PER_S,
    expected_positions,
    expected_prompt_tokens,
)
from moss_demo.engine.fast.cache import bucket
from moss_demo.engine.fast.decoder import BLOCK_TOKENS
from moss_demo.engine.loading import Loaded

UNKNOWN_FREE_BYTES = 2 << 30
"""Assumed where the system does not say how much memory is free."""

_MEMINFO = Path("/proc/meminfo")


def free_bytes(device: str) -> int:
    """Return the memory of a device that nobody uses."""
    if device != "cpu":
        free, _ = torch.cuda.mem_get_info(device)
        return free
    try:
        lines = _MEMINFO.read_text(encoding="ascii").splitlines()
    except OSError:
        return UNKNOWN_FREE_BYTES
    sizes = dict(line.split(":", 1) for line in lines)
    kilobytes, *_ = sizes.get("MemAvailable", "0 kB").split()
    return int(kilobytes) * 1024 or UNKNOWN_FREE_BYTES


def row_bytes(loaded: Loaded, duration_s: float) -> int:
    """Estimate what one recording of a batch takes beyond the weights.

    Keys and values of every layer for the whole cache, those of one layer once more by the head,
    the activations of a prompt block and the logits.
    """
    config: Any = loaded.model.config.text_config
    item_bytes = loaded.model.dtype.itemsize
    budget = int(duration_s * TOKENS_PER_S) + EXTRA_TOKENS
    positions = bucket(expected_positions(expected_prompt_tokens(duration_s), budget))
    layer = 2 * config.head_dim * positions
    cache = layer * (config.num_key_value_heads * config.num_hidden_layers)
    by_head = layer * config.num_attention_heads
    activations = BLOCK_TOKENS * (8 * config.hidden_size + 3 * config.intermediate_size)
    return int(item_bytes * (cache + by_head + activations) + 8 * config.vocab_size)
