"""`compare`: two transcripts, saved or made now, one verdict as JSON; 0 pass, 1 fail, 3 invalid."""

import argparse
import importlib
import json
from pathlib import Path
from typing import Any

from moss_demo.commands.output import write_output
from moss_demo.commands.sides import read_side
from moss_demo.errors import RequestError
from moss_demo.scoring.parity import parity
from moss_demo.scoring.report import EXIT_STATUS, verdict_dict
from moss_demo.scoring.sides import Side


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("files", nargs="*", metavar="A B", help="two saved transcripts")
    parser.add_argument("--audio", type=Path, metavar="FILE", help="make both sides from this")
    parser.add_argument("--a", metavar="KEY=VALUE,…", help="engine of A, such as precision=fp32")
    parser.add_argument("--b", metavar="KEY=VALUE,…", help="engine of B: model, precision, …")
    parser.add_argument(
        "--tensors",
        action="store_true",
        help="with --audio: compare encoder, projector and logits too, which runs both once more",
    )
    parser.add_argument(
        "--strict-labels", action="store_true", help="fail speakers that are merely relabelled"
    )


def run(arguments: argparse.Namespace) -> int:
    """Compare two transcripts."""
    reference, candidate, engines = _sides(arguments)
    verdict = parity(
        reference.transcript,
        candidate.transcript,
        reference_meta=reference.meta,
        candidate_meta=candidate.meta,
        strict_labels=arguments.strict_labels,
    )
    write_output(json.dumps(verdict_dict(verdict) | engines, ensure_ascii=False, indent=2), None)
    return EXIT_STATUS[verdict.gate]


def _sides(arguments: argparse.Namespace) -> tuple[Side, Side, dict[str, Any]]:
    """Return both sides, and what is to be said of engines that made them."""
    if arguments.audio is None:
        if len(arguments.files) != 2 or arguments.a or arguments.b or arguments.tensors:
            raise RequestError("Name two transcripts, or a recording with --audio, --a and --b.")
        return read_side(arguments.files[0]), read_side(arguments.files[1]), {}
    if arguments.files or not arguments.a or not arguments.b:
        raise RequestError("--audio needs --a and --b, and no transcripts beside them.")
    runs = importlib.import_module("moss_demo.commands.compare_runs")  # needs the model library
    made: tuple[Side, Side, dict[str, Any]] = runs.run_sides(
        arguments.audio, (arguments.a, arguments.b), with_tensors=arguments.tensors
    )
    return made
