"""What a weight format did to a model: which matrices, how many bytes, how large the errors."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from math import inf, isfinite, sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

ROWS_AT_A_TIME = 4_096
"""Rows of a matrix that are held in fp32 at once: the largest table has 151,936."""


@dataclass(frozen=True, slots=True)
class MatrixReport:
    """One matrix before and after.

    Attributes:
        name: its name in the model.
        shape: rows and columns.
        bytes_before: as it was loaded.
        bytes_after: in its format, scales and padding included.
        max_abs_error: largest difference of a weight.
        relative_error: norm of the difference by norm of the matrix (Frobenius).
        is_finite: neither side holds an infinity or a NaN.
    """

    name: str
    shape: tuple[int, ...]
    bytes_before: int
    bytes_after: int
    max_abs_error: float
    relative_error: float
    is_finite: bool


@dataclass(frozen=True, slots=True)
class QuantizationReport:
    """All matrices of a model that have a weight format.

    Attributes:
        weight_format: name of the format.
        in_memory: whether the weights are held in the format, and not rounded through it only.
        matrices: one a matrix, the shared table of embedding and head once.
    """

    weight_format: str
    in_memory: bool
    matrices: tuple[MatrixReport, ...]

    @property
    def bytes_before(self) -> int:
        """Bytes of these matrices as they were loaded."""
        return sum(matrix.bytes_before for matrix in self.matrices)

    @property
    def bytes_after(self) -> int:
        """Bytes of these matrices in the format."""
        return sum(matrix.bytes_after for matrix in self.matrices)

    @property
    def worst(self) -> MatrixReport:
        """The matrix with the largest relative error."""
        return max(self.matrices, key=lambda matrix: matrix.relative_error)

    @property
    def is_finite(self) -> bool:
        """No weight was an infinity or a NaN, before or after."""
        return all(matrix.is_finite for matrix in self.matrices)


def summary_dict(report: QuantizationReport) -> dict[str, Any]:
    """Return what a report says of all matrices together, as JSON values."""
    return {
        "weight_format": report.weight_format,
        "in_memory": report.in_memory,
        "matrix_count": len(report.matrices),
        "bytes_before": report.bytes_before,
        "bytes_after": report.bytes_after,
        "max_abs_error": _finite(max(matrix.max_abs_error for matrix in report.matrices)),
        "max_relative_error": _finite(report.worst.relative_error),
        "worst_matrix": report.worst.name,
        "is_finite": report.is_finite,
    }


def report_dict(report: QuantizationReport) -> dict[str, Any]:
    """Return a report as JSON values: the summary, then every matrix."""
    errors = ("max_abs_error", "relative_error")
    matrices = [
        asdict(matrix) | {name: _finite(getattr(matrix, name)) for name in errors}
        for matrix in report.matrices
    ]
    return summary_dict(report) | {"matrices": matrices}


def _finite(error: float) -> float | None:
    """Write an infinity, which JSON does not know, as null."""
    return error if isfinite(error) else None


def compare_rows(
    name: str, before: Tensor, restored: Iterable[Tensor], bytes_after: int
) -> MatrixReport:
    """Measure a matrix against what its format makes of it, some rows at a time.

    Args:
        name: name of the matrix.
        before: as it was loaded, shape (rows, columns).
        restored: the rows of `row_blocks`, restored from the format.
        bytes_after: bytes in the format.
    """
    largest, error, weight, is_finite = 0.0, 0.0, 0.0, True
    for rows, after in zip(row_blocks(before), restored, strict=True):
        wide, difference = rows.float(), after.float() - rows.float()
        largest = max(largest, float(difference.abs().max()))
        error += float(difference.square().sum())
        weight += float(wide.square().sum())
        is_finite &= bool(difference.isfinite().all())
    return MatrixReport(
        name=name,
        shape=tuple(before.shape),
        bytes_before=before.numel() * before.element_size(),
        bytes_after=bytes_after,
        max_abs_error=largest if is_finite else inf,
        relative_error=inf if not is_finite else sqrt(error / weight) if weight else 0.0,
        is_finite=is_finite,
    )


def row_blocks(matrix: Tensor) -> Iterator[Tensor]:
    """Yield a matrix in blocks of rows."""
    yield from torch.split(matrix, ROWS_AT_A_TIME)


def weight_bytes(model: nn.Module) -> int:
    """Return the bytes that all weights of a model take, each shared one once."""
    return stored_bytes(*model.parameters())


def stored_bytes(*tensors: Tensor) -> int:
    """Return the bytes behind tensors; one in a format itself reports the type it computes in."""
    total = 0
    for tensor in tensors:
        if is_traceable_wrapper_subclass(tensor):
            names, _ = tensor.__tensor_flatten__()
            total += stored_bytes(*(getattr(tensor, name) for name in names))
        else:
            total += tensor.numel() * tensor.element_size()
    return total
