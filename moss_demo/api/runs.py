"""Steps runs from the event loop, as a whole or as a stream, and notices programs that left."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Generator
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

from anyio import CapacityLimiter, to_thread
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from moss_demo.api.answers import Stream
from moss_demo.api.errors import ApiError, as_api_error
from moss_demo.api.form import Ask
from moss_demo.domain.events import Finished, Run, SegmentDone, Started, TextDelta, advance
from moss_demo.domain.request import Request as Transcription
from moss_demo.engine.audio_files import glance_duration_s, read_audio
from moss_demo.engine.config import DecodePath
from moss_demo.engine.in_turn import Opened, TurnEvent
from moss_demo.engine.pool import Waiting, Working
from moss_demo.errors import MossDemoError
from moss_demo.serving.context import AppContext
from moss_demo.serving.metrics import Door

LOG = logging.getLogger(__name__)

INTERNAL = ApiError(500, "The server failed; its log has the details.", code="internal_error")


def start(ask: Ask, context: AppContext) -> Generator[TurnEvent, None, None]:
    """Choose the engine and return the run; it stands in line from its first step on.

    Raises:
        NotOfferedError: the host does not offer that model.
    """
    decode = DecodePath.REFERENCE if ask.options.temperature > 0.0 else None  # the other is greedy
    config = context.engine_config(ask.model or context.default_checkpoint(), "auto", decode)
    audio_s = glance_duration_s(ask.recording)
    return context.transcribe(config, partial(_open, ask, context), audio_s, Door.API)


async def stepped(
    events: Generator[TurnEvent, None, None], threads: CapacityLimiter
) -> AsyncGenerator[TurnEvent, None]:
    """Step a run on threads of its own; closing this stops it within a second or so."""
    try:
        while True:
            event = await to_thread.run_sync(next, events, None, limiter=threads)
            if event is None:
                return
            yield event
    finally:
        events.close()


async def finished(events: AsyncIterator[TurnEvent], request: Request) -> Run | None:
    """Follow a run to its end; None when the program has left meanwhile."""
    run: Run | None = None
    async for event in events:
        if await request.is_disconnected():
            return None
        run = _advanced(run, event)
    return run


async def streamed(
    first: TurnEvent, events: AsyncIterator[TurnEvent], ask: Ask
) -> AsyncGenerator[str, None]:
    """Write a run as server-sent events; comments say that it waits or works."""
    stream = Stream(ask)
    run = _advanced(None, first)
    try:
        if isinstance(first, Waiting | Working):
            yield _comment(first)
        async for event in events:
            if isinstance(event, Waiting | Working):
                yield _comment(event)
                continue
            run = _advanced(run, event)
            if isinstance(event, TextDelta | SegmentDone):
                for made in stream.events(event):
                    yield _data(made)
        if run is not None:
            yield _data(stream.end(run))
    except MossDemoError as error:
        yield _data(as_api_error(error).body())
    except Exception:
        LOG.exception("a streamed run failed")
        yield _data(INTERNAL.body())


class EventStream(StreamingResponse):
    """Server-sent events that let go of everything when the program leaves."""

    def __init__(self, content: AsyncGenerator[str, None], held: AsyncExitStack) -> None:
        """Take over what has to be closed at the end."""
        super().__init__(content, media_type="text/event-stream")
        self.headers["Cache-Control"] = "no-store"
        self.headers["X-Accel-Buffering"] = "no"  # a proxy would hold the text back
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        async with self._held:
            await super().__call__(scope, receive, send)


def _open(ask: Ask, context: AppContext) -> Transcription:
    clip = read_audio(ask.recording, name=ask.name, max_duration_s=context.settings.max_duration_s)
    return Transcription(clip, ask.prompt, ask.hotwords, ask.options)


def _advanced(run: Run | None, event: TurnEvent) -> Run | None:
    if isinstance(event, Opened):
        return Run(event.clip.name, event.clip.digest, event.clip.duration_s)
    if run is not None and isinstance(event, Started | TextDelta | SegmentDone | Finished):
        return advance(run, event)
    return run


def _data(value: dict[str, Any]) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _comment(event: Waiting | Working) -> str:
    if isinstance(event, Working):
        return ": working\n\n"
    wait_s = event.place.wait_s
    about = "" if wait_s is None else f", about {wait_s:.0f} s"
    return f": waiting, {event.place.ahead} ahead{about}\n\n"
