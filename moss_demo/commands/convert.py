"""`convert`: a saved transcript, project JSON or raw model text, in any export format."""

import argparse
from pathlib import Path

from moss_demo.commands.output import read_text, warn, write_output
from moss_demo.domain.exports import ExportFormat, export_notes, export_project, read_transcript
from moss_demo.errors import RequestError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("transcript", metavar="TRANSCRIPT", help="file, or - for stdin")
    parser.add_argument("--format", choices=[*ExportFormat], required=True, help="output format")
    parser.add_argument("--output", type=Path, metavar="PATH", help="write there, not to stdout")
    parser.add_argument(
        "--duration", type=float, metavar="S", help="length of the recording in seconds"
    )


def run(arguments: argparse.Namespace) -> int:
    """Convert one transcript."""
    if arguments.duration is not None and not 0 < arguments.duration < float("inf"):
        raise RequestError("--duration must be a positive number of seconds.")
    project = read_transcript(
        read_text(arguments.transcript),
        name="transcript" if arguments.transcript == "-" else Path(arguments.transcript).stem,
        duration_s=arguments.duration,
    )
    fmt = ExportFormat(arguments.format)
    write_output(export_project(project, fmt), arguments.output)
    warn(export_notes(project.transcript, fmt, duration_s=project.duration_s))
    return 0
