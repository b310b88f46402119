"""The decoder's forward pass over a static cache: prompt blocks and single steps.

Knows nothing of requests, of stopping or of graphs.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional
from torch.nn.attention.bias import causal_lower_right

from moss_demo.engine.fast.cache import KvCache
from moss_demo.engine.fast.ops import Ops
from moss_demo.engine.fast.weights import DecoderWeights
from moss_demo.engine.weights.int8 import is_int8

BLOCK_TOKENS = 1_024
"""Prompt positions a pass: activations stay bounded whatever the length of the recording, and no
mask is larger than a block by what stands before it."""

Norms = tuple[Tensor, Tensor]
LayerCache = tuple[Tensor, Tensor]
Attend = Callable[[Tensor, Norms, LayerCache], Tensor]


class Decoder:
    """Weights and operations; the cache is handed in."""

    def __init__(self, weights: DecoderWeights, ops: Ops) -> None:
        """Take over joined weights."""
        self.weights = weights
        self.ops = ops

    @torch.inference_mode()
    def prefill(self, prompts: list[Tensor], cache: KvCache) -> Tensor:
        """Write prompts into the cache block by block.

        Rows shorter than the longest are padded behind their end; what that writes is overwritten
        by the row's own tokens before it is ever read.

        Args:
            prompts: embeddings of shape (prompt tokens, hidden), one a row of the cache.
            cache: at least as long as the longest prompt.

        Returns:
            Logits after the last token of each prompt, shape (rows, vocabulary).
        """
        lengths = [prompt.shape[0] for prompt in prompts]
        last = self.weights.norm.new_empty(len(prompts), self.weights.shape.hidden)
        for start in range(0, max(lengths), BLOCK_TOKENS):
            stop = min(start + BLOCK_TOKENS, max(lengths))
            block = torch.stack([_slice(prompt, start, stop) for prompt in prompts])
            hidden = self._prefill_block(block, start, cache)
            for row, length in enumerate(lengths):
                if start < length <= stop:
                    last[row] = hidden[row, length - 1 - start]
        return self._logits(last)

    def step(self, tokens: Tensor, positions: Tensor, cache: KvCache, used: int) -> Tensor:
        """Decode one token a row.

        Args:
            tokens: the newest token of each row, shape (rows, 1).
            positions: where it stands, shape (rows, 1).
            cache: holds everything before it.
            used: more than the largest position.

        Returns:
            Logits of the next token, shape (rows, vocabulary).
        """
        eps, rotations = self.weights.shape.eps, (cache.cosines, cache.sines)

        def attend(qkv: Tensor, norms: Norms, layer: LayerCache) -> Tensor:
            return self.ops.attend(qkv, norms, eps, rotations, positions, layer, used)

        # The zeros first: kernels that start early must follow a kernel, and this is none.
        delta = self.weights.norm.new_zeros(*tokens.shape, self.weights.shape.hidden)
        hidden = self._layers(self.weights.embed(tokens), delta, cache, attend)
        return self._logits(hidden[:, -1])

    def _logits(self, hidden: Tensor) -> Tensor:
        head = self.weights.head
        return self.ops.linear(hidden, head) if is_int8(head) else functional.linear(hidden, head)

    def _prefill_block(self, block: Tensor, start: int, cache: KvCache) -> Tensor:
        stop = start + block.shape[1]
        positions = torch.arange(start, stop, device=block.device).expand(block.shape[0], -1)
        eps, rotations = self.weights.shape.eps, (cache.cosines, cache.sines)

        def attend(qkv: Tensor, norms: Norms, layer: LayerCache) -> Tensor:
            queries = self.ops.rotate_and_store(qkv, norms, eps, rotations, positions, layer)
            keys, values = (tensor[:, :stop] for tensor in layer)
            return attend_block(queries, keys, values)

        return self._layers(block, torch.zeros_like(block), cache, attend)

    def _layers(self, hidden: Tensor, delta: Tensor, cache: KvCache, attend: Attend) -> Tensor:
        weights, ops, eps = self.weights, self.ops, self.weights.shape.eps
        for layer, keys, values in zip(weights.layers, cache.keys, cache.values, strict=True):
            hidden, qkv = ops.norm_linear(hidden, delta, layer.input_norm, eps, layer.qkv)
            qkv = qkv.unflatten(-1, (-1, weights.shape.head_dim))
            mixed = attend(qkv, (layer.q_norm, layer.k_norm), (keys, values))
            delta = ops.linear(mixed.flatten(2), layer.output)
            hidden, active = ops.norm_swiglu(hidden, delta, layer.mlp_norm, eps, layer.gate_up)
            delta = ops.linear(active, layer.down)
        return ops.add_norm(hidden, delta, weights.norm, eps)[1]


def attend_block(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
    """Attend causally from the last positions of a sequence to all of it.

    Args:
        queries: (batch, T, heads, head_dim), the last T positions.
        keys: (batch, positions, key-value heads, head_dim).
        values: the same.

    Returns:
        (batch, T, heads, head_dim).
    """
    group = queries.shape[2] // keys.shape[2]
    keys, values = (t.repeat_interleave(group, dim=2).transpose(1, 2) for t in (keys, values))
    count, total = queries.shape[1], keys.shape[2]
    if queries.device.type == "cuda" and queries.dtype != torch.float32:
        mask: Tensor = causal_lower_right(count, total)  # no mask in memory: flash attention
    else:
        ones = torch.ones(count, total, dtype=torch.bool, device=queries.device)
        mask = ones.tril(total - count)
    out = functional.scaled_dot_product_attention(
        queries.transpose(1, 2), keys, values, attn_mask=mask
    )
    return out.transpose(1, 2)


def _slice(prompt: Tensor, start: int, stop: int) -> Tensor:
    part = prompt[start:stop]
    return functional.pad(part, (0, 0, 0, stop - start - part.shape[0]))
