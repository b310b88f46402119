"""What repeated timings allow to say. Pure: numbers in, values out.

Raw values are kept and everything here is derived from them. A ratio is taken over pairs that were
measured next to each other in counter-balanced order (A B B A), so that a slow drift of clocks or
temperature cancels; two blocks of runs would turn such a drift into a difference.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import exp, log, sqrt
from statistics import fmean, median, stdev

import numpy as np
from scipy.special import stdtrit  # type: ignore[import-untyped]  # ships no types

MIN_SAMPLES_P95 = 20
"""With fewer samples a 95th percentile is about the maximum, and biased low."""

MIN_PAIRS_BOOTSTRAP = 10
"""From here the paired bootstrap of the median holds its level; below, the t-interval does."""

MIN_PAIRS = 5
MIN_PAIRS_SUBSECOND = 10
"""Pairs it takes to speak of a difference: short requests are noisier."""

RESAMPLES = 2_000
WIDE_SPREAD = 0.1
"""Interquartile range by median above which a row gets a remark."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a row shows of its values.

    Attributes:
        count: how many there are.
        median: middle value.
        mean: average.
        lowest: least value.
        highest: greatest value.
        p95: 95th percentile, or None below `MIN_SAMPLES_P95` values.
        spread: interquartile range by median, 0 for fewer than 4 values.
    """

    count: int
    median: float
    mean: float
    lowest: float
    highest: float
    p95: float | None
    spread: float

    @property
    def is_wide(self) -> bool:
        """Whether the values scatter so much that the median says little."""
        return self.spread > WIDE_SPREAD


class Claim(StrEnum):
    """What may be said of a ratio."""

    FASTER = "faster"
    SLOWER = "slower"
    NO_DIFFERENCE = "no difference shown"
    TOO_FEW = "too few pairs to tell"


@dataclass(frozen=True, slots=True)
class Speedup:
    """How many times faster a variant is than its baseline.

    Attributes:
        ratio: time of the baseline by time of the variant.
        low: lower end of the 95 % interval; equal to `ratio` for a single pair.
        high: upper end of it.
        pairs: how many pairs it rests on.
        claim: what may be said.
    """

    ratio: float
    low: float
    high: float
    pairs: int
    claim: Claim


def summarize(values: Sequence[float]) -> Summary | None:
    """Return what a row shows of its values, or None when there are none."""
    if not values:
        return None
    middle = median(values)
    quarters = np.percentile(values, (25, 75)) if len(values) > 3 else (middle, middle)
    return Summary(
        count=len(values),
        median=middle,
        mean=fmean(values),
        lowest=min(values),
        highest=max(values),
        p95=float(np.percentile(values, 95)) if len(values) >= MIN_SAMPLES_P95 else None,
        spread=float(quarters[1] - quarters[0]) / middle if middle else 0.0,
    )


def speedup(
    baseline: Sequence[float], variant: Sequence[float], *, seconds: float
) -> Speedup | None:
    """Compare times that were taken in turns; the i-th values of both sides are a pair.

    Args:
        baseline: times of what is compared with; surplus values of the longer side are left out.
        variant: times of what is judged, in the same unit.
        seconds: about how long the slower one takes, which decides how many pairs a claim needs.

    Returns:
        The ratio with its interval, or None when there is no pair of positive times.
    """
    logs = [log(a / b) for a, b in zip(baseline, variant, strict=False) if a > 0 and b > 0]
    if not logs:
        return None
    if len(logs) < 2:
        middle, low, high = logs[0], logs[0], logs[0]
    elif len(logs) < MIN_PAIRS_BOOTSTRAP:
        middle, low, high = _t_interval(logs)
    else:
        middle, low, high = _bootstrap(logs)
    needed = MIN_PAIRS_SUBSECOND if seconds < 1.0 else MIN_PAIRS
    return Speedup(
        exp(middle), exp(low), exp(high), len(logs), _claim(low, high, len(logs), needed)
    )


def sweet_spot(times_s: dict[int, float], tolerance: float = 0.05) -> int | None:
    """Return the smallest batch whose time a clip is within `tolerance` of the best one.

    Args:
        times_s: seconds a clip by batch size.
        tolerance: what a larger batch must gain to be worth its memory.
    """
    if not times_s:
        return None
    best_s = min(times_s.values())
    return min(size for size, time_s in times_s.items() if time_s <= best_s * (1 + tolerance))


def _t_interval(logs: list[float]) -> tuple[float, float, float]:
    middle = fmean(logs)
    half = float(stdtrit(len(logs) - 1, 0.975)) * stdev(logs) / sqrt(len(logs))
    return middle, middle - half, middle + half


def _bootstrap(logs: list[float]) -> tuple[float, float, float]:
    drawn = np.random.default_rng(0).choice(logs, size=(RESAMPLES, len(logs)))
    low, high = np.percentile(np.median(drawn, axis=1), (2.5, 97.5))
    return median(logs), float(low), float(high)


def _claim(low: float, high: float, pairs: int, needed: int) -> Claim:
    if pairs < needed:
        return Claim.TOO_FEW
    if low > 0:
        return Claim.FASTER
    return Claim.SLOWER if high < 0 else Claim.NO_DIFFERENCE
