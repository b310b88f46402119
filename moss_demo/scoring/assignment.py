"""The one-to-one assignment of names that wins most. Knows nothing of what is being won."""

from collections.abc import Hashable, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment  # type: ignore[import-untyped]

Name = TypeVar("Name", bound=Hashable)


def assign(
    gains: NDArray[np.int64], rows: Sequence[Name], columns: Sequence[Name]
) -> list[tuple[int, int]]:
    """Pair rows with columns so that the sum of gains is largest (Kuhn 1955).

    Args:
        gains: shape (rows, columns), each at least 0.
        rows: a name for each row.
        columns: a name for each column; equal names are preferred where gains tie.

    Returns:
        Pairs of indices in row order, without those that gain nothing.
    """
    if not rows or not columns:
        return []
    column_of = {name: index for index, name in enumerate(columns)}
    weights = gains * (min(len(rows), len(columns)) + 1)
    for row, name in enumerate(rows):
        if name in column_of:
            weights[row, column_of[name]] += 1
    pairs = zip(*linear_sum_assignment(weights, maximize=True), strict=True)
    return [(int(row), int(column)) for row, column in pairs if gains[row, column] > 0]
