"""Two sides on one recording: each is a run made now or a transcript saved before.

Both runs get the same decoded waveform. Knows nothing of how sides are shown.
"""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.request import Request
from moss_demo.domain.transcript import Transcript
from moss_demo.engine.checkpoints import public_name
from moss_demo.engine.config import DecodePath, EncoderCompile, EngineConfig
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.line import Ticket
from moss_demo.engine.pool import NEWS_S, EnginePool, Waiting, Working
from moss_demo.engine.remote import RemoteEngine
from moss_demo.engine.worker import Emit, IsStopped, stream_from_worker
from moss_demo.errors import MossDemoError, RequestError, TranscriptError
from moss_demo.scoring.parity import parity
from moss_demo.scoring.run_meta import RunMeta
from moss_demo.scoring.sides import read_side, side_of
from moss_demo.scoring.verdict import ParityVerdict
from moss_demo.settings import RemoteServer
from moss_demo.ui import present
from moss_demo.ui.transcription import run_request

MAX_SAVED_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class SideState:
    """One side as it is known now.

    Attributes:
        title: what it is, in a few words.
        run: the run so far; that of a saved transcript has no figures.
        transcript: what is compared.
        meta: how its run ended.
        engine: what ran here.
        remote: whether it ran elsewhere; neither for a saved transcript.
    """

    title: str
    run: Run
    transcript: Transcript
    meta: RunMeta
    engine: EngineInfo | None = None
    remote: bool = False

    @property
    def is_measured(self) -> bool:
        """Whether its figures were measured here."""
        return self.engine is not None or self.remote


@dataclass(frozen=True, slots=True)
class Comparison:
    """What the page shows of a comparison now.

    Attributes:
        sides: A and B as far as they exist.
        status: one line.
        verdict: once both sides are finished.
    """

    sides: tuple[SideState, ...]
    status: str
    verdict: ParityVerdict | None = None


SideChoice = EngineConfig | RemoteServer | Path
"""An engine to run, here or elsewhere, or the file of a saved transcript."""


def compare(
    choices: tuple[SideChoice, SideChoice],
    open_request: Callable[[], Request | None],
    pool: EnginePool,
) -> Generator[Comparison, None, None]:
    """Make or read both sides, A first, and judge B by A.

    Args:
        choices: A, the reference, and B, the candidate.
        open_request: decodes the recording for both runs, when their turn comes near; None when
            both sides are saved.
        pool: where the runs are made.

    Raises:
        MossDemoError: a file cannot be read, a side needs a recording that is not there, or a run
            fails.
    """
    engines = [choice for choice in choices if isinstance(choice, EngineConfig)]
    # Nobody holds a place in the line while a server elsewhere is at work.
    waits_elsewhere = any(isinstance(choice, RemoteServer) for choice in choices)
    ticket = pool.line_up(engines[0]) if engines and not waits_elsewhere else None
    try:
        while ticket is not None and not ticket.wait(NEWS_S, ahead=1):
            yield Comparison((), present.waiting_line(ticket.place))
        done = yield from _sides(choices, open_request(), pool, ticket)
    finally:
        if ticket is not None:
            ticket.give_up()
    if len(done) == len(choices):
        a, b = done
        verdict = parity(a.transcript, b.transcript, reference_meta=a.meta, candidate_meta=b.meta)
        yield Comparison(done, f"Compared: {verdict.gate.value}", verdict)


def _sides(
    choices: tuple[SideChoice, SideChoice],
    request: Request | None,
    pool: EnginePool,
    ticket: Ticket | None,
) -> Generator[Comparison, None, tuple[SideState, ...]]:
    """Make or read one side after the other; the first run takes the ticket."""
    done: tuple[SideState, ...] = ()
    for letter, choice in zip("AB", choices, strict=True):
        if isinstance(choice, Path):
            done = (*done, _saved_side(choice, request))
            yield Comparison(done, f"Read {letter}")
            continue
        if request is None:
            raise RequestError("There is no recording yet; upload one or load both sides.")
        side: SideState | None = None
        for side, status in (
            _remote_side(choice, request)
            if isinstance(choice, RemoteServer)
            else _running_side(choice, request, pool, ticket)
        ):
            yield Comparison(done if side is None else (*done, side), f"{letter}: {status}")
        if side is None or side.run.finished is None:
            return done
        done, ticket = (*done, side), None
    return done


def _running_side(
    config: EngineConfig, request: Request, pool: EnginePool, ticket: Ticket | None
) -> Generator[tuple[SideState | None, str], None, None]:
    state: SideState | None = None
    for shown in run_request(request, config, pool, ticket):
        if isinstance(shown, Waiting):
            yield state, present.waiting_line(shown.place)
            continue
        side = side_of(shown.run)
        title = _title(config)
        state = SideState(title, shown.run, side.transcript, side.meta, shown.engine)
        yield state, shown.status


def _remote_side(
    server: RemoteServer, request: Request
) -> Generator[tuple[SideState | None, str], None, None]:
    """Let an engine elsewhere transcribe; how it decodes is not seen from here."""

    def work(emit: Emit[Run | Working], is_stopped: IsStopped) -> None:
        (outcome,) = RemoteEngine(server).transcribe([request], is_stopped)
        if isinstance(outcome, MossDemoError):
            raise outcome
        emit(outcome)

    yield None, f"Asking {server.name}…"
    events: Generator[Run | Working, None, None] = stream_from_worker(work, idle=Working())
    with closing(events):
        for event in events:
            if isinstance(event, Working):
                yield None, f"Asking {server.name}…"
                continue
            side = side_of(event)
            state = SideState(server.label, event, side.transcript, side.meta, remote=True)
            yield state, present.status_line(event)


def _title(config: EngineConfig) -> str:
    """Name an engine by what makes it differ from the usual one."""
    words = [public_name(config.checkpoint), config.precision.value]
    if config.decode is not DecodePath.REFERENCE:
        words.append(f"{config.decode} decode path")
    if config.encoder_compile is not EncoderCompile.OFF:
        words.append(f"encoder compiled ({config.encoder_compile})")
    return " · ".join(words)


def _saved_side(path: Path, request: Request | None) -> SideState:
    """Read a transcript from another time, machine or engine."""
    if path.stat().st_size > MAX_SAVED_BYTES:
        raise TranscriptError("The file is too large for a transcript; load a text file.")
    text = path.read_text(encoding="utf-8", errors="replace")
    side = read_side(text, suffix=path.suffix)
    stamps = [t for s in side.transcript.segments for t in (s.start, s.end) if t is not None]
    duration_s = max(stamps, default=1.0) if request is None else request.clip.duration_s
    ended = Finished(0.0, text, (), StopReason.END_OF_TEXT, side.transcript.complete)
    run = Run(path.name, "", duration_s, side.transcript.segments, raw=text, finished=ended)
    return SideState(f"{path.name} (saved)", run, side.transcript, side.meta)
