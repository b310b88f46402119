"""`compare`: two saved transcripts, one verdict as JSON; 0 pass, 1 fail, 3 invalid."""

import argparse
import json

from moss_demo.commands.output import write_output
from moss_demo.commands.sides import read_side
from moss_demo.scoring.parity import parity
from moss_demo.scoring.report import EXIT_STATUS, verdict_dict


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("reference", metavar="A", help="the transcript that B should equal")
    parser.add_argument("candidate", metavar="B", help="the transcript that is judged")
    parser.add_argument(
        "--strict-labels", action="store_true", help="fail speakers that are merely relabelled"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare two transcripts."""
    reference, candidate = read_side(arguments.reference), read_side(arguments.candidate)
    verdict = parity(
        reference.transcript,
        candidate.transcript,
        reference_meta=reference.meta,
        candidate_meta=candidate.meta,
        strict_labels=arguments.strict_labels,
    )
    write_output(json.dumps(verdict_dict(verdict), ensure_ascii=False, indent=2), None)
    return EXIT_STATUS[verdict.gate]
