"""Statistics of timings, against values worked out by hand and by SciPy."""

from math import exp, log

import numpy as np
import pytest
from scipy import stats

from moss_demo.bench.statistics import Claim, speedup, summarize, sweet_spot


def test_a_summary_keeps_to_what_the_count_allows() -> None:
    """Median, mean and extremes from any count; a 95th percentile from twenty values on."""
    few = summarize([3.0, 1.0, 2.0])
    assert few is not None
    assert (few.count, few.median, few.mean, few.lowest, few.highest) == (3, 2.0, 2.0, 1.0, 3.0)
    assert few.p95 is None
    many = summarize([float(n) for n in range(1, 21)])
    assert many is not None
    assert many.p95 == pytest.approx(19.05)
    assert summarize([]) is None


def test_scattered_values_are_called_so() -> None:
    """A row whose quartiles lie far apart gets a remark."""
    calm, wild = summarize([1.0, 1.01, 1.02, 1.0]), summarize([1.0, 1.5, 2.0, 1.1])
    assert calm is not None
    assert wild is not None
    assert (calm.is_wide, wild.is_wide) == (False, True)


def test_few_pairs_get_the_t_interval_of_the_mean_log_ratio() -> None:
    """The interval equals SciPy's for the logarithms of the ratios."""
    baseline, variant = [2.0, 2.2, 2.1, 2.3, 2.0], [1.0, 1.05, 1.08, 1.1, 1.02]
    logs = np.log(np.divide(baseline, variant))
    low, high = stats.t.interval(0.95, 4, loc=logs.mean(), scale=stats.sem(logs))
    found = speedup(baseline, variant, seconds=2.0)
    assert found is not None
    assert found.ratio == pytest.approx(exp(logs.mean()))
    assert (log(found.low), log(found.high)) == pytest.approx((low, high))
    assert found.claim is Claim.FASTER


def test_many_pairs_get_the_bootstrap_of_the_median() -> None:
    """The interval holds the true ratio, is narrow, and is the same each time."""
    noise = np.random.default_rng(1)
    baseline = 2.0 * noise.lognormal(0, 0.02, 20)
    variant = 1.0 * noise.lognormal(0, 0.02, 20)
    found = speedup(baseline.tolist(), variant.tolist(), seconds=0.5)
    assert found is not None
    assert found.low < 2.0 < found.high
    assert found.high - found.low < 0.1
    assert found == speedup(baseline.tolist(), variant.tolist(), seconds=0.5)


@pytest.mark.parametrize(
    ("baseline", "variant", "seconds", "claim"),
    [
        ([1.0, 1.1, 0.9, 1.0, 1.05], [1.02, 1.0, 1.0, 0.95, 1.0], 1.0, Claim.NO_DIFFERENCE),
        ([1.0] * 5, [1.2, 1.21, 1.2, 1.19, 1.2], 1.0, Claim.SLOWER),
        ([1.0] * 4, [0.5] * 4, 1.0, Claim.TOO_FEW),
        ([0.1] * 9, [0.05] * 9, 0.1, Claim.TOO_FEW),
        ([0.1] * 10, [0.05] * 10, 0.1, Claim.FASTER),
        ([1.0], [0.5], 1.0, Claim.TOO_FEW),
    ],
)
def test_a_difference_is_claimed_only_when_it_is_shown(
    baseline: list[float], variant: list[float], seconds: float, claim: Claim
) -> None:
    """An interval that holds 1, or too few pairs for requests of that length, claims nothing."""
    found = speedup(baseline, variant, seconds=seconds)
    assert found is not None
    assert found.claim is claim


def test_nothing_is_compared_with_nothing() -> None:
    """Without pairs there is no ratio."""
    assert speedup([], [1.0], seconds=1.0) is None


def test_the_sweet_spot_is_where_more_gains_nothing() -> None:
    """On the figures of a published sweep it is the size that its author chose."""
    assert sweet_spot({32: 0.998, 64: 0.868, 128: 0.83}) == 64
    assert sweet_spot({1: 1.0, 8: 0.5}) == 8
    assert sweet_spot({}) is None
