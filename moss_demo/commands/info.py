"""`info`: what this installation is made of and what it finds."""

import argparse

from moss_demo.engine.environment import describe, describe_places
from moss_demo.settings import from_environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Take no arguments."""
    del parser


def run(arguments: argparse.Namespace) -> int:
    """Print label and value, one a line."""
    del arguments
    settings = from_environment()
    rows = (*describe(settings), *describe_places(settings))
    width = max(len(label) for label, _ in rows)
    for label, value in rows:
        print(f"{label:<{width}}  {value}")
    return 0
