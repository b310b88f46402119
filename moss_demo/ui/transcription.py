"""A transcription as the page and its endpoint see it: snapshots at a readable pace.

The pace is taken from the events' own times, so this stays a pure fold over the stream.
"""

import re
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from moss_demo.domain.events import Finished, Run, SegmentDone, Started, TextDelta, advance
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset, resolve_prompt, split_hotwords
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.engine import EngineInfo
from moss_demo.engine.pool import Compiling, EnginePool, Loading, PoolEvent, Ready
from moss_demo.errors import AudioError, RequestError
from moss_demo.ui import present
from moss_demo.ui.context import AppContext

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
    """

    path: str | None
    checkpoint: str
    precision: str = "auto"
    prompt: str = PromptPreset.DEFAULT.value
    hotwords: str = ""
    max_new_tokens: str = ""
    speech_gate: bool = True


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What the page shows now.

    Attributes:
        run: the run so far; its text grows and never shrinks.
        status: one line.
        engine: the resident engine, once known.
        load_s: seconds of loading, or None when the engine was resident.
        clip_warnings: what the decoder had to say about the sound.
    """

    run: Run
    status: str
    engine: EngineInfo | None = None
    load_s: float | None = None
    clip_warnings: tuple[str, ...] = ()


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


def transcribe(wishes: Wishes, context: AppContext) -> Generator[Snapshot, None, None]:
    """Transcribe and yield snapshots; closing the iterator stops the run.

    Raises:
        MossDemoError: the recording, a setting, the checkpoint or the device is at fault.
    """
    config = context.engine_config(wishes.checkpoint, wishes.precision)
    yield from run_request(make_request(wishes, context), config, context.pool)


def run_request(
    request: Request, config: EngineConfig, pool: EnginePool
) -> Generator[Snapshot, None, None]:
    """Run a request on an engine and yield snapshots; closing the iterator stops the run.

    Raises:
        MossDemoError: the checkpoint or the device is at fault, or the request does not fit.
    """
    clip = request.clip
    run = Run(clip.name, clip.digest, clip.duration_s)
    waiting = "Waiting for the run in progress…" if pool.is_busy else "Starting…"
    yield Snapshot(run, waiting, clip_warnings=clip.warnings)
    with closing(pool.stream(config, request)) as events:
        yield from snapshots(events, run, clip.warnings)


def snapshots(
    events: Iterable[PoolEvent], run: Run, clip_warnings: tuple[str, ...]
) -> Iterator[Snapshot]:
    """Fold events into snapshots, at most one a frame of `FRAME_S` while text flows."""
    engine: EngineInfo | None = None
    load_s: float | None = None
    shown_at = -FRAME_S
    for event in events:
        match event:
            case Loading():
                yield Snapshot(run, f"Loading {event.checkpoint}…", None, None, clip_warnings)
                continue
            case Compiling():
                yield Snapshot(run, present.compiling_line(event.chunks), None, None, clip_warnings)
                continue
            case Ready():
                engine = event.info
                load_s = engine.load_s if event.loaded else None
                yield Snapshot(run, "Listening for speech…", engine, load_s, clip_warnings)
                continue
            case Started() | TextDelta() | SegmentDone() | Finished():
                run = advance(run, event)
        if isinstance(event, Started):
            yield Snapshot(run, "Encoding the audio…", engine, load_s, clip_warnings)
        elif isinstance(event, Finished) or event.at - shown_at >= FRAME_S:
            shown_at = event.at
            yield Snapshot(run, present.status_line(run), engine, load_s, clip_warnings)


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
