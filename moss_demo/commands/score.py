"""`score`: every measure of a transcript against a reference, as JSON."""

import argparse
import json

from moss_demo.commands.output import write_output
from moss_demo.commands.sides import read_side
from moss_demo.errors import TranscriptError
from moss_demo.scoring.report import score_dict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("reference", metavar="REFERENCE", help="the truth, in any known format")
    parser.add_argument("hypothesis", metavar="HYPOTHESIS", help="the transcript that is measured")
    parser.add_argument(
        "--language", metavar="CODE", help="en, zh, …; guessed from the reference when left out"
    )


def run(arguments: argparse.Namespace) -> int:
    """Score one transcript."""
    reference = read_side(arguments.reference).transcript
    if not reference.text.strip():
        raise TranscriptError(f"{arguments.reference} holds no words; name a reference transcript.")
    figures = score_dict(
        reference,
        read_side(arguments.hypothesis).transcript,
        language=arguments.language,
    )
    write_output(json.dumps(figures, ensure_ascii=False, indent=2), None)
    return 0
