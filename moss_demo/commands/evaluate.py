"""`evaluate`: many recordings become tables of transcripts and errors; the shell gets a summary."""

import argparse
import sys
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from tqdm import tqdm

from moss_demo.batch.evaluation import AnyEvent, Finished, Opened, evaluate_here, evaluate_there
from moss_demo.batch.manifest import Manifest
from moss_demo.batch.opening import Evaluation
from moss_demo.batch.reading import Task
from moss_demo.batch.report import Report
from moss_demo.batch.runner import Answered
from moss_demo.batch.sources import BUILTIN, open_manifest
from moss_demo.commands.evaluation_text import report_lines
from moss_demo.commands.model_arguments import add_model_arguments, engine_config
from moss_demo.commands.output import warn
from moss_demo.domain.prompts import resolve_prompt, split_hotwords
from moss_demo.domain.request import DecodeOptions
from moss_demo.engine.config import DecodePath, EngineConfig, choose_device
from moss_demo.engine.pool import EnginePool, Loading
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from moss_demo.scoring.normalize import Level
from moss_demo.settings import Worker, from_environment, read_remote, worker_from_environment

LOCAL = "local"
ENGINES = (LOCAL, "openai")

Events = Generator[AnyEvent, None, None]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "manifest",
        type=Path,
        metavar="MANIFEST",
        help="JSON lines or CSV with audio, reference, group, language; or a folder of recordings "
        f"with references of the same name; or {BUILTIN}, the set that ships with the project",
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder of the run")
    parser.add_argument("--resume", action="store_true", help="go on with the run in --out")
    parser.add_argument(
        "--batch-size", type=int, metavar="N", help="most recordings decoded together"
    )
    remote = parser.add_argument_group("remote engine")
    remote.add_argument(
        "--engine",
        choices=ENGINES,
        default=LOCAL,
        help="transcribe here, or send recordings to an OpenAI-compatible server",
    )
    remote.add_argument(
        "--base-url",
        metavar="URL",
        help="its address, such as http://host:8000/v1, or a name of MOSS_DEMO_REMOTES; --model is "
        "then a name there (default: its first), --batch-size the most requests under way",
    )
    add_model_arguments(parser)
    parser.set_defaults(decode=DecodePath.FAST)
    parser.add_argument("--prompt", help="default, zh, en, speakers, or a text of your own")
    parser.add_argument("--hotwords", help="names and terms, separated by commas")
    parser.add_argument("--max-new-tokens", type=int, metavar="N", help="token budget of each")
    parser.add_argument(
        "--no-speech-gate", action="store_true", help="decode even where no speech is found"
    )
    parser.add_argument(
        "--level",
        choices=[*Level],
        default=Level.LANGUAGE,
        help="what counts as the same word (default: by the rules of the language)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Evaluate; exit status 0 once every row is answered for, failed or not."""
    if arguments.batch_size is not None and arguments.batch_size < 1:
        raise RequestError("--batch-size must be at least 1.")
    worker = worker_from_environment()
    manifest, sources = open_manifest(arguments.manifest)
    wanted = Evaluation(
        manifest.entries,
        sources,
        _task(arguments),
        arguments.out,
        arguments.batch_size,
        arguments.resume,
        worker.rank,
    )
    if worker.rank == 0:
        warn(f"the column {name} means nothing here" for name in manifest.unknown_columns)
    try:
        with closing(_events(arguments, wanted, worker)) as events:
            report, rows, seconds = _follow(events, manifest, worker)
    finally:
        wait_for_workers()
    if report is not None:
        for line in report_lines(report):
            print(line)
    if rows:
        print(f"{rows} clips in {seconds:.2f} s: {rows / seconds:.2f} clips/s", file=sys.stderr)
    return 0


def _task(arguments: argparse.Namespace) -> Task:
    return Task(
        prompt=resolve_prompt(arguments.prompt),
        hotwords=split_hotwords(arguments.hotwords),
        options=DecodeOptions(arguments.max_new_tokens),
        speech_gate=not arguments.no_speech_gate,
        level=Level(arguments.level),
        max_duration_s=from_environment().max_duration_s,
    )


def _events(arguments: argparse.Namespace, wanted: Evaluation, worker: Worker) -> Events:
    if arguments.engine == LOCAL:
        if arguments.base_url:
            raise RequestError("--base-url belongs to --engine openai.")
        return evaluate_here(wanted, EnginePool(), _config(arguments, worker))
    if not arguments.base_url:
        raise RequestError("--engine openai needs --base-url, such as http://host:8000/v1.")
    configured = {server.name: server for server in from_environment().remotes}
    server = configured.get(arguments.base_url) or read_remote(arguments.base_url)
    return evaluate_there(wanted, server, arguments.model)


def _config(arguments: argparse.Namespace, worker: Worker) -> EngineConfig:
    """Name the engine; each of several processes takes the GPU of its own number."""
    config = engine_config(arguments, from_environment())
    if worker.count > 1 and arguments.device is None and config.device != "cpu":
        return replace(config, device=choose_device(f"cuda:{worker.local_rank}"))
    return config


def _follow(events: Events, manifest: Manifest, worker: Worker) -> tuple[Report | None, int, float]:
    """Show progress on a terminal; return the report, and what this process did how fast."""
    report, rows, began_at = None, 0, perf_counter()
    hidden = worker.rank > 0 or not sys.stderr.isatty()
    with tqdm(total=len(manifest.entries), unit="clip", disable=hidden, leave=False) as bar:
        for event in events:
            match event:
                case Loading():
                    bar.set_description(f"loading {event.checkpoint}")
                case Opened():
                    began_at = perf_counter()
                    bar.set_description(event.engine)
                    bar.update(event.done)
                    print(f"{event.engine} · batches of up to {event.batch_rows}", file=sys.stderr)
                case Answered():
                    rows += len(event.clips)
                    bar.update(len(event.clips))
                case Finished():
                    report = event.report
    return report, rows, perf_counter() - began_at
