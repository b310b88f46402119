"""A benchmark as the page sees it: wishes, checked, and snapshots at a readable pace."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from moss_demo.bench.clips import read_clips
from moss_demo.bench.events import Progress, advance
from moss_demo.bench.judging import judge
from moss_demo.bench.order import Order, choose_recordings
from moss_demo.bench.report import Plan, Report
from moss_demo.bench.runner import run_benchmark
from moss_demo.engine.checkpoints import SYNTHETIC
from moss_demo.engine.config import EngineConfig, choose_precision
from moss_demo.engine.line import Place
from moss_demo.engine.pool import Waiting
from moss_demo.errors import RequestError
from moss_demo.serving.context import AppContext
from moss_demo.ui.samples import list_samples

FRAME_S = 0.2
"""A view changes about five times a second at most."""

MAX_CLIPS = 4


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a visitor set on the page, unchecked.

    Attributes:
        plans: names of plans.
        samples: labels of built-in recordings.
        uploads: recordings of the visitor's own.
        checkpoint: name of the checkpoint.
        precision: a precision, or `auto`.
        quick: a smoke run.
    """

    plans: Sequence[str]
    samples: Sequence[str]
    uploads: Sequence[str]
    checkpoint: str
    precision: str = "auto"
    quick: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the page shows of a benchmark now.

    Attributes:
        report: what was measured so far.
        progress: how far it is, None before the first part.
        waiting: where it stands in the line, None while the device is ours.
        is_private: whether recordings of the visitor's own are in it.
    """

    report: Report
    progress: Progress | None
    is_private: bool
    waiting: Place | None = None


def make_order(wishes: Wishes, context: AppContext) -> Order:
    """Check every wish and read the recordings.

    Raises:
        RequestError: nothing is chosen, or something that this host does not allow.
        AudioError: a recording cannot be used.
    """
    plans = tuple(plan for plan in Plan if plan.value in wishes.plans)
    if not plans:
        raise RequestError("No plan is chosen; choose at least one.")
    quick = wishes.quick or not context.settings.full_benchmark
    config = _config(wishes, context)
    paths = [sample.path for sample in list_samples() if sample.label in wishes.samples]
    paths += [Path(path) for path in wishes.uploads]
    if config.checkpoint == SYNTHETIC:
        paths = []
    elif not paths:
        raise RequestError("No recording is chosen; choose a sample or upload one.")
    if len(paths) > MAX_CLIPS:
        raise RequestError(f"{len(paths)} recordings are too many; choose at most {MAX_CLIPS}.")
    clips = read_clips(paths, context.settings.max_duration_s)
    recordings = choose_recordings(config, clips, quick=quick)
    return Order(plans, config, recordings, quick, tuple(context.precision_choices()))


def measure(wishes: Wishes, context: AppContext) -> Generator[Snapshot, None, None]:
    """Measure and yield snapshots; closing the iterator stops after the step in flight.

    Raises:
        MossDemoError: a wish cannot be met.
    """
    order = make_order(wishes, context)
    is_private = bool(wishes.uploads) and order.config.checkpoint != SYNTHETIC
    report, progress = Report(order.plans, order.quick), None
    yield Snapshot(report, None, is_private)
    shown_s = 0.0
    with closing(run_benchmark(order, context.pool, judge)) as events:
        for event in events:
            report = advance(report, event)
            if isinstance(event, Waiting):
                yield Snapshot(report, progress, is_private, event.place)
                continue
            if isinstance(event, Progress):
                progress = event
                if event.elapsed_s - shown_s < FRAME_S:
                    continue
                shown_s = event.elapsed_s
            yield Snapshot(report, progress, is_private)


def _config(wishes: Wishes, context: AppContext) -> EngineConfig:
    if wishes.checkpoint == SYNTHETIC and context.settings.full_benchmark:
        precision = choose_precision(wishes.precision, context.device)
        return EngineConfig(SYNTHETIC, context.device, precision)
    return context.engine_config(wishes.checkpoint, wishes.precision)
