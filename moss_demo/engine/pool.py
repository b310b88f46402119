"""One engine a device, one run at a time. Knows nothing of pages or visitors."""

import gc
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter

import torch

from moss_demo.domain.events import Event
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import SYNTHETIC, find_checkpoint
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.engine import Engine, EngineInfo
from moss_demo.engine.loading import load
from moss_demo.engine.worker import Emit, IsStopped, StoppedError, stream_from_worker
from moss_demo.errors import DeviceError, RequestError

POLL_S = 0.1
"""How often a waiting run looks whether it was cancelled."""


@dataclass(frozen=True, slots=True)
class Loading:
    """The device is ours and a checkpoint is being loaded onto it."""

    checkpoint: str


@dataclass(frozen=True, slots=True)
class Ready:
    """The engine is resident; `loaded` tells whether it was loaded for this run."""

    info: EngineInfo
    loaded: bool


PoolEvent = Loading | Ready | Event


class EnginePool:
    """Keeps the engine used last and swaps it when another configuration is asked for.

    A switch waits for the run in progress, frees the old weights before it loads the new ones and,
    when that fails, leaves the pool empty but usable: the next run loads what it needs.
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

        Yields `Loading` when weights have to be loaded, `Ready`, then the engine's events. Closing
        the iterator gives up the wait or stops the decoding.

        Raises:
            MossDemoError: the checkpoint cannot be loaded or the request cannot be done.
        """
        if config.checkpoint == SYNTHETIC:
            raise RequestError(
                f"{SYNTHETIC} has random weights, made to measure time; "
                "choose tiny or the published checkpoint to transcribe."
            )

        def work(emit: Emit[PoolEvent], is_stopped: IsStopped) -> None:
            with self.borrow(config, emit, is_stopped) as engine:
                engine.transcribe(request, emit, is_stopped)

        return stream_from_worker(work)

    @contextmanager
    def borrow(
        self, config: EngineConfig, emit: Emit[Loading | Ready], is_stopped: IsStopped
    ) -> Iterator[Engine]:
        """Wait for the device and hold it, with the engine on it, until the block ends.

        For device work other than one transcription: batches and measurements. It belongs on a
        worker thread, as `stream_from_worker` starts them.

        Args:
            config: the engine to load, unless it is resident.
            emit: called with `Loading` when weights have to be loaded, then with `Ready`.
            is_stopped: asked while waiting and once more when the engine is ready.

        Raises:
            StoppedError: the work was given up before it began.
            MossDemoError: the checkpoint cannot be loaded.
        """
        while not self._device_lock.acquire(timeout=POLL_S):
            if is_stopped():
                raise StoppedError
        try:
            engine = self._resident_engine(config, emit)
            if is_stopped():
                raise StoppedError
            yield engine
        finally:
            self._device_lock.release()

    def _resident_engine(self, config: EngineConfig, emit: Emit[Loading | Ready]) -> Engine:
        if self._engine is not None and self._engine.config == config:
            emit(Ready(self._engine.info, loaded=False))
            return self._engine
        checkpoint = find_checkpoint(config.checkpoint)
        emit(Loading(checkpoint.name))
        self._free()
        started_at = perf_counter()
        try:
            loaded = load(checkpoint, config.precision.dtype, config.device)
        except torch.OutOfMemoryError as error:
            self._free()
            raise DeviceError(
                f"{config.device} has too little memory for {checkpoint.name} in "
                f"{config.precision}; free the device or choose a smaller precision."
            ) from error
        engine = Engine(config, checkpoint, loaded, perf_counter() - started_at)
        self._engine = engine
        emit(Ready(engine.info, loaded=True))
        return engine

    def _free(self) -> None:
        self._engine = None
        gc.collect()
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
