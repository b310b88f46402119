"""Both sides of `compare --audio`: two engines on one decoded recording."""

import sys
from contextlib import closing
from pathlib import Path

from moss_demo.domain.events import Run, advance
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import (
    DecodePath,
    EngineConfig,
    choose_device,
    choose_encoder_compile,
    choose_precision,
)
from moss_demo.engine.pool import Compiling, EnginePool, Loading, Ready, Waiting, Working
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from moss_demo.scoring.sides import Side, side_of
from moss_demo.settings import Settings, from_environment

KEYS = ("model", "adapter", "precision", "device", "decode", "encoder-compile")


def run_sides(audio: Path, first: str, second: str) -> tuple[Side, Side]:
    """Transcribe one recording with two engines, A first.

    Args:
        audio: the recording.
        first: A as `key=value` pairs separated by commas, such as `precision=fp32`.
        second: B likewise.

    Raises:
        MossDemoError: a pair, the recording or a checkpoint is at fault.
    """
    settings = from_environment()
    configs = [engine_of(text, settings) for text in (first, second)]
    request = Request(read_audio(audio, max_duration_s=settings.max_duration_s))
    pool = EnginePool()
    a, b = (side_of(_run(pool, config, request)) for config in configs)
    return a, b


def engine_of(text: str, settings: Settings) -> EngineConfig:
    """Read `key=value` pairs; what is left out is chosen as everywhere else.

    Raises:
        RequestError: a key is unknown or a value is impossible.
        DeviceError: the device is not there.
    """
    pairs = dict(pair.split("=", 1) for pair in text.split(",") if "=" in pair)
    unknown = [pair for pair in text.split(",") if pair.split("=")[0] not in KEYS]
    if unknown or not pairs:
        raise RequestError(f"A side is key=value pairs with {', '.join(KEYS)}, not {text!r}.")
    if pairs.get("decode", DecodePath.REFERENCE) not in set(DecodePath):
        raise RequestError(f"{pairs['decode']!r} is no decode path; use {', '.join(DecodePath)}.")
    device = choose_device(pairs.get("device"))
    return EngineConfig(
        checkpoint=pairs.get("model", settings.model),
        adapter=pairs.get("adapter"),
        device=device,
        precision=choose_precision(pairs.get("precision"), device),
        decode=DecodePath(pairs.get("decode", DecodePath.REFERENCE)),
        encoder_compile=choose_encoder_compile(pairs.get("encoder-compile")),
    )


def _run(pool: EnginePool, config: EngineConfig, request: Request) -> Run:
    clip = request.clip
    run = Run(clip.name, clip.digest, clip.duration_s)
    try:
        with closing(pool.stream(config, request)) as events:
            for event in events:
                if isinstance(event, Ready):
                    print(f"{event.info.checkpoint} · {event.info.precision}", file=sys.stderr)
                elif not isinstance(event, Waiting | Working | Loading | Compiling):
                    run = advance(run, event)
    finally:
        wait_for_workers()
    return run
