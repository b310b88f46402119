"""One engine a device, one run at a time. Knows nothing of pages or visitors."""

import gc
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

import torch

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Event
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import SYNTHETIC, find_checkpoint, public_name
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.engine import Engine
from moss_demo.engine.faults import diagnose, is_out_of_memory, lost
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.line import Line, Place, Ticket
from moss_demo.engine.weights.preparing import prepare
from moss_demo.engine.worker import Emit, IsStopped, StoppedError, stream_from_worker
from moss_demo.errors import DeviceError, DeviceLostError, MossDemoError, RequestError

POLL_S = 0.1
"""How often a waiting run looks whether it was cancelled."""

NEWS_S = 1.0
"""How often a waiting run says where it stands."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """The device is in use; said at least once a second until it is free."""

    place: Place


@dataclass(frozen=True, slots=True)
class Working:
    """The run goes on and has no news; said at least once a second."""


@dataclass(frozen=True, slots=True)
class Loading:
    """The device is ours and a checkpoint is being loaded onto it."""

    checkpoint: str


@dataclass(frozen=True, slots=True)
class Compiling:
    """The encoder is being compiled for batches of `chunks` chunks of 30 s."""

    chunks: int


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine can be used.

    Attributes:
        info: what it is.
        loaded: whether it was loaded for this run.
        compile_s: seconds it took to compile for this run, None where nothing was to compile.
    """

    info: EngineInfo
    loaded: bool
    compile_s: float | None = None


Preparing: TypeAlias = Waiting | Loading | Compiling | Ready
"""What happens before work begins."""

PoolEvent: TypeAlias = Preparing | Working | Event


class EnginePool:
    """Keeps the engine used last and swaps it when another configuration is asked for.

    A switch waits for the run in progress and frees the old weights before it loads the new ones;
    when that fails, the old ones are loaded again before the failure is told. Whatever goes wrong
    in a run ends that run alone, unless it takes the device with it.
    """

    def __init__(
        self, longest_line: int | None = None, on_lost: Callable[[], None] = lambda: None
    ) -> None:
        """Start empty; nothing is loaded before the first run.

        Args:
            longest_line: how many runs may wait behind the one on the device, None for any number.
            on_lost: called once, from any thread, when the device is lost to this process.
        """
        self._line = Line(longest_line)
        self._on_lost = on_lost
        self._lost = False
        self._engine: Engine | None = None

    @property
    def in_line(self) -> int:
        """How many runs wait for the device or hold it."""
        return len(self._line)

    @property
    def is_busy(self) -> bool:
        """Whether anybody holds the device now."""
        return self.in_line > 0

    @property
    def resident(self) -> EngineInfo | None:
        """The engine in memory, if any."""
        engine = self._engine
        return None if engine is None else engine.info

    def line_up(self, config: EngineConfig, audio_s: float | None = None) -> Ticket:
        """Stand in line for the device before there is a request.

        What is costly to hold, a decoded recording above all, can so be made when the turn comes
        near. The ticket goes to `stream`, or is given up.

        Raises:
            BusyError: too many wait already.
        """
        return self._line.join(config, audio_s)

    def stream(
        self, config: EngineConfig, request: Request, ticket: Ticket | None = None
    ) -> Generator[PoolEvent, None, None]:
        """Wait for the device, load what is missing and transcribe.

        Yields `Waiting` while others are in front, `Loading` when weights have to be loaded,
        `Compiling` for each batch size that the encoder is compiled for, `Ready`, then the engine's
        events, and `Working` where there is no news. Closing the iterator gives up the wait, the
        compilation after the size in work, or the decoding.

        Args:
            config: the engine to load, unless it is resident.
            request: what to transcribe.
            ticket: a place taken before, or None to stand at the end of the line.

        Raises:
            MossDemoError: the checkpoint cannot be loaded, the request cannot be done, or the run
                failed.
        """
        if config.checkpoint == SYNTHETIC:
            raise RequestError(
                f"{SYNTHETIC} has random weights, made to measure time; "
                "choose tiny or the published checkpoint to transcribe."
            )

        def work(emit: Emit[PoolEvent], is_stopped: IsStopped) -> None:
            place = ticket or self.line_up(config, request.clip.duration_s)
            with self.borrow(config, emit, is_stopped, [request.clip], place) as engine:
                began_at = perf_counter()
                engine.transcribe(request, emit, is_stopped)
                if not is_stopped():
                    place.learn(perf_counter() - began_at)

        return stream_from_worker(work, idle=Working())

    @contextmanager
    def borrow(
        self,
        config: EngineConfig,
        emit: Emit[Preparing],
        is_stopped: IsStopped,
        clips: Sequence[AudioClip] = (),
        ticket: Ticket | None = None,
    ) -> Iterator[Engine]:
        """Wait for the device and hold it, with the engine on it, until the block ends.

        For device work other than one transcription: batches and measurements. It belongs on a
        worker thread, as `stream_from_worker` starts them.

        Args:
            config: the engine to load, unless it is resident.
            emit: called with `Waiting` while others are in front, with `Loading` when weights have
                to be loaded, with `Compiling`, and with `Ready`.
            is_stopped: asked while waiting, between compilations and when the engine is ready.
            clips: what will be encoded together; a compiled encoder is prepared for it.
            ticket: a place taken before, or None to stand at the end of the line.

        Raises:
            StoppedError: the work was given up before it began.
            BusyError: too many wait already.
            DeviceError: the work failed in a way that nobody expected, or the device is lost.
            MossDemoError: the checkpoint cannot be loaded.
        """
        place = ticket or self.line_up(config)
        try:
            _wait(place, emit, is_stopped)
            if self._lost:
                raise lost(config.device)
            engine, loaded = self._resident_engine(config, emit)
            compile_s = self._compile(engine, clips, emit, is_stopped)
            emit(Ready(engine.info, loaded, compile_s))
            if is_stopped():
                raise StoppedError
            yield engine
        except (MossDemoError, StoppedError):
            raise
        except Exception as error:
            raise self._failed(error, config.device) from error
        finally:
            place.release()

    def _failed(self, error: Exception, device: str) -> DeviceError:
        """Leave nothing of a failed run behind; what it did to the engine is not known."""
        meaning = diagnose(error, device)
        if isinstance(meaning, DeviceLostError):
            self._lost, self._engine = True, None
            self._on_lost()
        else:
            self._free()
        return meaning

    def _compile(
        self,
        engine: Engine,
        clips: Sequence[AudioClip],
        emit: Emit[Preparing],
        is_stopped: IsStopped,
    ) -> float | None:
        """Compile what the clips need and return the seconds; one size cannot be interrupted."""
        before_s = engine.info.compile_s
        with suppress(DeviceError):  # its sentence stands in `info`, and the run goes on eager
            for chunks in engine.compile_for(clips):
                if is_stopped():
                    raise StoppedError
                emit(Compiling(chunks))
        return engine.info.compile_s - before_s or None

    def _resident_engine(self, config: EngineConfig, emit: Emit[Preparing]) -> tuple[Engine, bool]:
        """Return the engine and whether it had to be loaded."""
        if self._engine is not None and self._engine.config.shares_weights_with(config):
            self._engine.switch(config)
            return self._engine, False
        checkpoint = find_checkpoint(config.checkpoint)
        old = None if self._engine is None else self._engine.config
        emit(Loading(checkpoint.name))
        self._free()
        try:
            self._engine = load_engine(config)
        except BaseException:
            self._free()
            if old is not None:
                emit(Loading(public_name(old.checkpoint)))
                with suppress(MossDemoError):  # then the next run loads what it needs
                    self._engine = load_engine(old)
            raise
        return self._engine, True

    def _free(self) -> None:
        self._engine = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def load_engine(config: EngineConfig) -> Engine:
    """Load a checkpoint onto a device.

    Raises:
        CheckpointError: it cannot be found or loaded.
        DeviceError: the device has too little memory for it.
    """
    checkpoint = find_checkpoint(config.checkpoint)
    started_at = perf_counter()
    try:
        loaded = prepare(checkpoint, config)
        return Engine(config, checkpoint, loaded, perf_counter() - started_at)
    except Exception as error:
        traceback.clear_frames(error.__traceback__)  # they hold what was loaded so far
        if not is_out_of_memory(error):
            raise
        raise DeviceError(
            f"{config.device} has too little memory for {checkpoint.name} in "
            f"{config.precision}; free the device or choose a smaller precision."
        ) from error


def _wait(ticket: Ticket, emit: Emit[Preparing], is_stopped: IsStopped) -> None:
    """Wait for the device and take it.

    Raises:
        StoppedError: the wait was given up.
    """
    told_at: float | None = None
    while not ticket.wait(POLL_S):
        if is_stopped():
            raise StoppedError
        if told_at is None or perf_counter() - told_at >= NEWS_S:
            told_at = perf_counter()
            emit(Waiting(ticket.place))
    if is_stopped() or not ticket.claim():
        raise StoppedError
