"""`download`: published weights into the Hugging Face cache; Ctrl-C cancels."""

import argparse
import sys
from contextlib import closing

from tqdm import tqdm

from moss_demo.engine.checkpoints import HUB_CHECKPOINTS, PUBLISHED
from moss_demo.engine.download import download
from moss_demo.settings import from_environment


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument("repo", nargs="?", choices=[*HUB_CHECKPOINTS], default=PUBLISHED.repo)


def run(arguments: argparse.Namespace) -> int:
    """Download one checkpoint."""
    hub = HUB_CHECKPOINTS[arguments.repo]
    hidden = not sys.stderr.isatty()
    progress = download(hub, from_environment().hub_endpoint)
    with closing(progress), tqdm(unit="B", unit_scale=True, disable=hidden, desc=hub.repo) as bar:
        for step in progress:
            bar.total = step.total_bytes
            bar.update(step.done_bytes - bar.n)
    print(f"{hub.repo} is in the cache; use it with --model {hub.repo}", file=sys.stderr)
    return 0
