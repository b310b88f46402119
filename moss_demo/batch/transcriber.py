"""What turns requests into runs: the engine here, in batches, or one on another machine."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol

from moss_demo.batch.plan import Limits
from moss_demo.domain.events import Run
from moss_demo.domain.request import Request
from moss_demo.engine.engine import Engine
from moss_demo.engine.remote import AT_ONCE, RemoteEngine
from moss_demo.engine.room import free_bytes
from moss_demo.engine.speech import SpeechGate
from moss_demo.engine.together import transcribe_together
from moss_demo.engine.worker import IsStopped, StoppedError
from moss_demo.errors import DeviceError, MossDemoError, RequestError
from moss_demo.settings import RemoteServer

CPU_ROWS = 8
CUDA_ROWS = 64
"""Recordings of a batch where memory allows more."""

HANDED_OVER = 4
"""Recordings that a remote engine gets at a time, by those under way."""

MEMORY_SHARE = 0.6
"""Of the free memory that a batch may be planned for; the estimate is one, and others live there
too."""

Outcome = Run | MossDemoError
"""A finished run, or why there is none."""


class Transcriber(Protocol):
    """Transcribes requests together."""

    @property
    def name(self) -> str:
        """What transcribes and where, for the timings."""

    @property
    def identity(self) -> str:
        """What its transcripts depend on: two of one identity may share a run."""

    def limits(self, rows: int | None) -> Limits:
        """Return how much goes into one batch, with at most `rows` recordings where given."""

    def row_bytes(self, duration_s: float) -> int:
        """Estimate what a recording takes in a batch."""

    def prepare(self, request: Request) -> Request:
        """Do on a reading thread what needs no device."""

    def transcribe(self, requests: Sequence[Request], is_stopped: IsStopped) -> list[Outcome]:
        """Return the outcome of each request, in their order.

        Raises:
            StoppedError: the work was given up.
            DeviceMemoryError: fewer at once may fit.
        """


class LocalTranscriber:
    """The engine of this process."""

    def __init__(self, engine: Engine) -> None:
        """Take over an engine; the caller holds its device."""
        self._engine = engine
        self._gate = SpeechGate()
        info, config = engine.info, engine.config
        kind = replace(config, device=config.device.partition(":")[0])
        self.name = f"{info.checkpoint} · {info.precision} · {info.device} · {info.decode}"
        self.identity = f"{kind} · {info.revision} · {info.attention}"

    def limits(self, rows: int | None) -> Limits:
        """Choose the batch from the memory that is free now."""
        device = self._engine.config.device
        most = rows or (CPU_ROWS if device == "cpu" else CUDA_ROWS)
        return Limits(most, int(MEMORY_SHARE * free_bytes(device)))

    def row_bytes(self, duration_s: float) -> int:
        """Ask the engine."""
        return self._engine.row_bytes(duration_s)

    def prepare(self, request: Request) -> Request:
        """Look for speech, so that the device does not wait for it."""
        if not request.speech_gate:
            return request
        return replace(request, speech=self._gate.find_speech(request.clip))

    def transcribe(self, requests: Sequence[Request], is_stopped: IsStopped) -> list[Outcome]:
        """Transcribe what fits the checkpoint as one batch.

        Raises:
            StoppedError: the work was given up.
            DeviceMemoryError: fewer at once may fit.
        """
        refused = {n: error for n, r in enumerate(requests) if (error := self._refusal(r))}
        fitting = [r for n, r in enumerate(requests) if n not in refused]
        with suppress(DeviceError):  # its sentence stands in `info`, and the run goes on eager
            for _ in self._engine.compile_for([request.clip for request in fitting]):
                if is_stopped():
                    raise StoppedError
        runs = iter(transcribe_together(self._engine, fitting, is_stopped) if fitting else ())
        if is_stopped():
            raise StoppedError
        return [refused[n] if n in refused else next(runs) for n in range(len(requests))]

    def _refusal(self, request: Request) -> RequestError | None:
        try:
            self._engine.check(request)
        except RequestError as error:
            return error
        return None


class RemoteTranscriber:
    """A server elsewhere, which makes batches of its own from requests under way together."""

    def __init__(
        self, server: RemoteServer, model: str | None = None, at_once: int | None = None
    ) -> None:
        """Name the server, the model there and the most requests under way."""
        self._at_once = at_once or AT_ONCE
        self._engine = RemoteEngine(server, model, at_once=self._at_once)
        self.name = f"{model or 'first model'} at {server.name}"
        self.identity = f"{model} at {server.base_url}"

    def limits(self, rows: int | None) -> Limits:  # noqa: ARG002  # rows are requests under way
        """Hand over far more than is under way, so that no slow answer holds up the rest."""
        together = self._at_once * HANDED_OVER
        return Limits(together, together)

    def row_bytes(self, duration_s: float) -> int:  # noqa: ARG002  # the memory is the server's
        """Count recordings, whatever their length."""
        return 1

    def prepare(self, request: Request) -> Request:
        """Leave everything to the server."""
        return request

    def transcribe(self, requests: Sequence[Request], is_stopped: IsStopped) -> list[Outcome]:
        """Send all of them.

        Raises:
            StoppedError: the work was given up.
        """
        return self._engine.transcribe(requests, is_stopped)
