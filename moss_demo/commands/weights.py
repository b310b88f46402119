"""`weights`: what a precision does to a checkpoint's weights, matrix by matrix, as JSON."""

import argparse
import json
from typing import Any

from moss_demo.commands.model_arguments import add_model_arguments, engine_config
from moss_demo.commands.output import write_output
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.weights.preparing import prepare
from moss_demo.engine.weights.report import report_dict, weight_bytes
from moss_demo.settings import from_environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    add_model_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    """Load the weights and report; nothing is transcribed."""
    config = engine_config(arguments, from_environment())
    loaded = prepare(find_checkpoint(config.checkpoint), config)
    values: dict[str, Any] = {
        "checkpoint": config.checkpoint,
        "adapter": config.adapter,
        "precision": config.precision,
        "weight_bytes": weight_bytes(loaded.model),
    }
    report = loaded.quantization
    values["quantization"] = None if report is None else report_dict(report)
    write_output(json.dumps(values, ensure_ascii=False, indent=2), None)
    return 0
