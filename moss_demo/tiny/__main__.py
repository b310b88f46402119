"""The command line of the recipe, `python -m moss_demo.tiny`. Translates arguments only."""

import argparse
import sys
from pathlib import Path

import torch

from moss_demo.errors import MossDemoError
from moss_demo.tiny.builtin import write_builtin
from moss_demo.tiny.commands import evaluate, prepare_parts, write_samples
from moss_demo.tiny.corpus import LINES, Corpus
from moss_demo.tiny.fetching import fetch
from moss_demo.tiny.recipe import Settings, speak, train
from moss_demo.tiny.recordings import add_recordings, speakers_by_folder
from moss_demo.tiny.schedule import STAGES, Schedule


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands."""
    parser = argparse.ArgumentParser(prog="python -m moss_demo.tiny", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)

    get = commands.add_parser("fetch", help="download voices, texts and the encoder")
    get.add_argument("--data", type=Path, required=True)

    people = commands.add_parser("recordings", help="add recordings of people to train on")
    people.add_argument("--data", type=Path, required=True)
    people.add_argument("folder", type=Path, help="SPEAKER-*.flac or .opus, as LibriSpeech has")

    ready = commands.add_parser("prepare", help="compute what needs no GPU")
    ready.add_argument("--data", type=Path, required=True)
    ready.add_argument("--lines", type=int, default=LINES)

    say = commands.add_parser("speak", help="let the natural voices fill the folder of utterances")
    say.add_argument("--data", type=Path, required=True)
    say.add_argument("--shards", type=Path, help="default: DATA/shards")
    say.add_argument("--seconds", type=float, default=150.0)

    learn = commands.add_parser("train", help="train a checkpoint on a CUDA device")
    learn.add_argument("--data", type=Path, required=True)
    learn.add_argument("--out", type=Path, required=True)
    learn.add_argument("--shards", type=Path, help="default: DATA/shards")
    learn.add_argument("--seconds", type=float, default=1000.0, help="of optimizer steps")
    learn.add_argument("--stage", choices=tuple(STAGES), default="training")
    learn.add_argument("--start", type=Path, help="checkpoint that a later stage goes on from")
    learn.add_argument("--state", type=Path, help="go on from this file, and write it at the end")
    learn.add_argument("--last", type=float, default=1.0, help="share of the stage done after")
    learn.add_argument("--stop-after", type=float, default=1e9, help="hard stop, seconds")
    learn.add_argument("--classic-seconds", type=float, default=100.0)
    learn.add_argument("--classic", type=int, default=8, help="processes of classic voices")
    learn.add_argument("--planners", type=int, default=6, help="processes that plan windows")

    test = commands.add_parser("evaluate", help="print the model card's table")
    test.add_argument("checkpoint", type=Path)
    test.add_argument("--clips", type=int, default=100, help="clips a row")
    test.add_argument("--human", type=Path, help="folder of recordings for the human rows")
    test.add_argument("--rows", nargs="*", help="names of rows; default: all")
    test.add_argument("--out", type=Path, help="write every clip's reference and text here (JSON)")

    samples = commands.add_parser("samples", help="write the sample conversations")
    samples.add_argument("--data", type=Path, required=True)
    samples.add_argument("--out", type=Path, default=Path("assets/samples"))

    builtin = commands.add_parser("builtin", help="write the built-in set of the app's evaluation")
    builtin.add_argument("--out", type=Path, default=Path("assets/evaluate"))
    return parser


def run(arguments: argparse.Namespace) -> None:
    """Carry out one parsed command."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    match arguments.command:
        case "fetch":
            fetch(arguments.data)
        case "recordings":
            count = add_recordings(arguments.data, speakers_by_folder(arguments.folder))
            print(f"{count} recordings in {arguments.data / 'human'}")
        case "prepare":
            prepare_parts(arguments.data, arguments.lines)
        case "speak":
            shards = arguments.shards or arguments.data / "shards"
            hours = speak(Corpus(arguments.data), shards, arguments.seconds, device)
            print(f"{hours:.1f} h in {shards}")
        case "train":
            train(_settings(arguments, device), device)
        case "evaluate":
            evaluate(arguments, device)
        case "builtin":
            write_builtin(arguments.out)
        case "samples":
            write_samples(arguments.data, arguments.out)


def _settings(arguments: argparse.Namespace, device: torch.device) -> Settings:
    return Settings(
        corpus=Corpus(arguments.data),
        shards=arguments.shards or arguments.data / "shards",
        out=arguments.out,
        plan=Schedule(arguments.seconds, arguments.last),
        stage=STAGES[arguments.stage],
        start=arguments.start,
        state=arguments.state,
        classic_s=arguments.classic_seconds,
        classic_processes=arguments.classic,
        planners=arguments.planners,
        stop_after_s=arguments.stop_after,
        pool_hours=180.0 if device.type == "cuda" else 12.0,
        step_minutes=32 if device.type == "cuda" else 4,
        compiled=device.type == "cuda",
    )


def main() -> int:
    """Run the command line; 2 with one line on standard error for what a person can mend."""
    try:
        run(build_parser().parse_args())
    except MossDemoError as error:
        print(error.in_full, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
