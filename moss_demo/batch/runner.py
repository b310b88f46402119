"""Works through the parts of a plan: reads ahead, transcribes on the device, measures behind.

Three stages overlap: threads read the recordings of the next batch, the calling thread keeps the
device busy, and one more thread measures the batch before. Memory holds two batches, whatever the
number of recordings. Knows nothing of where progress is shown.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from time import perf_counter

from moss_demo.batch.manifest import Entry
from moss_demo.batch.measures import failed_row, finished_row
from moss_demo.batch.plan import Part, Plan
from moss_demo.batch.rows import ClipRow, TimingRow
from moss_demo.batch.sources import Sources
from moss_demo.batch.store import Store
from moss_demo.batch.transcriber import Outcome, Transcriber
from moss_demo.domain.events import PhaseTimes, Run
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.domain.transcript import Transcript
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.worker import IsStopped, StoppedError
from moss_demo.errors import DeviceMemoryError, MossDemoError
from moss_demo.scoring.normalize import Level

READERS = 4
"""Threads that read recordings and look for speech in them."""


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every recording.

    Attributes:
        prompt: instruction text, or None for the checkpoint's own.
        hotwords: names and terms.
        options: how to decode.
        speech_gate: answer recordings without speech at once.
        level: what counts as the same word.
        max_duration_s: longer recordings are refused, None for no limit.
    """

    prompt: str | None = None
    hotwords: tuple[str, ...] = ()
    options: DecodeOptions = DecodeOptions()  # noqa: RUF009  # a frozen value
    speech_gate: bool = True
    level: Level = Level.LANGUAGE
    max_duration_s: float | None = None


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
        clips: in the order of the manifest within the batch.
        timings: of those that were transcribed.
    """

    clips: tuple[ClipRow, ...]
    timings: tuple[TimingRow, ...]


Tell = Callable[[Answered], None]


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """An entry whose recording was read, or why it cannot be used."""

    entry: Entry
    request: Request | None = None
    reference: Transcript | None = None
    error: MossDemoError | None = None


@dataclass(frozen=True, slots=True)
class _Timed:
    """An outcome, with the batch it came from."""

    outcome: Outcome
    batch_rows: int
    batch_s: float


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
                    _do_part(job, number, part, tell, is_stopped)


def _do_part(job: Job, number: int, part: Part, tell: Tell, is_stopped: IsStopped) -> None:
    clips: dict[int, ClipRow] = {}
    timings: dict[int, TimingRow] = {}

    def measure(indices: Sequence[int], read: Sequence[_Read], timed: Sequence[_Timed]) -> None:
        done = iter(timed)
        rows = [_rows(job, number, r, None if r.request is None else next(done)) for r in read]
        clips.update(zip(indices, (clip for clip, _ in rows), strict=True))
        timings.update((i, t) for i, (_, t) in zip(indices, rows, strict=True) if t is not None)
        tell(Answered(tuple(c for c, _ in rows), tuple(t for _, t in rows if t is not None)))

    faulty = [i for i in range(part.first, part.stop) if job.entries[i].fault]
    measure(faulty, [_Read(job.entries[i]) for i in faulty], ())
    readers, measurer = ThreadPoolExecutor(READERS), ThreadPoolExecutor(1)
    measured: list[Future[None]] = []
    try:
        for batch, read in enumerate(_read_ahead(job, part.batches, readers)):
            requests = [r.request for r in read if r.request is not None]
            timed = _transcribe(job, (number, batch), requests, is_stopped)
            measured.append(measurer.submit(measure, part.batches[batch], read, timed))
        for one in measured:
            one.result()
    finally:
        for pool in (readers, measurer):
            pool.shutdown(cancel_futures=True)
    order = range(part.first, part.stop)
    job.store.write_part(
        number, [clips[i] for i in order], [timings[i] for i in order if i in timings]
    )


def _read_ahead(
    job: Job, batches: Sequence[Sequence[int]], readers: ThreadPoolExecutor
) -> Iterator[list[_Read]]:
    """Yield each batch once it is read; the next one is being read meanwhile."""
    following: list[Future[_Read]] = []
    for batch in (*batches, ()):
        current = following
        following = [readers.submit(_read, job, index) for index in batch]
        if current:
            yield [future.result() for future in current]


def _read(job: Job, index: int) -> _Read:
    """Read a recording and its reference; what is wrong with either becomes its row."""
    entry, task = job.entries[index], job.task
    try:
        reference = job.sources.reference(entry)
        path = job.sources.audio(entry)
        clip = read_audio(path, max_duration_s=task.max_duration_s)
        request = Request(
            clip, task.prompt, task.hotwords, task.options, speech_gate=task.speech_gate
        )
        return _Read(entry, job.transcriber.prepare(request), reference)
    except MossDemoError as error:
        return _Read(entry, error=error)


def _transcribe(
    job: Job, place: tuple[int, int], requests: Sequence[Request], is_stopped: IsStopped
) -> list[_Timed]:
    """Transcribe a batch, in halves when the device runs out of memory."""
    most = job.store.rows_that_fit(*place) or max(1, len(requests))
    while True:
        try:
            return [
                timed
                for first in range(0, len(requests), most)
                for timed in _timed(job, requests[first : first + most], is_stopped)
            ]
        except DeviceMemoryError:
            most = (most + 1) // 2
            job.store.note_rows_that_fit(*place, most)


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


def _rows(
    job: Job, part: int, read: _Read, timed: _Timed | None
) -> tuple[ClipRow, TimingRow | None]:
    if timed is None or read.request is None:
        return failed_row(read.entry, read.entry.fault or read.error or ""), None
    if isinstance(timed.outcome, MossDemoError):
        return failed_row(read.entry, timed.outcome), None
    notes = read.request.clip.warnings
    clip = finished_row(read.entry, timed.outcome, read.reference, job.task.level, notes)
    return clip, _timing(job, part, read.entry, timed.outcome, timed)


def _timing(job: Job, part: int, entry: Entry, run: Run, timed: _Timed) -> TimingRow:
    seconds = timed.batch_s / timed.batch_rows
    finished = run.finished
    phases = finished.phases if finished else PhaseTimes()
    return TimingRow(
        line=entry.line,
        audio=entry.audio,
        seconds=seconds,
        rtf=seconds / run.duration_s,
        latency_s=finished.at if finished else None,
        first_token_s=run.first_token_at,
        batch_rows=timed.batch_rows,
        batch_s=timed.batch_s,
        features_s=phases.features_s,
        encoder_s=phases.encoder_s,
        prefill_s=phases.prefill_s,
        decode_s=phases.decode_s,
        peak_memory_bytes=finished.peak_memory_bytes if finished else None,
        memory_source=finished.memory_source if finished else "",
        part=part,
        worker=job.worker,
        engine=job.transcriber.name,
    )
