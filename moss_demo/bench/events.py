"""What a benchmark yields while it runs, and the pure fold that turns it into a report."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from moss_demo.bench.report import Case, Environment, Failure, GpuState, Report
from moss_demo.engine.pool import Waiting, Working


@dataclass(frozen=True, slots=True)
class Begun:
    """The device is ours and the first engine is on it."""

    environment: Environment


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the benchmark is.

    Attributes:
        done: share of the expected time, 0 to 1.
        doing: what is measured now.
        elapsed_s: seconds since the start.
        left_s: seconds that are left by what the parts before have taken.
    """

    done: float
    doing: str
    elapsed_s: float
    left_s: float | None


@dataclass(frozen=True, slots=True)
class PeakMeasured:
    """The rate of a large matrix product in a precision."""

    precision: str
    tflops: float


@dataclass(frozen=True, slots=True)
class Ended:
    """Every part was tried."""

    after: GpuState | None
    seconds: float


Event: TypeAlias = Waiting | Working | Begun | Progress | PeakMeasured | Case | Failure | Ended
"""What the runner yields; a measured case and a failure are their own events."""


def advance(report: Report, event: Event) -> Report:
    """Fold one event into the report."""
    match event:
        case Begun():
            return replace(report, environment=event.environment)
        case Case():
            return replace(report, cases=_with_case(report.cases, event))
        case Failure():
            return replace(report, failures=(*report.failures, event))
        case PeakMeasured():
            peaks = report.peak_tflops | {event.precision: event.tflops}
            return replace(report, peak_tflops=peaks)
        case Ended():
            return replace(report, after=event.after, seconds=event.seconds)
        case Progress() | Waiting() | Working():
            return report


def _with_case(cases: tuple[Case, ...], new: Case) -> tuple[Case, ...]:
    """Add a case; one that is known by its name has got more values and takes its place."""
    if any(case.name == new.name for case in cases):
        return tuple(new if case.name == new.name else case for case in cases)
    return (*cases, new)
