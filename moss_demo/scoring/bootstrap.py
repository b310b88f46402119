"""How far a corpus figure would move with other clips of the same kind: percentile bootstrap.

Clips are drawn with replacement (Efron 1979; Bisani and Ney 2004 for word error rates), and every
rate is a ratio of sums over the drawn clips. The seed is fixed: the same counts give the same
interval. Knows nothing of what is counted.
"""

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1_000
SEED = 20_260_101
MIN_CLIPS = 5
"""With fewer clips an interval would say more about the draw than about the corpus."""

_BLOCK = 50
"""Resamples that are held at once."""

Interval = tuple[float, float]
"""Lower and upper end, 2.5 and 97.5 %."""


def rate_intervals(
    errors: NDArray[np.float64], lengths: NDArray[np.float64]
) -> list[Interval | None]:
    """Return the 95 % interval of each rate, None where it cannot be told.

    Args:
        errors: numerators, shape (clips, rates); 0 where a clip does not count.
        lengths: denominators, likewise.
    """
    clips, rates = errors.shape
    if clips < MIN_CLIPS:
        return [None] * rates
    draw = np.random.default_rng(SEED)
    found = np.empty((RESAMPLES, rates))
    for first in range(0, RESAMPLES, _BLOCK):
        chosen = draw.integers(clips, size=(_BLOCK, clips))
        weights = np.stack([np.bincount(row, minlength=clips) for row in chosen]).astype(np.float64)
        # Not a matrix product: its last bits depend on the number of threads.
        wrong = np.einsum("rc,ck->rk", weights, errors)
        total = np.einsum("rc,ck->rk", weights, lengths)
        found[first : first + _BLOCK] = np.divide(
            wrong, total, out=np.full_like(wrong, np.nan), where=total > 0
        )
    return [_interval(column) for column in found.T]


def _interval(values: NDArray[np.float64]) -> Interval | None:
    known = values[~np.isnan(values)]
    if not known.size:
        return None
    low, high = np.percentile(known, (2.5, 97.5))
    return float(low), float(high)
