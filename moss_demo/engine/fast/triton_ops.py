"""The steps of a decoder layer as Triton kernels. Needs CUDA, or Triton's interpreter to be tested.

Sums, rotations and attention weights are kept in fp32; what is stored has the model's precision.
"""

from typing import Any

import torch
import triton
from torch import Tensor

from moss_demo.engine.fast import attention_kernels, product_kernels
from moss_demo.engine.weights.int8 import matrix_parts, multiply

BLOCK_BYTES = 16_384
"""Keys that a program reads at once: 64 of the published width in bf16, half as many in fp32, so
that the pipelined blocks fit the shared memory of smaller cards too."""

LARGEST_SPLIT_COUNT = 32
WANTED_PROGRAMS = 264
"""Two for each multiprocessor of a Hopper card: enough to keep its memory busy."""

WANTED_MATVEC_PROGRAMS = 512
"""About four for each multiprocessor of a Hopper card, all resident at once."""

TILE_VALUES = 8_192
"""Most values of a matrix that one program holds in registers: 64 for each of 128 threads."""

SILU_BLOCK = 1_024


class TritonOps:
    """`ops.Ops` with one kernel a step, and two for attention.

    Matrices meet a single token in kernels of their own, which also do the norm before and the
    gate behind: a product of one row only reads the matrix, and cuBLAS reads it at half the speed
    of the memory. More rows go to cuBLAS. An 8-bit matrix is read as it is, and widened in
    registers.
    """

    name = "split-kv (triton)"

    def __init__(self, early: bool) -> None:
        """Choose how kernels follow each other.

        Args:
            early: start each kernel of a step while the one before it ends; needs compute
                capability 9.0.
        """
        self._early = early
        self._launch = {"launch_pdl": True} if early else {}

    def add_norm(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta and its RMS norm."""
        width = hidden.shape[-1]
        total, normed = torch.empty_like(hidden), torch.empty_like(hidden)
        product_kernels.add_norm[(hidden.numel() // width,)](
            hidden, delta, weight, total, normed, eps, width, triton.next_power_of_2(width)
        )
        return total, normed

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
        batch, count, all_heads, head_dim = qkv.shape
        keys, values = cache
        kv_heads = keys.shape[2]
        heads = all_heads - 2 * kv_heads
        queries = qkv.new_empty(batch, count, heads, head_dim)
        attention_kernels.rotate_and_store[(batch * count, all_heads)](
            qkv,
            *norms,
            *rotations,
            positions.contiguous(),
            queries,
            keys,
            values,
            eps,
            count,
            keys.shape[1],
            heads,
            kv_heads,
            head_dim // 2,
        )
        return queries

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
        """Do as `rotate_and_store` with one token a row, and attend up to it.

        Each program reads its share of the positions in use. The second kernel joins the shares:
        partial sums are rescaled to a common maximum, as in the online softmax of arXiv
        1805.02867.
        """
        del used  # the kernels read it off the positions
        keys, values = cache
        batch, _, all_heads, head_dim = qkv.shape
        kv_heads = keys.shape[2]
        heads = all_heads - 2 * kv_heads
        wanted = WANTED_PROGRAMS // (batch * kv_heads)
        splits = max(1, min(LARGEST_SPLIT_COUNT, triton.next_power_of_2(wanted + 1) // 2))
        partial = qkv.new_empty(batch, heads, splits, head_dim, dtype=torch.float32)
        largest = partial.new_empty(batch, heads, splits)
        total = torch.empty_like(largest)
        attention_kernels.attend_share[(batch * kv_heads, splits)](
            qkv,
            *norms,
            *rotations,
            positions,
            keys,
            values,
            partial,
            largest,
            total,
            eps,
            head_dim**-0.5,
            keys.shape[1],
            heads,
            kv_heads,
            splits,
            max(16, triton.next_power_of_2(heads // kv_heads)),
            max(16, BLOCK_BYTES // (head_dim * qkv.element_size())),
            head_dim // 2,
            self._early,
            **self._launch,
        )
        out = qkv.new_empty(batch, 1, heads, head_dim)
        attention_kernels.join_shares[(batch * heads,)](
            partial, largest, total, out, splits, head_dim, self._early, **self._launch
        )
        return out

    def linear(self, values: Tensor, matrix: Tensor) -> Tensor:
        """Return values @ matrix.T."""
        outputs, inputs = matrix.shape
        if values.numel() > inputs:
            return multiply(values, matrix)
        out = values.new_empty(*values.shape[:-1], outputs)
        rows, block = _tile(outputs, inputs)
        product_kernels.matvec[(triton.cdiv(outputs, rows),)](
            values,
            *matrix_parts(matrix),
            out,
            outputs,
            inputs,
            rows,
            block,
            self._early,
            **self._launch,
        )
        return out

    def norm_linear(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, matrix: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and `linear` of its RMS norm."""
        if hidden.numel() > matrix.shape[1]:
            total, normed = self.add_norm(hidden, delta, weight, eps)
            return total, multiply(normed, matrix)
        operands = (hidden, delta, weight, *matrix_parts(matrix))
        return self._norm_product(product_kernels.norm_matvec, operands, eps, matrix.shape[0])

    def norm_swiglu(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, gate_up: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and silu(gate) * up of its RMS norm."""
        if hidden.numel() > gate_up.shape[1]:
            total, both = self.norm_linear(hidden, delta, weight, eps, gate_up)
            return total, _silu_mul(both)
        operands = (hidden, delta, weight, *matrix_parts(gate_up))
        return self._norm_product(product_kernels.norm_swiglu, operands, eps, gate_up.shape[0] // 2)

    def _norm_product(
        self,
        kernel: Any,
        operands: tuple[Tensor, Tensor, Tensor, Tensor, Tensor | None],
        eps: float,
        outputs: int,
    ) -> tuple[Tensor, Tensor]:
        hidden, inputs = operands[0], operands[0].shape[-1]
        total, out = torch.empty_like(hidden), hidden.new_empty(*hidden.shape[:-1], outputs)
        rows, block = _tile(outputs, inputs)
        kernel[(triton.cdiv(outputs, rows),)](
            *operands,
            total,
            out,
            eps,
            outputs,
            inputs,
            rows,
            block,
            self._early,
            **self._launch,
        )
        return total, out


def _tile(outputs: int, inputs: int) -> tuple[int, int]:
    """Return rows and columns of a matrix that one program reads: whole rows, all at once."""
    block = triton.next_power_of_2(inputs)
    wanted = triton.next_power_of_2(outputs // WANTED_MATVEC_PROGRAMS + 1) // 2
    return max(1, min(TILE_VALUES // block, wanted)), block


def _silu_mul(gate_up: Tensor) -> Tensor:
    width = gate_up.shape[-1] // 2
    out = gate_up.new_empty(*gate_up.shape[:-1], width)
    grid = (gate_up.numel() // (2 * width), triton.cdiv(width, SILU_BLOCK))
    product_kernels.silu_mul[grid](gate_up, out, width, SILU_BLOCK)
    return out
