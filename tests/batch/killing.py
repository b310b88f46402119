"""Kills evaluations again and again: `python killing.py MANIFEST OUT SEED…`.

The engine is loaded once; each run is a forked child, which kills itself with SIGKILL right before
a file operation in its folder. Which one is drawn from the seed. Prints how many runs of each seed
were killed.
"""

import os
import signal
import sys
from pathlib import Path
from random import Random

import torch

from moss_demo.batch.evaluation import evaluate
from moss_demo.batch.manifest import Manifest
from moss_demo.batch.opening import Evaluation
from moss_demo.batch.reading import Task
from moss_demo.batch.sources import Sources, open_manifest
from moss_demo.batch.transcriber import LocalTranscriber
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import load

MOST_OPERATIONS = 40
"""More than a run needs for a part or for the tables, so that runs get on between their deaths."""

WATCHED = ("open", "os.rename", "os.mkdir", "os.listdir")


def die_at(operation: int, folder: Path) -> None:
    """Kill this process right before its n-th operation on a file of the folder."""
    left = operation

    def watch(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal left
        if event in WATCHED and str(arguments[0]).startswith(str(folder)):
            left -= 1
            if not left:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def run_killed(
    listed: Manifest, sources: Sources, transcriber: LocalTranscriber, out: Path, seed: int
) -> int:
    """Run until a run comes through; with seed 0 nothing is killed. Returns the deaths."""
    draw, killed = Random(seed), 0
    while True:
        operation = draw.randint(1, MOST_OPERATIONS)
        child = os.fork()
        if not child:
            torch.set_num_threads(1)  # else two reading threads race to renew torch's pool
            if seed:
                die_at(operation, out)
            resume = (out / "plan.json").exists()
            wanted = Evaluation(listed.entries, sources, Task(), out, 1, resume)
            evaluate(wanted, transcriber, lambda _: None, lambda: False)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status):
            assert status == 0
            return killed
        killed += 1


def main(manifest: Path, out: Path, seeds: list[int]) -> None:
    """Load the engine and run once a seed, each in its own folder."""
    torch.set_num_threads(1)  # threads would not survive the fork
    config = EngineConfig("tiny", "cpu", Precision.FP32, DecodePath.FAST)
    checkpoint = find_checkpoint("tiny")
    engine = Engine(config, checkpoint, load(checkpoint, torch.float32, "cpu"), 0.0)
    listed, sources = open_manifest(manifest)
    transcriber = LocalTranscriber(engine)
    transcriber.prepare(Request(read_audio(sources.audio(listed.entries[0]))))  # loads the gate
    for seed in seeds:
        print(run_killed(listed, sources, transcriber, out / str(seed), seed), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), [int(seed) for seed in sys.argv[3:]])
