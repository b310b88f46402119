"""Pure presenters of a benchmark: what the page says about an order and a report."""

from moss_demo.bench.events import Progress
from moss_demo.bench.report import Plan, Report
from moss_demo.domain.figures import clock
from moss_demo.ui.data_panels import BarState

PLAN_CHOICES = (
    ("Encoder alone", Plan.ENCODER.value),
    ("End to end", Plan.E2E.value),
    ("Precisions", Plan.PRECISION.value),
    ("Batches", Plan.BATCH.value),
    ("Memory", Plan.MEMORY.value),
)
IDLE = (
    "Measures this server's device: choose plans and recordings, then press Measure. Below is the "
    "newest report that is kept here."
)
NOTHING_KEPT = "Choose plans and recordings, then press Measure: no report is kept here yet."
QUICK_ONLY = "This host allows quick runs only."
STOPPED_EARLY = "Stopped before anything was measured."
NOT_SHARED = "It holds recordings of your own, so it stays in this session."


def running_line(report: Report) -> str:
    """Say how much has been measured so far."""
    return f"Measuring · {_count(len(report.cases), 'row')} so far{_failed(report)}"


def ended_line(report: Report) -> str:
    """Say how a benchmark ended."""
    rows = _count(len(report.cases), "row")
    if report.seconds is None:
        return f"Stopped: {rows} measured until then"
    return f"Measured {rows} in {clock(report.seconds)}{_failed(report)}"


def bar_state(progress: Progress) -> BarState:
    """Return what the bar shows; the time left is rounded as a person would."""
    left = "" if progress.left_s is None else f"about {_rounded(progress.left_s)} left"
    return BarState(done=progress.done, doing=progress.doing, left=left)


def failure_rows(report: Report) -> list[dict[str, str]]:
    """List what could not be measured, and why."""
    return [
        {"kind": "not measured", "message": f"{failure.what}: {failure.message}"}
        for failure in report.failures
    ]


def _failed(report: Report) -> str:
    return f" · {_count(len(report.failures), 'part')} failed" if report.failures else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _rounded(seconds: float) -> str:
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5))} s"
    return f"{round(seconds / 60)} min"
