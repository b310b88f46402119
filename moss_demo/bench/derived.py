"""What follows from the raw values of a case. Pure; nothing of it is stored."""

from collections.abc import Sequence
from statistics import fmean, median

from moss_demo.bench.report import PRIMARY, Case, Plan, Quantity, Report, Series
from moss_demo.bench.statistics import Speedup, speedup, sweet_spot

PHASES = (Quantity.FEATURES_S, Quantity.ENCODER_S, Quantity.PREFILL_S, Quantity.DECODE_S)
"""Where a request's time goes, in order."""


def primary(case: Case) -> Series:
    """Return the series that a case is judged by, empty where it has none."""
    quantity = PRIMARY.get(case.plan)
    return () if quantity is None else case.raw.get(quantity, ())


def typical(case: Case, quantity: Quantity) -> float | None:
    """Return the median of a series, or None where it is missing."""
    values = case.raw.get(quantity)
    return median(values) if values else None


def speedup_of(report: Report, case: Case) -> Speedup | None:
    """Return how many times faster a case is than its baseline, None for a baseline."""
    baseline = report.case(case.baseline)
    values = primary(case)
    if baseline is None or not values:
        return None
    unit_s = 1e-3 if PRIMARY[case.plan] is Quantity.CALL_MS else 1.0
    slower_s = unit_s * max(median(values), median(primary(baseline)))
    return speedup(primary(baseline), values, seconds=slower_s)


def rtf(case: Case) -> float | None:
    """Return the real-time factor: median seconds of work by seconds of audio."""
    request_s = typical(case, Quantity.REQUEST_S)
    return None if request_s is None or not case.work.audio_s else request_s / case.work.audio_s


def requests_per_s(case: Case) -> float | None:
    """Return requests a second of one client that sends the next when the last is answered."""
    values = case.raw.get(Quantity.REQUEST_S)
    return 1.0 / fmean(values) if values else None


def achieved_tflops(case: Case) -> float | None:
    """Return the arithmetic rate of an encoder call: its operations by its median time."""
    call_ms, flop = typical(case, Quantity.CALL_MS), case.figures.get("operations_tflop")
    return None if not call_ms or flop is None else flop / (call_ms / 1e3)


def sweet_spots(cases: Sequence[Case]) -> dict[str, str]:
    """Return the name of the best case by way of computing: the smallest batch worth its memory."""
    groups: dict[str, dict[int, Case]] = {}
    for case in cases:
        if case.plan is Plan.BATCH and primary(case):
            key = f"{case.work.clip} {case.variant.precision} {case.variant.decode}"
            groups.setdefault(key, {})[case.work.batch] = case
    found = {}
    for key, sizes in groups.items():
        times_s = {size: median(primary(case)) for size, case in sizes.items()}
        spot = sweet_spot(times_s)
        if spot is not None and len(sizes) > 1:
            found[key] = sizes[spot].name
    return found
