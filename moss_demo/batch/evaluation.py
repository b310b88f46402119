"""One evaluation from its wish to its tables, as a stream of events for whoever shows it."""

from dataclasses import dataclass

from moss_demo.batch.opening import Evaluation, open_plan
from moss_demo.batch.plan import Plan
from moss_demo.batch.report import Report
from moss_demo.batch.runner import Answered, Job, work
from moss_demo.batch.store import Store
from moss_demo.batch.tables import write_tables
from moss_demo.batch.transcriber import Transcriber
from moss_demo.engine.worker import Emit, IsStopped


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


EvaluationEvent = Opened | Answered | Finished


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


def answered_rows(store: Store, plan: Plan) -> int:
    """Count the rows of finished parts, whoever finished them."""
    return sum(
        part.stop - part.first for number, part in enumerate(plan.parts) if store.is_done(number)
    )
