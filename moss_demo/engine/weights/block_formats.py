"""GGUF's block types as formats of the decoder's matrices, rounded through and computed in bf16.

No kernel here computes with blocks: what a type does to a transcript can be judged, what it would
gain cannot. The package gguf packs Q8_0 and Q4_0 and unpacks all three.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.engine.config import Precision
from moss_demo.engine.weights.matrices import TABLE, decoder_linears, token_table
from moss_demo.engine.weights.packages import gguf
from moss_demo.engine.weights.q4_k import quantize_q4_k
from moss_demo.engine.weights.report import (
    MatrixReport,
    QuantizationReport,
    compare_rows,
    row_blocks,
)


@torch.no_grad()
def round_through(
    model: MossTranscribeDiarizeForConditionalGeneration, precision: Precision, device: str
) -> QuantizationReport:
    """Replace the decoder's matrices and its table by what a block type makes of them.

    Args:
        model: changed in place.
        precision: one of `NUMERICS_ONLY`.
        device: where Q4_K's search runs.

    Raises:
        CheckpointError: the head has a matrix of its own.
    """
    matrices = [(name, linear.weight) for name, linear in decoder_linears(model)]
    matrices.append((TABLE, token_table(model).weight))
    reports = [_round_matrix(name, weight.detach(), precision, device) for name, weight in matrices]
    return QuantizationReport(precision.value, in_memory=False, matrices=tuple(reports))


def _round_matrix(name: str, weight: Tensor, precision: Precision, device: str) -> MatrixReport:
    before = weight.clone()

    def restored() -> Iterator[Tensor]:
        for old, target in zip(row_blocks(before), row_blocks(weight), strict=True):
            yield target.copy_(_restore(_pack(old, precision, device), precision, old.shape[1]))

    return compare_rows(name, before, restored(), _packed_bytes(before, precision))


def _pack(rows: Tensor, precision: Precision, device: str) -> np.ndarray:
    """Pack rows, padded with zeros to whole blocks as no GGUF file would hold them.

    A narrow model's rows are no multiple of 256; its own weights get what they get in whole blocks.
    """
    block, _ = _block(precision)
    padded = functional.pad(rows.float(), (0, -rows.shape[1] % block))
    if precision is Precision.Q4_K:
        return quantize_q4_k(padded.to(device)).cpu().numpy()
    with np.errstate(all="ignore"):  # what overflows is reported as not finite
        packed: np.ndarray = gguf().quantize(padded.numpy(), _type(precision))
    return packed


def _restore(packed: np.ndarray, precision: Precision, columns: int) -> Tensor:
    with np.errstate(all="ignore"):
        return torch.from_numpy(gguf().dequantize(packed, _type(precision)))[:, :columns]


def _packed_bytes(matrix: Tensor, precision: Precision) -> int:
    block, block_bytes = _block(precision)
    rows, columns = matrix.shape
    return int(rows * -(-columns // block) * block_bytes)


def _type(precision: Precision) -> Any:
    return gguf().GGMLQuantizationType[precision.name]


def _block(precision: Precision) -> tuple[int, int]:
    """Return the weights of a block and its bytes."""
    weights, size_bytes = gguf().GGML_QUANT_SIZES[_type(precision)]
    return int(weights), int(size_bytes)
