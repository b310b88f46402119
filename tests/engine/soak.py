"""Runs an engine for hundreds of requests and watches what the process holds.

`python -m tests.engine.soak` takes the fast path with random weights of the published size:
recordings of five lengths in turn, every seventh stopped half-way. From the tenth request on no
figure may grow by more than 2 %, judged after recordings of equal length. Prints a table and ends
with 0 or 1; needs no web framework.
"""

import argparse
import gc
import resource
import sys
import threading
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

import torch

from moss_demo.bench.workload import Workload
from moss_demo.domain.events import Event, Finished, TextDelta
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import SYNTHETIC, find_checkpoint
from moss_demo.engine.config import (
    COMPILE_CHOICES,
    DecodePath,
    EncoderCompile,
    EngineConfig,
    choose_device,
    choose_precision,
)
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import NO_END, load

WORK = (
    Workload(28.0, 445, 190),
    Workload(4.0, 120, 40),
    Workload(95.0, 1_300, 600),
    Workload(58.0, 850, 400),
    Workload(12.0, 220, 90),
)
STOPPED_EVERY = 7
WARM_AFTER = 10
TOLERANCE = 0.02


@dataclass(frozen=True, slots=True)
class Footprint:
    """What the process holds between two requests.

    Attributes:
        tensors_mib: live tensors on the device.
        device_mib: everything in use on the device, libraries and graphs included.
        resident_mib: main memory of the process.
        threads: threads of Python.
        files: open files.
    """

    tensors_mib: float
    device_mib: float
    resident_mib: float
    threads: int
    files: int

    def growth(self, since: "Footprint") -> dict[str, float]:
        """Return the relative growth of every figure that is not zero."""
        before = asdict(since)
        return {k: v / before[k] - 1 for k, v in asdict(self).items() if before[k]}


def footprint(device: str) -> Footprint:
    """Look at the device and at the process."""
    gc.collect()
    tensors = on_device = 0
    if device != "cpu":
        torch.cuda.synchronize(device)
        free, total = torch.cuda.mem_get_info(device)
        tensors, on_device = torch.cuda.memory_allocated(device), total - free
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return Footprint(
        tensors / 2**20,
        on_device / 2**20,
        pages * resource.getpagesize() / 2**20,
        threading.active_count(),
        sum(1 for _ in Path("/proc/self/fd").iterdir()),
    )


def transcribe(engine: Engine, request: Request, *, stops: bool) -> float:
    """Make one request, half of it when it `stops`; return its seconds.

    Raises:
        AssertionError: it wrote fewer tokens than it had to, or did not stop.
    """
    wanted = request.options.max_new_tokens or 0
    tokens, finished = 0, False

    def follow(event: Event) -> None:
        nonlocal tokens, finished
        tokens += len(event.token_ids) if isinstance(event, TextDelta) else 0
        finished = finished or isinstance(event, Finished)

    started_at = perf_counter()
    engine.transcribe(request, follow, lambda: stops and tokens >= wanted // 2)
    assert finished != stops, "a request did not end as it should"
    assert stops or tokens == wanted, f"{tokens} of {wanted} tokens were written"
    return perf_counter() - started_at


def soak(engine: Engine, requests: Sequence[Request], count: int) -> bool:
    """Make `count` requests in turn; tell whether nothing grew after the tenth."""
    warm: Footprint | None = None
    worst: dict[str, float] = {}
    seconds: list[float] = []
    print("request  tensors MiB  device MiB  resident MiB  threads  files  median s")
    for number in range(1, count + 1):
        stops = number % STOPPED_EVERY == 0
        request = requests[number % len(requests)]
        seconds.append(transcribe(engine, request, stops=stops))
        held = footprint(engine.config.device)
        if number == WARM_AFTER:
            warm = held
        if warm is not None and number % len(requests) == WARM_AFTER % len(requests):
            worst = {k: max(v, worst.get(k, v)) for k, v in held.growth(warm).items()}
        if number % 20 == 0 or number in (1, WARM_AFTER, count):
            print(
                f"{number:7}  {held.tensors_mib:11.1f}  {held.device_mib:10.1f}  "
                f"{held.resident_mib:12.1f}  {held.threads:7}  {held.files:5}  "
                f"{median(seconds[-20:]):8.3f}",
                flush=True,
            )
    print("largest growth after the tenth:", ", ".join(f"{k} {v:+.2%}" for k, v in worst.items()))
    return all(growth <= TOLERANCE for growth in worst.values())


def main(words: Sequence[str] | None = None) -> int:
    """Run the soak and print its verdict."""
    parser = argparse.ArgumentParser(description="Watch an engine's memory over many requests.")
    parser.add_argument("--model", default=SYNTHETIC)
    parser.add_argument("--device", help="default: a GPU when there is one")
    parser.add_argument("--decode", choices=[*DecodePath], default=DecodePath.FAST)
    parser.add_argument("--encoder-compile", choices=COMPILE_CHOICES, default=EncoderCompile.OFF)
    parser.add_argument("--requests", type=int, default=300)
    arguments = parser.parse_args(words)
    device = choose_device(arguments.device)
    precision = choose_precision(None, device)
    config = EngineConfig(
        arguments.model,
        device,
        precision,
        DecodePath(arguments.decode),
        EncoderCompile(arguments.encoder_compile),
    )
    checkpoint = find_checkpoint(arguments.model)
    loaded = replace(load(checkpoint, precision.dtype, device), end_ids=NO_END)
    engine = Engine(config, checkpoint, loaded, 0.0)
    print(f"{config} · torch {torch.__version__}")
    requests = [work.request(loaded, seed) for seed, work in enumerate(WORK)]
    for request in requests:
        for chunks in engine.compile_for([request.clip]):
            print(f"compiling the encoder for {chunks} x 30 s", flush=True)
    passed = soak(engine, requests, arguments.requests)
    print("PASS" if passed else "FAIL")
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
