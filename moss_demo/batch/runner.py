"""Works through the parts of a plan: reads ahead, transcribes on the device, measures behind.

Three stages overlap: threads read the recordings of the next batch, the calling thread keeps the
device busy, and one more thread measures the batch before. Memory holds the sound of two batches,
whatever the number of recordings. Knows nothing of where progress is shown.
"""

import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter

from moss_demo.batch.manifest import Entry
from moss_demo.batch.measures import failed_row, finished_row, timing_row
from moss_demo.batch.plan import Part, Plan
from moss_demo.batch.reading import Reader, Recording, Task
from moss_demo.batch.rows import ClipRow, TimingRow
from moss_demo.batch.sources import Sources
from moss_demo.batch.store import Store
from moss_demo.batch.transcriber import Outcome, Transcriber
from moss_demo.domain.request import Request
from moss_demo.domain.transcript import Transcript
from moss_demo.engine.worker import IsStopped, StoppedError
from moss_demo.errors import DeviceMemoryError, ManifestError, MossDemoError, TranscriptError

LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Job:
    """A run as one worker sees it.

    Attributes:
        entries: what is to be transcribed.
        sources: where it lies.
        task: what is asked.
        plan: how the run is divided.
        store: the run's folder.
        transcriber: what transcribes.
        worker: rank of this process; 0 waits for the others and takes over what they leave.
    """

    entries: Sequence[Entry]
    sources: Sources
    task: Task
    plan: Plan
    store: Store
    transcriber: Transcriber
    worker: int = 0


@dataclass(frozen=True, slots=True)
class Answered:
    """Rows of a batch are known; they are kept once their part is written.

    Attributes:
        clips: in the order of the batch.
        timings: of those that were transcribed.
    """

    clips: tuple[ClipRow, ...]
    timings: tuple[TimingRow, ...]


Tell = Callable[[Answered], None]


@dataclass(frozen=True, slots=True)
class _Timed:
    """An outcome, with the batch it came from."""

    outcome: Outcome
    batch_rows: int = 1
    batch_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Answer:
    """All that is measured of an entry; its sound is gone by then."""

    entry: Entry
    reference: Transcript | None
    notes: tuple[str, ...]
    timed: _Timed


def work(job: Job, tell: Tell, is_stopped: IsStopped) -> None:
    """Do every part that nobody else does; the first worker also waits for those of the others.

    Raises:
        StoppedError: the work was given up; finished parts are kept.
        MossDemoError: the device is at fault.
    """
    for waits in (False, True) if job.worker == 0 else (False,):
        for number, part in enumerate(job.plan.parts):
            if job.store.is_done(number):
                continue
            with job.store.claim(number, waits=waits) as ours:
                if ours and not job.store.is_done(number):
                    rows = _do_part(job, number, part, tell, is_stopped)
                    clips = [rows[index][0] for index in range(part.first, part.stop)]
                    timings = [timing for _, (_, timing) in sorted(rows.items()) if timing]
                    job.store.write_part(number, clips, timings)


Rows = dict[int, tuple[ClipRow, TimingRow | None]]
"""Rows of a part by the index of their entry."""


def _do_part(job: Job, number: int, part: Part, tell: Tell, is_stopped: IsStopped) -> Rows:
    rows: Rows = {}

    def measure(batch: Sequence[int], answers: Sequence[_Answer]) -> None:
        found = [_rows(job, number, answer) for answer in answers]
        rows.update(zip(batch, found, strict=True))
        if found:
            tell(Answered(tuple(c for c, _ in found), tuple(t for _, t in found if t is not None)))

    faulty = [index for index in range(part.first, part.stop) if job.entries[index].fault]
    measure(faulty, [_faulty(job.entries[index]) for index in faulty])
    reader = Reader(job.sources, job.task, job.transcriber.prepare)
    batches = [[job.entries[index] for index in batch] for batch in part.batches]
    measurer = ThreadPoolExecutor(1)
    measured: list[Future[None]] = []
    try:
        with closing(reader.read_ahead(batches)) as recordings:
            for batch, read in enumerate(recordings):
                answers = _transcribed(job, (number, batch), read, is_stopped)
                measured.append(measurer.submit(measure, part.batches[batch], answers))
        for one in measured:
            one.result()
    finally:
        measurer.shutdown(cancel_futures=True)
    return rows


def _transcribed(
    job: Job, place: tuple[int, int], recordings: Sequence[Recording], is_stopped: IsStopped
) -> list[_Answer]:
    """Transcribe a batch, in halves when the device runs out of memory."""
    requests = [r.request for r in recordings if r.request is not None]
    most = job.store.rows_that_fit(*place) or max(1, len(requests))
    timed: list[_Timed] | None = None
    while timed is None:
        try:
            timed = [
                one
                for first in range(0, len(requests), most)
                for one in _timed(job, requests[first : first + most], is_stopped)
            ]
        except DeviceMemoryError:
            most = (most + 1) // 2
            job.store.note_rows_that_fit(*place, most)
    outcomes = iter(timed)
    return [
        _faulty(r.entry, r.error)
        if r.request is None
        else _Answer(r.entry, r.reference, r.request.clip.warnings, next(outcomes))
        for r in recordings
    ]


def _timed(job: Job, requests: Sequence[Request], is_stopped: IsStopped) -> list[_Timed]:
    if is_stopped():
        raise StoppedError
    started_at = perf_counter()
    try:
        outcomes = job.transcriber.transcribe(requests, is_stopped)
    except DeviceMemoryError as error:
        if len(requests) > 1:
            raise
        outcomes = [error]
    batch_s = perf_counter() - started_at
    return [_Timed(outcome, len(requests), batch_s) for outcome in outcomes]


def _faulty(entry: Entry, error: MossDemoError | None = None) -> _Answer:
    return _Answer(entry, None, (), _Timed(error or ManifestError(entry.fault or "")))


def _rows(job: Job, part: int, answer: _Answer) -> tuple[ClipRow, TimingRow | None]:
    entry, run, timed = answer.entry, answer.timed.outcome, answer.timed
    if isinstance(run, MossDemoError):
        return failed_row(entry, run), None
    try:
        clip = finished_row(entry, run, answer.reference, job.task.level, answer.notes)
    except Exception as error:  # odd text can break a library's rules; the other rows go on
        LOG.exception("line %d could not be measured", entry.line)
        what = f"The transcript could not be measured ({type(error).__name__})."
        return failed_row(entry, TranscriptError(what)), None
    timing = timing_row(
        entry,
        run,
        batch_rows=timed.batch_rows,
        batch_s=timed.batch_s,
        part=part,
        worker=job.worker,
        engine=job.transcriber.name,
    )
    return clip, timing
