"""One engine a device, one run at a time. Knows nothing of pages or visitors."""

import gc
import threading
import traceback
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import perf_counter
from typing import TypeAlias

import torch

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Event
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import SYNTHETIC, Checkpoint, find_checkpoint
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.engine import Engine, EngineInfo
from moss_demo.engine.weights.preparing import prepare
from moss_demo.engine.worker import Emit, IsStopped, StoppedError, stream_from_worker
from moss_demo.errors import DeviceError, MossDemoError, RequestError

POLL_S = 0.1
"""How often a waiting run looks whether it was cancelled."""


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
    """The engine is resident; `loaded` tells whether it was loaded for this run."""

    info: EngineInfo
    loaded: bool


Preparing: TypeAlias = Loading | Compiling | Ready
"""What happens before an engine can be used."""

PoolEvent: TypeAlias = Preparing | Event


class EnginePool:
    """Keeps the engine used last and swaps it when another configuration is asked for.

    A switch waits for the run in progress and frees the old weights before it loads the new ones;
    when that fails, the old ones are loaded again before the failure is told.
    """

    def __init__(self) -> None:
        """Start empty; nothing is loaded before the first run."""
        self._device_lock = threading.Lock()
        self._engine: Engine | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a run or a load holds the device now."""
        return self._device_lock.locked()

    @property
    def resident(self) -> EngineInfo | None:
        """The engine in memory, if any."""
        engine = self._engine
        return None if engine is None else engine.info

    def stream(self, config: EngineConfig, request: Request) -> Generator[PoolEvent, None, None]:
        """Wait for the device, load what is missing and transcribe.

        Yields `Loading` when weights have to be loaded, `Compiling` for each batch size that the
        encoder is compiled for, `Ready`, then the engine's events. Closing the iterator gives up
        the wait, the compilation after the size in work, or the decoding.

        Raises:
            MossDemoError: the checkpoint cannot be loaded or the request cannot be done.
        """
        if config.checkpoint == SYNTHETIC:
            raise RequestError(
                f"{SYNTHETIC} has random weights, made to measure time; "
                "choose tiny or the published checkpoint to transcribe."
            )

        def work(emit: Emit[PoolEvent], is_stopped: IsStopped) -> None:
            with self.borrow(config, emit, is_stopped, [request.clip]) as engine:
                engine.transcribe(request, emit, is_stopped)

        return stream_from_worker(work)

    @contextmanager
    def borrow(
        self,
        config: EngineConfig,
        emit: Emit[Preparing],
        is_stopped: IsStopped,
        clips: Sequence[AudioClip] = (),
    ) -> Iterator[Engine]:
        """Wait for the device and hold it, with the engine on it, until the block ends.

        For device work other than one transcription: batches and measurements. It belongs on a
        worker thread, as `stream_from_worker` starts them.

        Args:
            config: the engine to load, unless it is resident.
            emit: called with `Loading` when weights have to be loaded, with `Compiling`, and with
                `Ready`.
            is_stopped: asked while waiting, between compilations and when the engine is ready.
            clips: what will be encoded together; a compiled encoder is prepared for it.

        Raises:
            StoppedError: the work was given up before it began.
            MossDemoError: the checkpoint cannot be loaded.
        """
        while not self._device_lock.acquire(timeout=POLL_S):
            if is_stopped():
                raise StoppedError
        try:
            engine, loaded = self._resident_engine(config, emit)
            for chunks in engine.sizes_to_compile(clips):
                if is_stopped():
                    raise StoppedError
                emit(Compiling(chunks))
                engine.compile_encoder(chunks)
            emit(Ready(engine.info, loaded))
            if is_stopped():
                raise StoppedError
            yield engine
        finally:
            self._device_lock.release()

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
            self._engine = _load(checkpoint, config)
        except BaseException:
            self._free()
            if old is not None:
                emit(Loading(old.checkpoint))
                with suppress(MossDemoError):  # then the next run loads what it needs
                    self._engine = _load(find_checkpoint(old.checkpoint), old)
            raise
        return self._engine, True

    def _free(self) -> None:
        self._engine = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def _load(checkpoint: Checkpoint, config: EngineConfig) -> Engine:
    started_at = perf_counter()
    try:
        loaded = prepare(checkpoint, config)
        return Engine(config, checkpoint, loaded, perf_counter() - started_at)
    except torch.OutOfMemoryError as error:
        traceback.clear_frames(error.__traceback__)  # they hold what was loaded so far
        raise DeviceError(
            f"{config.device} has too little memory for {checkpoint.name} in "
            f"{config.precision}; free the device or choose a smaller precision."
        ) from error
