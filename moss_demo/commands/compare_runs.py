"""Both sides of `compare --audio`: two engines on one decoded recording."""

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from moss_demo.domain.events import Run, advance
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import (
    EngineConfig,
    choose_decode,
    choose_device,
    choose_encoder_compile,
    choose_precision,
)
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.pool import Compiling, EnginePool, Loading, Ready, Waiting, Working
from moss_demo.engine.tensor_probe import compare_tensors
from moss_demo.engine.weights.report import report_dict
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from moss_demo.scoring.sides import Side, side_of
from moss_demo.scoring.tensor_parity import tensor_rows
from moss_demo.settings import Settings, from_environment

KEYS = ("model", "adapter", "precision", "device", "decode", "encoder-compile")


def run_sides(
    audio: Path, engines: tuple[str, str], *, with_tensors: bool
) -> tuple[Side, Side, dict[str, Any]]:
    """Transcribe one recording with two engines, A first.

    Args:
        audio: the recording.
        engines: A and B as `key=value` pairs separated by commas, such as `precision=fp32`.
        with_tensors: compare their numbers too, which loads and runs each once more.

    Returns:
        Both sides, and as JSON values what ran and how far the numbers are apart.

    Raises:
        MossDemoError: a pair, the recording or a checkpoint is at fault.
    """
    settings = from_environment()
    a, b = (engine_of(text, settings) for text in engines)
    request = Request(read_audio(audio, max_duration_s=settings.max_duration_s))
    pool = EnginePool()
    (first, a_info), (second, b_info) = (_run(pool, config, request) for config in (a, b))
    told: dict[str, Any] = {"engines": {"a": _told(a_info), "b": _told(b_info)}}
    if with_tensors:
        stages = compare_tensors(
            pool, (a, b), request, first.token_ids, lambda _: None, lambda: False
        )
        told["tensors"] = tensor_rows(stages)
    return side_of(first), side_of(second), told


def _told(info: EngineInfo | None) -> dict[str, object] | None:
    """Return everything known of an engine, every matrix of a weight format included."""
    if info is None:
        return None
    report = info.quantization
    return info.record() | {"quantization": None if report is None else report_dict(report)}


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
    device = choose_device(pairs.get("device"))
    return EngineConfig(
        checkpoint=pairs.get("model", settings.model),
        adapter=pairs.get("adapter"),
        device=device,
        precision=choose_precision(pairs.get("precision"), device),
        decode=choose_decode(pairs.get("decode"), device),
        encoder_compile=choose_encoder_compile(pairs.get("encoder-compile")),
    )


def _run(pool: EnginePool, config: EngineConfig, request: Request) -> tuple[Run, EngineInfo | None]:
    clip, info = request.clip, None
    run = Run(clip.name, clip.digest, clip.duration_s)
    try:
        with closing(pool.stream(config, request)) as events:
            for event in events:
                if isinstance(event, Ready):
                    info = event.info
                    print(f"{event.info.checkpoint} · {event.info.precision}", file=sys.stderr)
                elif not isinstance(event, Waiting | Working | Loading | Compiling):
                    run = advance(run, event)
    finally:
        wait_for_workers()
    return run, info
