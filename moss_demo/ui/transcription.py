"""A transcription as the page and its endpoint see it: snapshots at a readable pace.

The pace is taken from the events' own times, so this stays a pure fold over the stream.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

from moss_demo.domain.events import Finished, Run, SegmentDone, Started, TextDelta, advance
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset, resolve_prompt, split_hotwords
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import glance_duration_s, read_audio
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.in_turn import Opened, TurnEvent
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.line import Ticket
from moss_demo.engine.pool import Compiling, EnginePool, Loading, Ready, Waiting, Working
from moss_demo.errors import AudioError, RequestError
from moss_demo.serving.context import AppContext
from moss_demo.serving.metrics import Door
from moss_demo.ui import present
from moss_demo.ui.visitor import hold

FRAME_S = 0.1
"""A view changes about ten times a second whatever the token rate."""


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a visitor set on the page, unchecked.

    Attributes:
        path: the uploaded recording, or None.
        checkpoint: name of the checkpoint.
        precision: a precision, or `auto`.
        prompt: a `PromptPreset` or free text.
        hotwords: separated by commas or lines.
        max_new_tokens: token budget as it was typed; empty derives it from the duration.
        speech_gate: look for speech first.
        duration_s: length of the recording where it is known already.
        decode: decode path, None for the usual one.
        encoder_compile: how to compile the encoder, None for not at all.
    """

    path: str | None
    checkpoint: str
    precision: str = "auto"
    prompt: str = PromptPreset.DEFAULT.value
    hotwords: str = ""
    max_new_tokens: str = ""
    speech_gate: bool = True
    duration_s: float | None = None
    decode: str | None = None
    encoder_compile: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the page shows of a run now.

    Attributes:
        run: the run so far; its text grows and never shrinks.
        status: one line.
        engine: the resident engine, once known.
        load_s: seconds of loading, or None when the engine was resident.
        clip_warnings: what the decoder had to say about the sound.
        compile_s: seconds of compiling, or None when nothing was to compile.
    """

    run: Run
    status: str
    engine: EngineInfo | None = None
    load_s: float | None = None
    clip_warnings: tuple[str, ...] = ()
    compile_s: float | None = None


Shown = Waiting | Snapshot
"""What there is to see of a run: its place in line, then how far it is."""


def make_request(wishes: Wishes, context: AppContext) -> Request:
    """Read the recording and check every wish.

    Raises:
        AudioError: there is no recording, or it cannot be used.
        RequestError: a setting is impossible.
    """
    if not wishes.path:
        raise AudioError("There is no recording yet; upload one, record one or pick a sample.")
    options = DecodeOptions(max_new_tokens=token_budget(wishes.max_new_tokens))
    return Request(
        clip=read_audio(Path(wishes.path), max_duration_s=context.settings.max_duration_s),
        prompt=resolve_prompt(wishes.prompt),
        hotwords=split_hotwords(wishes.hotwords),
        options=options,
        speech_gate=wishes.speech_gate,
    )


def transcribe(wishes: Wishes, context: AppContext) -> Generator[Shown, None, None]:
    """Wait in line, then transcribe and yield snapshots; closing the iterator ends either.

    Raises:
        MossDemoError: the recording, a setting, the checkpoint or the device is at fault, or too
            many wait already.
    """
    config = context.engine_config(
        wishes.checkpoint, wishes.precision, wishes.decode, wishes.encoder_compile
    )
    audio_s = wishes.duration_s
    if wishes.path:
        hold(wishes.path)
        audio_s = audio_s or glance_duration_s(Path(wishes.path))
    open_request = partial(make_request, wishes, context)
    with closing(context.transcribe(config, open_request, audio_s, Door.PAGE)) as events:
        yield from snapshots(events)


def run_request(
    request: Request, config: EngineConfig, pool: EnginePool, ticket: Ticket | None = None
) -> Generator[Shown, None, None]:
    """Run a request on an engine and yield snapshots; closing the iterator stops the run.

    Args:
        request: what to transcribe.
        config: the engine.
        pool: where it runs.
        ticket: a place in line taken before.

    Raises:
        MossDemoError: the checkpoint or the device is at fault, or the request does not fit.
    """
    with closing(pool.stream(config, request, ticket)) as events:
        yield from snapshots(chain([Opened(request.clip)], events))


def snapshots(events: Iterable[TurnEvent]) -> Iterator[Shown]:
    """Fold events into snapshots, at most one a frame of `FRAME_S` while text flows.

    Args:
        events: `Opened` comes before all but `Waiting`.
    """
    shown_at = -FRAME_S
    for event in events:
        match event:
            case Waiting():
                yield event
                continue
            case Working():
                pass
            case Opened():
                clip = event.clip
                run = Run(clip.name, clip.digest, clip.duration_s)
                shown = Snapshot(run, present.STARTING, clip_warnings=clip.warnings)
            case Loading():
                shown = replace(shown, status=f"Loading {event.checkpoint}…")
            case Compiling():
                shown = replace(shown, status=present.compiling_line(event.chunks))
            case Ready():
                load_s = event.info.load_s if event.loaded else None
                shown = replace(
                    shown,
                    status="Listening for speech…",
                    engine=event.info,
                    load_s=load_s,
                    compile_s=event.compile_s,
                )
            case Started():
                run = advance(shown.run, event)
                shown = replace(shown, run=run, status="Encoding the audio…")
            case TextDelta() | SegmentDone() | Finished():
                shown = replace(shown, run=advance(shown.run, event))
                if event.at - shown_at < FRAME_S and not isinstance(event, Finished):
                    continue
                shown_at = event.at
                shown = replace(shown, status=present.status_line(shown.run))
        yield shown


def token_budget(text: str) -> int | None:
    """Read the token budget; empty means that it is derived from the duration.

    Raises:
        RequestError: the text is no whole number.
    """
    typed = text.strip()
    if not typed:
        return None
    if not re.fullmatch(r"[+-]?[0-9]{1,9}", typed):
        raise RequestError("The token budget must be a whole number, or empty.")
    return int(typed)


def prompt_text(preset: str, custom: str) -> str:
    """Return what the request gets: a preset's name, or the visitor's own text.

    Raises:
        RequestError: "custom" is chosen and nothing is written.
    """
    if preset in PROMPT_TEXTS or preset == PromptPreset.DEFAULT:
        return preset
    if not custom.strip():
        raise RequestError("The custom prompt is empty; write one or pick a preset.")
    return custom
