"""`python -m moss_demo COMMAND`: the command line.

Each command is a module with `add_arguments(parser)` and `run(arguments) -> int`. Only the chosen
one is imported, since some need a model library and some do not. Exit status 0, or 2 with one line
on standard error for input that a person can mend; `compare` adds 1 (fail) and 3 (invalid).
"""

import argparse
import importlib
import sys
from collections.abc import Sequence
from io import BytesIO, TextIOWrapper
from types import ModuleType
from typing import NoReturn

from moss_demo import __version__
from moss_demo.engine.weights.packages import hide_torchao
from moss_demo.errors import MossDemoError
from moss_demo.settings import keep_kernels

COMMANDS = {
    "transcribe": "turn a recording into a diarized transcript",
    "parse": "read raw model text and print its segments as JSON",
    "convert": "turn a saved transcript into another format",
    "compare": "judge whether one transcript equals another: words, speakers, times",
    "score": "measure a transcript against a reference",
    "benchmark": "measure encoder, requests, precisions, batches and memory",
    "evaluate": "transcribe and measure many recordings, resumable, on one or many devices",
    "weights": "report what a precision does to the weights: bytes and errors of each matrix",
    "info": "print versions, devices, checkpoints and folders",
    "bench-engine": "time the fast decode path against the reference",
    "space": "write the folder to push to a Hugging Face Space",
    "download": "fetch published weights into the Hugging Face cache",
}
PROGRAM = "python -m moss_demo"
INPUT_ERROR = 2
INTERRUPTED = 130


class OneLineParser(argparse.ArgumentParser):
    """Says in one line what is wrong with the arguments."""

    def error(self, message: str) -> NoReturn:
        """Print the message and exit."""
        self.exit(INPUT_ERROR, f"{self.prog}: {message}; see {self.prog} --help\n")


def build_parser(command: str | None = None) -> tuple[argparse.ArgumentParser, ModuleType | None]:
    """Build the parser; only the arguments of `command` are filled in.

    Returns:
        The parser and the module of `command`, or None when there is no such command.
    """
    parser = OneLineParser(
        prog=PROGRAM,
        description="Transcribe and diarize recordings with MOSS-Transcribe-Diarize.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    chosen = None
    for name, summary in COMMANDS.items():
        subparser = subparsers.add_parser(
            name, help=summary, description=summary[0].upper() + summary[1:]
        )
        if name == command:
            chosen = importlib.import_module(f"moss_demo.commands.{name.replace('-', '_')}")
            chosen.add_arguments(subparser)
    return parser, chosen


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command.

    Args:
        arguments: words after the program's name, or None for those of the process.

    Returns:
        The exit status.
    """
    words = list(sys.argv[1:] if arguments is None else arguments)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # the shell closed it
            setattr(sys, name, TextIOWrapper(BytesIO(), encoding="utf-8"))
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    hide_torchao()
    command = next((word for word in words if word in COMMANDS), None)
    keep_kernels()
    try:
        parser, module = build_parser(command)
        parsed = parser.parse_args(words)
        if module is None:
            parser.error("choose a command")
        return int(module.run(parsed))
    except MossDemoError as error:
        print(f"{PROGRAM} {command}: {error.in_full}", file=sys.stderr)
        return INPUT_ERROR
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
