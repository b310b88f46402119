"""Runs on ZeroGPU: a GPU is lent for one run, to a process that is forked for it.

The package `spaces` owns that process. Weights are loaded before the page starts, onto a device
that is only played; the fork carries them to the real one. Nothing here was run on ZeroGPU itself:
off it `spaces.GPU` hands a function back unchanged, and so it was tested.
"""

import importlib
from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from moss_demo.domain.events import Event
from moss_demo.domain.request import Request
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.line import Line, Ticket
from moss_demo.engine.pool import EnginePool, PoolEvent, Ready, load_engine
from moss_demo.errors import MossDemoError, RequestError

START_S = 15.0
WORK_PER_AUDIO = 0.4
"""Seconds asked for: to move the weights, and for each second of audio. Dense speech is 14 tokens
a second, and the reference path takes 13 to 37 ms a token on the GPUs it was timed on."""

LONGEST_S = 600.0

RunOnGpu = Callable[[Request], Generator["Event | Refusal", None, None]]


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error on its way out of the forked process, which would keep its sentence to itself."""

    message: str


def import_spaces() -> Any:
    """Import the package that lends GPUs; it has to come before anything asks for CUDA.

    Raises:
        RequestError: it is not installed.
    """
    try:
        return importlib.import_module("spaces")
    except ImportError as error:
        raise RequestError(
            "ZeroGPU needs the package spaces; `python -m moss_demo space OUT --zero-gpu` writes "
            "a folder that installs it."
        ) from error


def lent_s(request: Request) -> float:
    """Return for how many seconds a GPU is asked for."""
    return min(LONGEST_S, START_S + WORK_PER_AUDIO * request.clip.duration_s)


class LentPool(EnginePool):
    """A pool of one engine; every run gets a GPU of its own, in a line that ZeroGPU keeps."""

    def __init__(self, config: EngineConfig) -> None:
        """Load the engine, and let `spaces` know what will need a GPU.

        Raises:
            MossDemoError: the checkpoint cannot be loaded, or `spaces` is missing.
        """
        super().__init__()
        engine = self._engine = load_engine(config)

        def run(request: Request) -> Generator[Event | Refusal, None, None]:
            try:
                yield from engine.stream(request)
            except MossDemoError as error:
                yield Refusal(str(error))

        self._run: RunOnGpu = import_spaces().GPU(duration=lent_s)(run)

    def line_up(self, config: EngineConfig, audio_s: float | None = None) -> Ticket:
        """Return a place that is next at once."""
        return Line().join(config, audio_s)

    def stream(
        self, config: EngineConfig, request: Request, ticket: Ticket | None = None
    ) -> Generator[PoolEvent, None, None]:
        """Borrow a GPU and transcribe on it, stepped by the visitor's own event.

        Raises:
            RequestError: another engine is wanted than the one that was loaded at the start.
            MossDemoError: the request cannot be done.
        """
        del ticket  # it is next at once
        engine = self._engine
        if engine is None or config != engine.config:
            raise RequestError(
                "A borrowed GPU runs what was loaded at the start: leave checkpoint, precision and "
                "decode path as they are."
            )
        yield Ready(engine.info, loaded=False)
        for event in self._run(request):
            if isinstance(event, Refusal):
                raise RequestError(event.message)
            yield event
