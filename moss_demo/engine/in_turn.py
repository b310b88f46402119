"""A run from the end of the line to its last event, with sound only while it is needed."""

from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.request import Request
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.pool import NEWS_S, EnginePool, PoolEvent, Waiting


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """The recording is decoded; the run is the next one, or the one after it."""

    clip: AudioClip


TurnEvent = Opened | PoolEvent


def transcribe_in_turn(
    pool: EnginePool,
    config: EngineConfig,
    open_request: Callable[[], Request],
    audio_s: float | None,
) -> Generator[TurnEvent, None, None]:
    """Wait in line, decode the recording when at most one run is ahead, and transcribe it.

    Those who wait hold a place in line and no sound: an hour of it takes 230 MB. Closing the
    iterator gives up the place or stops the run.

    Args:
        pool: where it runs.
        config: the engine.
        open_request: decodes the recording and checks what was asked.
        audio_s: length of the recording for the guess of those behind, None when not known.

    Raises:
        BusyError: too many wait already.
        MossDemoError: whatever `open_request` and the pool raise.
    """
    ticket = pool.line_up(config, audio_s)
    try:
        while not ticket.wait(NEWS_S, ahead=1):
            yield Waiting(ticket.place)
        request = open_request()
        yield Opened(request.clip)
        with closing(pool.stream(config, request, ticket)) as events:
            yield from events
    finally:
        ticket.give_up()
