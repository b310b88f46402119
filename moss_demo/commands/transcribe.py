"""`transcribe`: a recording becomes a transcript on standard output, figures on standard error."""

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from moss_demo.commands.model_arguments import add_model_arguments, engine_config
from moss_demo.commands.output import check_output, warn, write_output
from moss_demo.domain.audio import AudioClip
from moss_demo.domain.diagnostics import diagnose
from moss_demo.domain.events import Event, Run, SegmentDone, advance
from moss_demo.domain.exports import ExportFormat, export, export_notes
from moss_demo.domain.figures import run_figures
from moss_demo.domain.prompts import resolve_prompt, split_hotwords
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import TINY
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.pool import (
    Compiling,
    EnginePool,
    Loading,
    PoolEvent,
    Ready,
    Waiting,
    Working,
)
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from moss_demo.settings import Settings, from_environment

TINY_LIMITS = (
    "tiny is the embedded demonstration checkpoint: English in lower case, best on the voices it "
    "was trained with, two minutes at most; use the published checkpoint for real work"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", type=Path, metavar="FILE", help="recording in any container")
    add_model_arguments(parser)
    parser.add_argument("--prompt", help="default, zh, en, speakers, or a text of your own")
    parser.add_argument("--hotwords", help="names and terms, separated by commas")
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="token budget")
    parser.add_argument("--temperature", type=float, default=0.0, help="0 is greedy (default)")
    parser.add_argument("--top-p", type=float, default=1.0, help="nucleus mass when sampling")
    parser.add_argument("--seed", type=int, default=0, help="seed when sampling")
    parser.add_argument(
        "--no-speech-gate", action="store_true", help="decode even where no speech is found"
    )
    parser.add_argument("--format", choices=[*ExportFormat], help="output format (default: txt)")
    parser.add_argument("--output", type=Path, metavar="PATH", help="write there, not to stdout")
    parser.add_argument("--stream", action="store_true", help="print segments as they complete")


def run(arguments: argparse.Namespace) -> int:
    """Transcribe one recording."""
    if arguments.stream and (arguments.format or arguments.output):
        raise RequestError("--stream prints segments as text; leave out --format and --output.")
    check_output(arguments.output)
    settings = from_environment()
    config = engine_config(arguments, settings)
    request = _request(arguments, settings)
    events = EnginePool().stream(config, request)
    try:
        with closing(events):
            finished, ready = _follow(events, request.clip, arguments.stream)
    finally:
        wait_for_workers()
    figures = run_figures(finished, ready.info.load_s, ready.compile_s)
    if not arguments.stream:
        fmt = ExportFormat(arguments.format or ExportFormat.TXT)
        text = export(
            finished.transcript,
            fmt,
            name=request.clip.name,
            duration_s=request.clip.duration_s,
            run=finished,
            figures=ready.info.record(),
        )
        write_output(text, arguments.output)
        warn(export_notes(finished.transcript, fmt, duration_s=request.clip.duration_s))
    _report(request.clip, finished, ready.info, figures)
    return 0


def _request(arguments: argparse.Namespace, settings: Settings) -> Request:
    options = DecodeOptions(
        arguments.max_new_tokens, arguments.temperature, arguments.top_p, arguments.seed
    )
    return Request(
        clip=read_audio(arguments.file, max_duration_s=settings.max_duration_s),
        prompt=resolve_prompt(arguments.prompt),
        hotwords=split_hotwords(arguments.hotwords),
        options=options,
        speech_gate=not arguments.no_speech_gate,
    )


def _follow(
    events: Iterator[PoolEvent], clip: AudioClip, prints_segments: bool
) -> tuple[Run, Ready]:
    """Fold the stream into a run, showing progress on a terminal."""
    state = Run(clip.name, clip.digest, clip.duration_s)
    ready: Ready | None = None
    hidden = prints_segments or not sys.stderr.isatty()
    with tqdm(total=round(clip.duration_s), unit="s", disable=hidden, leave=False) as bar:
        for event in events:
            if isinstance(event, Loading):
                bar.set_description(f"loading {event.checkpoint}")
            elif isinstance(event, Compiling):
                bar.set_description(f"compiling the encoder for {event.chunks} × 30 s")
            elif isinstance(event, Ready):
                ready = event
                bar.set_description(f"transcribing with {event.info.checkpoint}")
            elif not isinstance(event, Waiting | Working):
                state = _advance(state, event, prints_segments)
                bar.update(round(state.covered_s) - bar.n)
    if ready is None:
        raise RequestError("The run ended before it began; try again.")
    return state, ready


def _advance(state: Run, event: Event, prints_segments: bool) -> Run:
    if prints_segments and isinstance(event, SegmentDone):
        print(event.segment.marked(), flush=True)
    return advance(state, event)


def _report(
    clip: AudioClip, finished: Run, info: EngineInfo, figures: tuple[tuple[str, str], ...]
) -> None:
    """Print what ran, what to know about it and how long it took."""
    print(
        f"{info.checkpoint} · {info.precision} · {info.device} · attention {info.attention} · "
        f"encoder {info.encoder}",
        file=sys.stderr,
    )
    if info.checkpoint == TINY:
        print(TINY_LIMITS, file=sys.stderr)
    problem = () if info.compile_problem is None else (info.compile_problem,)
    warn((*problem, *clip.warnings, *(diagnostic.message for diagnostic in diagnose(finished))))
    print(" · ".join(f"{label} {value}" for label, value in figures), file=sys.stderr)
