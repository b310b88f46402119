"""The steps of a decoder layer as tensor operations: on a CPU, without Triton, and as oracle."""

import torch
from torch import Tensor
from torch.nn import functional

from moss_demo.engine.weights.int8 import multiply


class PlainOps:
    """`ops.Ops` with nothing but torch; sums and rotations in fp32 as in the reference path."""

    name = "sdpa"

    def add_norm(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta and its RMS norm."""
        total = hidden + delta
        return total, rms_norm(total, weight, eps)

    def rotate_and_store(
        self,
        qkv: Tensor,
        norms: tuple[Tensor, Tensor],
        eps: float,
        rotations: tuple[Tensor, Tensor],
        positions: Tensor,
        cache: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Norm and rotate queries and keys, write keys and values, return the queries."""
        keys, values = cache
        kv_heads = keys.shape[2]
        heads = qkv.shape[2] - 2 * kv_heads
        q, k, v = qkv.split([heads, kv_heads, kv_heads], dim=2)
        cosines, sines = (table[positions].unsqueeze(2) for table in rotations)
        rows = torch.arange(qkv.shape[0], device=qkv.device).unsqueeze(1)
        keys[rows, positions] = _rotate(rms_norm(k, norms[1], eps), cosines, sines)
        values[rows, positions] = v
        return _rotate(rms_norm(q, norms[0], eps), cosines, sines)

    def attend(
        self,
        qkv: Tensor,
        norms: tuple[Tensor, Tensor],
        eps: float,
        rotations: tuple[Tensor, Tensor],
        positions: Tensor,
        cache: tuple[Tensor, Tensor],
        used: int,
    ) -> Tensor:
        """Do as `rotate_and_store` with one token a row, and attend up to it."""
        queries = self.rotate_and_store(qkv, norms, eps, rotations, positions, cache)
        keys, values = (tensor[:, :used].transpose(1, 2) for tensor in cache)
        seen = torch.arange(used, device=queries.device) <= positions[:, :, None]
        group = queries.shape[2] // keys.shape[1]
        # The query heads of one key head stand in line as if they were tokens: keys and values are
        # then read once and not repeated in memory.
        lined = queries.transpose(1, 2).unflatten(1, (keys.shape[1], group)).squeeze(3)
        out = functional.scaled_dot_product_attention(
            lined, keys, values, attn_mask=seen.unsqueeze(1).expand(-1, 1, group, -1)
        )
        return out.flatten(1, 2).unsqueeze(1)

    def linear(self, values: Tensor, matrix: Tensor) -> Tensor:
        """Return values @ matrix.T."""
        return multiply(values, matrix)

    def norm_linear(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, matrix: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and `linear` of its RMS norm."""
        total, normed = self.add_norm(hidden, delta, weight, eps)
        return total, multiply(normed, matrix)

    def norm_swiglu(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, gate_up: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and silu(gate) * up of its RMS norm."""
        total, both = self.norm_linear(hidden, delta, weight, eps, gate_up)
        gate, up = both.chunk(2, dim=-1)
        return total, functional.silu(gate) * up


def rms_norm(values: Tensor, weight: Tensor, eps: float) -> Tensor:
    """Divide by the root mean square over the last axis in fp32 (arXiv 1910.07467)."""
    wide = values.float()
    normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + eps)
    return weight * normed.to(values.dtype)


def _rotate(values: Tensor, cosines: Tensor, sines: Tensor) -> Tensor:
    first, second = values.float().chunk(2, dim=-1)
    turned = (first * cosines - second * sines, second * cosines + first * sines)
    return torch.cat(turned, dim=-1).to(values.dtype)
