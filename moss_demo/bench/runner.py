"""Runs an order part by part; a part that fails costs its own rows only."""

import textwrap
from collections.abc import Callable, Generator

from moss_demo.bench.batches import BatchSweep
from moss_demo.bench.duels import duel_parts
from moss_demo.bench.encoder_plan import encoder_parts
from moss_demo.bench.events import Ended, Event
from moss_demo.bench.memory_plan import memory_parts
from moss_demo.bench.order import Order
from moss_demo.bench.precisions import Judge, PrecisionSweep
from moss_demo.bench.report import Failure, Plan
from moss_demo.bench.workbench import Part, Workbench
from moss_demo.engine.pool import EnginePool, Working
from moss_demo.engine.worker import Emit, IsStopped, StoppedError, stream_from_worker
from moss_demo.errors import MossDemoError, without_folders


def run_benchmark(order: Order, pool: EnginePool, judge: Judge) -> Generator[Event, None, None]:
    """Measure; closing the iterator stops after the step in flight.

    Args:
        order: what is asked for.
        pool: where engines come from; its lock keeps one user of the device at a time.
        judge: compares the transcripts of two precisions.

    Yields:
        `Waiting` while others are in front, `Begun`, then progress, cases and failures as they
        come, `Working` where there is no news, and `Ended`.
    """

    def work(emit: Emit[Event], is_stopped: IsStopped) -> None:
        bench = Workbench(order, pool, emit, is_stopped)
        parts = [part for plan in order.plans for part in _parts(order, plan, judge)]
        total_s = sum(part.expected_s for part in parts)
        done_s = 0.0
        for part in parts:
            bench.begin(part, done_s, total_s)
            _attempt(bench, part)
            done_s += part.expected_s
        emit(Ended(None if bench.gpu is None else bench.gpu.state(), bench.seconds()))

    return stream_from_worker(work, idle=Working())


def _parts(order: Order, plan: Plan, judge: Judge) -> list[Part]:
    makers: dict[Plan, Callable[[], list[Part]]] = {
        Plan.ENCODER: lambda: encoder_parts(order),
        Plan.E2E: lambda: duel_parts(order),
        Plan.PRECISION: lambda: PrecisionSweep(order, judge).parts(),
        Plan.BATCH: lambda: BatchSweep(order).parts(),
        Plan.MEMORY: lambda: memory_parts(order),
    }
    return makers[plan]()


def _attempt(bench: Workbench, part: Part) -> None:
    """Do a part; whatever it raises is said in the report and the next part goes on."""
    try:
        part.measure(bench)
    except StoppedError:
        raise
    except MossDemoError as error:
        bench.emit(Failure(part.plan, part.label, _reason(error)))


def _reason(error: MossDemoError) -> str:
    """Return the message with what lies behind it: here somebody wants to know."""
    cause = error.__cause__
    if cause is None:
        return str(error)
    details = textwrap.shorten(without_folders(str(cause)), 240, placeholder="…")
    return f"{error} ({type(cause).__name__}: {details})"
