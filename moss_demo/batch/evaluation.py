"""One evaluation from its wish to its tables, as a stream of events for whoever shows it."""

from collections.abc import Generator
from dataclasses import dataclass
from typing import TypeAlias

from moss_demo.batch.opening import Evaluation, open_plan
from moss_demo.batch.plan import Plan
from moss_demo.batch.report import Report
from moss_demo.batch.runner import Answered, Job, work
from moss_demo.batch.store import Store
from moss_demo.batch.tables import write_tables
from moss_demo.batch.transcriber import LocalTranscriber, RemoteTranscriber, Transcriber
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.line import Ticket
from moss_demo.engine.pool import EnginePool, Preparing, Working
from moss_demo.engine.worker import Emit, IsStopped, stream_from_worker
from moss_demo.settings import RemoteServer


@dataclass(frozen=True, slots=True)
class Opened:
    """The plan is known.

    Attributes:
        clips: rows of the run.
        done: of these, rows that an earlier run has answered.
        batch_rows: most recordings of a batch.
        engine: what transcribes.
    """

    clips: int
    done: int
    batch_rows: int
    engine: str


@dataclass(frozen=True, slots=True)
class Finished:
    """Every row is answered and the tables are written.

    Attributes:
        report: what is to be said about the run.
    """

    report: Report


EvaluationEvent: TypeAlias = Opened | Answered | Finished

AnyEvent: TypeAlias = EvaluationEvent | Preparing | Working
"""An event of a run, of what comes before it, or of nothing new."""


def evaluate(
    wanted: Evaluation,
    transcriber: Transcriber,
    emit: Emit[EvaluationEvent],
    is_stopped: IsStopped,
) -> None:
    """Do this worker's share of a run; the first worker writes the tables when all is done.

    Raises:
        StoppedError: the work was given up; finished parts are kept and can be resumed.
        MossDemoError: the folder or the device is at fault.
    """
    plan = open_plan(wanted, transcriber)
    store = Store(wanted.folder)
    done = answered_rows(store, plan)
    emit(Opened(len(wanted.entries), done, plan.limits.rows, transcriber.name))
    job = Job(
        wanted.entries, wanted.sources, wanted.task, plan, store, transcriber, wanted.worker
    )  # fmt: skip
    work(job, emit, is_stopped)
    if wanted.worker == 0:
        emit(Finished(write_tables(store, plan)))


def evaluate_here(
    wanted: Evaluation, pool: EnginePool, config: EngineConfig, ticket: Ticket | None = None
) -> Generator[AnyEvent, None, None]:
    """Evaluate with an engine of this process; closing the iterator stops after the step in flight.

    Args:
        wanted: what is to be evaluated.
        pool: where the engine comes from; its device is ours until the run ends.
        config: the engine.
        ticket: a place in the pool's line, or None to stand at its end.

    Raises:
        MossDemoError: see `evaluate`, or the engine cannot be had.
    """

    def work(emit: Emit[AnyEvent], is_stopped: IsStopped) -> None:
        with pool.borrow(config, emit, is_stopped, ticket=ticket) as engine:
            evaluate(wanted, LocalTranscriber(engine), emit, is_stopped)

    return stream_from_worker(work, idle=Working())


def evaluate_there(
    wanted: Evaluation, server: RemoteServer, model: str | None = None
) -> Generator[AnyEvent, None, None]:
    """Evaluate with an engine elsewhere, `wanted.batch_rows` requests under way at a time.

    Raises:
        MossDemoError: see `evaluate`.
    """
    transcriber = RemoteTranscriber(server, model, wanted.batch_rows)

    def work(emit: Emit[AnyEvent], is_stopped: IsStopped) -> None:
        evaluate(wanted, transcriber, emit, is_stopped)

    return stream_from_worker(work, idle=Working())


def answered_rows(store: Store, plan: Plan) -> int:
    """Count the rows of finished parts, whoever finished them."""
    return sum(
        part.stop - part.first for number, part in enumerate(plan.parts) if store.is_done(number)
    )
