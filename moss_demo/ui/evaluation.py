"""An evaluation as the page sees it: wishes, checked, and snapshots while it goes on."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from time import monotonic

from moss_demo.batch.evaluation import AnyEvent, Finished, Opened, evaluate_here, evaluate_there
from moss_demo.batch.manifest import Entry, Manifest
from moss_demo.batch.opening import Evaluation
from moss_demo.batch.reading import Task
from moss_demo.batch.report import Report
from moss_demo.batch.rows import ClipRow, TimingRow
from moss_demo.batch.runner import Answered
from moss_demo.batch.sources import BUILTIN_MANIFEST, Sources, open_manifest
from moss_demo.batch.tables import write_rows
from moss_demo.batch.upload import gather
from moss_demo.bench.events import Progress
from moss_demo.domain.figures import clock
from moss_demo.engine.audio_files import glance_duration_s
from moss_demo.engine.config import DecodePath
from moss_demo.engine.pool import Compiling, Loading, Waiting
from moss_demo.errors import MossDemoError, RequestError
from moss_demo.scoring.normalize import Level
from moss_demo.serving.context import AppContext
from moss_demo.ui import present, present_evaluation
from moss_demo.ui.data_panels import BarState
from moss_demo.ui.present_benchmark import bar_state
from moss_demo.ui.visitor import hold, new_folder, writing

MAX_ROWS = 1_000
"""Recordings of one evaluation on the page; the command line takes any number."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a visitor set on the page, unchecked.

    Attributes:
        uploads: recordings, references, a manifest, or zips of them; empty for the built-in set.
        checkpoint: name of the checkpoint, or of a remote engine.
        precision: a precision, or `auto`.
        level: what counts as the same word.
    """

    uploads: Sequence[str]
    checkpoint: str
    precision: str = "auto"
    level: str = Level.LANGUAGE.value


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the page shows now, and what it keeps for clicks and downloads.

    Attributes:
        status: one line.
        entries: what is evaluated, by line.
        sources: where it lies.
        notes: what to know about the upload.
        clips: rows so far.
        timings: times so far.
        bar: how far it is, None before the first row.
        report: once everything is done.
        folder: of the finished tables.
        failure: why it broke off, or empty.
        is_over: whether all of it is shown and its files are offered.
    """

    status: str
    entries: tuple[Entry, ...] = ()
    sources: Sources | None = None
    notes: tuple[str, ...] = ()
    clips: tuple[ClipRow, ...] = ()
    timings: tuple[TimingRow, ...] = ()
    bar: BarState | None = None
    report: Report | None = None
    folder: Path | None = None
    failure: str = ""
    is_over: bool = False


def evaluate_uploads(wishes: Wishes, context: AppContext) -> Generator[Snapshot, None, None]:
    """Evaluate and yield snapshots; closing the iterator stops after the step in flight.

    Raises:
        MossDemoError: the upload, a wish or the device is at fault.
    """
    yield Snapshot(present_evaluation.READING)
    folder = new_folder()
    manifest, sources = _opened(wishes, context, folder / "upload")
    lengths_s = _lengths_s(manifest, sources, context.settings.max_evaluation_s)
    notes = tuple(f"The column {name} means nothing here." for name in manifest.unknown_columns)
    shown = Snapshot(present.STARTING, manifest.entries, sources, notes)
    yield shown
    task = Task(level=Level(wishes.level), max_duration_s=context.settings.max_duration_s)
    wanted = Evaluation(manifest.entries, sources, task, folder / "run")
    with closing(_events(wishes, context, wanted, sum(lengths_s.values()))) as events:
        pace = _Pace(lengths_s)
        for event in events:
            shown = _advanced(shown, event, pace, folder / "run")
            yield shown


def write_files(snapshot: Snapshot) -> tuple[Report, Path]:
    """Return the report and the folder of the tables; what was stopped gets tables of its rows.

    Raises:
        DiskError: they cannot be written.
    """
    if snapshot.report is not None and snapshot.folder is not None:
        return snapshot.report, snapshot.folder
    with writing():
        folder = new_folder()
        return write_rows(folder, snapshot.clips, snapshot.timings), folder


def _opened(wishes: Wishes, context: AppContext, folder: Path) -> tuple[Manifest, Sources]:
    if not wishes.uploads:
        return open_manifest(BUILTIN_MANIFEST)
    folder.mkdir()
    for path in wishes.uploads:
        hold(path)
    uploads = [Path(path) for path in wishes.uploads]
    manifest, sources = gather(uploads, folder, context.settings.max_file_bytes)
    if len(manifest.entries) > MAX_ROWS:
        raise RequestError(
            f"{len(manifest.entries):,} recordings are too many for the page; send at most "
            f"{MAX_ROWS:,}, or use the command line."
        )
    return manifest, sources


def _lengths_s(manifest: Manifest, sources: Sources, most_s: float) -> dict[int, float]:
    """Return the stated length of each line's recording.

    Raises:
        RequestError: all together they are longer than the host allows.
    """
    lengths = {entry.line: _length_s(entry, sources) for entry in manifest.entries}
    total_s = sum(lengths.values())
    if total_s > most_s:
        raise RequestError(
            f"The recordings last {clock(total_s)} together and this server takes "
            f"{clock(most_s)}; send fewer, or use the command line."
        )
    return lengths


def _length_s(entry: Entry, sources: Sources) -> float:
    if entry.fault is not None:
        return 0.0
    try:
        return glance_duration_s(sources.audio(entry)) or 0.0
    except MossDemoError:
        return 0.0


def _events(
    wishes: Wishes, context: AppContext, wanted: Evaluation, audio_s: float
) -> Generator[AnyEvent, None, None]:
    server = context.remote(wishes.checkpoint)
    if server is not None:
        return evaluate_there(wanted, server)
    config = context.engine_config(wishes.checkpoint, wishes.precision, DecodePath.FAST)
    return evaluate_here(wanted, context.pool, config, context.pool.line_up(config, audio_s))


class _Pace:
    """How far an evaluation is, by the length of the recordings."""

    def __init__(self, lengths_s: dict[int, float]) -> None:
        self._lengths_s = lengths_s
        self._began_at = monotonic()

    def begin(self) -> None:
        """Count the time from now on."""
        self._began_at = monotonic()

    def bar(self, clips: Sequence[ClipRow]) -> BarState:
        """Return what the bar shows after these rows."""
        total_s = sum(self._lengths_s.values()) or 1.0
        done = min(1.0, sum(self._lengths_s[row.line] for row in clips) / total_s)
        elapsed_s = monotonic() - self._began_at
        left_s = elapsed_s * (1 - done) / done if done else None
        doing = f"{len(clips)} of {len(self._lengths_s)} recordings"
        return bar_state(Progress(done, doing, elapsed_s, left_s))


def _advanced(shown: Snapshot, event: AnyEvent, pace: _Pace, folder: Path) -> Snapshot:
    match event:
        case Waiting():
            return replace(shown, status=present.waiting_line(event.place))
        case Loading():
            return replace(shown, status=f"Loading {event.checkpoint}…")
        case Compiling():
            return replace(shown, status=present.compiling_line(event.chunks))
        case Opened():
            pace.begin()
            status = present_evaluation.running_line(0, event.clips, 0)
            return replace(shown, status=status, bar=pace.bar(()))
        case Answered():
            clips = (*shown.clips, *event.clips)
            failed = sum(not row.digest for row in clips)
            status = present_evaluation.running_line(len(clips), len(shown.entries), failed)
            return replace(
                shown,
                status=status,
                clips=clips,
                timings=(*shown.timings, *event.timings),
                bar=pace.bar(clips),
            )
        case Finished():
            ended = present_evaluation.ended_line(event.report)
            return replace(shown, status=ended, report=event.report, folder=folder, bar=None)
    return shown
