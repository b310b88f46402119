"""Decoder weights in 8 bits, one scale a row: torchao's numbers, held in memory as they are.

torchao computes the layers' matrices. The shared table of embedding and head is computed here: for
each lookup torchao restores the whole table, and for each product it widens all of it (0.9 GB and
0.3 GB at the published size), which is more than the format saves.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.engine.weights.matrices import TABLE, decoder_linears, token_table
from moss_demo.engine.weights.packages import torchao
from moss_demo.engine.weights.report import (
    MatrixReport,
    QuantizationReport,
    compare_rows,
    row_blocks,
    stored_bytes,
)

WIDENED_ROWS = 16_384
"""Rows of a matrix that a product widens at once: 32 MB of the published table."""


class Int8Table(nn.Module):
    """Token embeddings in 8 bits; as a module it looks tokens up.

    Attributes:
        weight: int8, shape (vocabulary, hidden).
        scale: fp32, shape (vocabulary, 1).
        dtype: type of what is looked up.
    """

    scale: Tensor

    def __init__(self, weight: Tensor, scale: Tensor, dtype: torch.dtype) -> None:
        """Take over quantized rows."""
        super().__init__()
        self.weight = nn.Parameter(weight, requires_grad=False)
        self.register_buffer("scale", scale)
        self.dtype = dtype

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the embeddings of token ids of any shape, with the hidden size behind it."""
        rows: Tensor = self.weight[tokens] * self.scale[tokens]
        return rows.to(self.dtype)

    def project(self, hidden: Tensor) -> Tensor:
        """Return the logits of hidden states (…, hidden), shape (…, vocabulary)."""
        return _widened_product(hidden, self.weight, self.scale)


class Int8Head(nn.Module):
    """The same table as the last layer of the decoder."""

    def __init__(self, table: Int8Table) -> None:
        """Share a table."""
        super().__init__()
        self.table = table

    def forward(self, hidden: Tensor) -> Tensor:
        """Return logits."""
        return self.table.project(hidden)


@torch.no_grad()
def quantize_to_int8(model: MossTranscribeDiarizeForConditionalGeneration) -> QuantizationReport:
    """Put the decoder's matrices and its table into 8 bits, in place.

    Raises:
        CheckpointError: the head has a matrix of its own.
        RequestError: torchao is not installed.
    """
    table = token_table(model)
    reports = [_quantize_linear(name, linear) for name, linear in decoder_linears(model)]
    rows = _quantized(table.weight.detach())
    reports.append(_report(TABLE, table.weight, rows, stored_bytes(rows.qdata, rows.scale)))
    shared = Int8Table(rows.qdata, rows.scale, table.weight.dtype)
    model.set_input_embeddings(shared)
    model.lm_head = Int8Head(shared)
    return QuantizationReport("int8", in_memory=True, matrices=tuple(reports))


def is_int8(weight: Tensor) -> bool:
    """Tell whether a matrix is one that torchao holds in 8 bits."""
    return hasattr(weight, "qdata")


def matrix_parts(matrix: Tensor) -> tuple[Tensor, Tensor | None]:
    """Return what is held of a matrix: itself, or its 8-bit weights with their scales."""
    parts: Any = matrix
    return (parts.qdata, parts.scale) if is_int8(matrix) else (matrix, None)


def join_int8(linears: Sequence[nn.Linear]) -> Tensor:
    """Join matrices that share an input, row by row; theirs become views of the joined one."""
    parts: list[Any] = [linear.weight for linear in linears]
    dtype = parts[0].dtype
    qdata, scale = (torch.cat([getattr(p, name) for p in parts]) for name in ("qdata", "scale"))
    rows = [linear.out_features for linear in linears]
    views = zip(linears, qdata.split(rows), scale.split(rows), strict=True)
    for linear, its_qdata, its_scale in views:
        its_matrix = _as_matrix(its_qdata, its_scale, dtype)
        linear.weight = nn.Parameter(its_matrix, requires_grad=False)
    return _as_matrix(qdata, scale, dtype)


def head_matrix(head: nn.Module) -> Tensor:
    """Return the matrix of a model's head, in 8 bits or not."""
    if not isinstance(head, Int8Head):
        return head.get_parameter("weight").detach()
    table = head.table
    return _as_matrix(table.weight.detach(), table.scale, table.dtype)


def multiply(values: Tensor, matrix: Tensor) -> Tensor:
    """Return values @ matrix.T; a matrix in 8 bits is widened some rows at a time."""
    weight, scale = matrix_parts(matrix)
    return (
        functional.linear(values, weight)
        if scale is None
        else (_widened_product(values, weight, scale))
    )


def _widened_product(values: Tensor, weight: Tensor, scale: Tensor) -> Tensor:
    pieces = zip(weight.split(WIDENED_ROWS), scale.split(WIDENED_ROWS), strict=True)
    products = [
        functional.linear(values, rows.to(values.dtype)) * factors.flatten().to(values.dtype)
        for rows, factors in pieces
    ]
    return products[0] if len(products) == 1 else torch.cat(products, dim=-1)


def _as_matrix(qdata: Tensor, scale: Tensor, dtype: torch.dtype) -> Tensor:
    matrix: Tensor = torchao().Int8Tensor(qdata, scale, [1, qdata.shape[1]], dtype)
    return matrix


def _quantize_linear(name: str, linear: nn.Linear) -> MatrixReport:
    before = linear.weight.detach()
    # Its own settings of the compiler are for a compiled decoder, and would change the encoder's.
    config = torchao().Int8WeightOnlyConfig(set_inductor_config=False)
    torchao().quantize_(linear, config)
    return _report(name, before, linear.weight, stored_bytes(linear.weight))


def _quantized(matrix: Tensor) -> Any:
    return torchao().Int8Tensor.from_hp(matrix, granularity=torchao().PerRow())


def _report(name: str, before: Tensor, after: Any, bytes_after: int) -> MatrixReport:
    restored: Iterator[Tensor] = (
        weight.float() * scale
        for weight, scale in zip(row_blocks(after.qdata), row_blocks(after.scale), strict=True)
    )
    return compare_rows(name, before.detach(), restored, bytes_after)
