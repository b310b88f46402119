"""`parse`: raw model text in, segments as JSON out."""

import argparse
import json

from moss_demo.commands.output import read_text, write_output
from moss_demo.domain.diagnostics import diagnose_transcript
from moss_demo.domain.exports import transcript_record
from moss_demo.domain.parser import parse
from moss_demo.errors import RequestError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("file", nargs="?", default="-", metavar="FILE", help="default: stdin")
    parser.add_argument(
        "--duration", type=float, metavar="S", help="length of the recording in seconds"
    )


def run(arguments: argparse.Namespace) -> int:
    """Parse one text."""
    if arguments.duration is not None and not 0 < arguments.duration < float("inf"):
        raise RequestError("--duration must be a positive number of seconds.")
    transcript = parse(read_text(arguments.file), arguments.duration)
    warnings = diagnose_transcript(transcript, arguments.duration)
    answer = transcript_record(transcript, warnings)
    write_output(json.dumps(answer, ensure_ascii=False), None)
    return 0
