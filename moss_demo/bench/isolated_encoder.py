"""The encoder mode that must not share a process with the decoder, measured in one of its own.

The mode keeps CUDA graphs of its own, which corrupted results beside those of a decoder. The child
(`python -m moss_demo.bench.isolated_encoder`) measures it against eager calls of the same process.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from moss_demo.bench.encoder_calls import measure_encoder
from moss_demo.bench.report import Case
from moss_demo.bench.report_json import read_case
from moss_demo.engine.config import EncoderCompile, EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from moss_demo.errors import DeviceError

SUFFIX = "/own process"
POLL_S = 0.2


def measure_isolated(
    config: EngineConfig, chunks: int, warm_ups: int, iterations: int, tick: Callable[[float], None]
) -> list[Case]:
    """Measure in a child and return its cases.

    Args:
        config: the engine whose encoder it is.
        chunks: windows of 30 s a call.
        warm_ups: calls before the timed ones.
        iterations: timed calls.
        tick: called while waiting; when it raises, the child is ended.

    Raises:
        DeviceError: the child failed, as this mode is known to do.
    """
    order = [config.checkpoint, config.device, config.precision, chunks, warm_ups, iterations]
    child = subprocess.Popen(
        [sys.executable, "-m", "moss_demo.bench.isolated_encoder", json.dumps(order)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],  # where the module is found
    )
    try:
        while True:
            try:
                output, complaints = child.communicate(timeout=POLL_S)
                break
            except subprocess.TimeoutExpired:
                tick(0.0)
    finally:
        child.kill()
        child.wait()
    if child.returncode != 0:
        last = (complaints.strip().splitlines() or ["no message"])[-1]
        raise DeviceError(f"The process of its own ended with status {child.returncode}: {last}")
    return [read_case(case) for case in json.loads(output.splitlines()[-1])]


def main(order: str) -> None:
    """Measure what `order` asks for and print the cases as one line of JSON."""
    checkpoint, device, precision, chunks, warm_ups, iterations = json.loads(order)
    config = EngineConfig(checkpoint, device, Precision(precision))
    with EnginePool().borrow(config, lambda _: None, lambda: False) as engine:
        cases = measure_encoder(
            engine,
            (EncoderCompile.OFF, EncoderCompile.REDUCE_OVERHEAD),
            chunks,
            warm_ups=warm_ups,
            iterations=iterations,
            tick=lambda _: None,
            suffix=SUFFIX,
        )
    print(json.dumps([asdict(case) for case in cases]))


if __name__ == "__main__":
    main(sys.argv[1])
