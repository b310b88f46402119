"""`bench-engine`: what the fast decode path gains over the reference, as a table with raw values.

Both paths run in one process over one copy of the weights. The recordings are noise and the token
counts fixed, so random weights of the published size do: they say how long, never what.
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import truediv
from statistics import median

import torch

from moss_demo.bench.order import SYNTHETIC_RECORDINGS
from moss_demo.bench.workload import Workload, decode_bytes
from moss_demo.domain.events import Run
from moss_demo.engine.checkpoints import SYNTHETIC, TINY, find_checkpoint
from moss_demo.engine.config import (
    DecodePath,
    EncoderCompile,
    EngineConfig,
    Precision,
    choose_device,
    choose_precision,
)
from moss_demo.engine.encoder import Encoder
from moss_demo.engine.encoding import batch_sizes, encode_batches
from moss_demo.engine.engine import Engine
from moss_demo.engine.fast.log_mel import DeviceLogMel
from moss_demo.engine.loading import NO_END, Loaded
from moss_demo.engine.together import transcribe_together
from moss_demo.engine.weights.preparing import prepare


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured quantity.

    Attributes:
        work: what was done, by which path.
        unit: of the values.
        values: raw, in the order they were taken.
    """

    work: str
    unit: str
    values: tuple[float, ...]

    def line(self) -> str:
        """Return a row of the table: work, median, spread, raw values."""
        raw = " ".join(f"{value:.4g}" for value in self.values)
        return f"{self.work:<58} {median(self.values):>9.4g} {self.unit:<9} [{raw}]"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured.

    Attributes:
        repeats: runs of each work after one that warms up.
        short: a clip of half a minute.
        long: a clip of five and a half minutes, and as many tokens as its speech would take.
        deep: a long prompt with few tokens, for the speed of decoding behind it.
        rows: clips of a batch.
        encoded_s: length of the clip for the encoder alone.
    """

    repeats: int
    short: Workload
    long: Workload
    deep: Workload
    rows: int
    encoded_s: float


FULL = Plan(10, *SYNTHETIC_RECORDINGS, Workload(327.6, 6_900, 128), 32, 327.6)
QUICK = Plan(1, Workload(4.0, 120, 12), Workload(35.0, 560, 12), Workload(4.0, 1_100, 12), 3, 4.0)
REFERENCE_TOKENS = 64
"""Tokens of the reference path on the long clip: its time a token does not need more."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command; both decode paths are always measured."""
    parser.add_argument(
        "--model", metavar="NAME|DIR", help=f"default: {SYNTHETIC}, and {TINY} with --quick"
    )
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU when there is one)")
    parser.add_argument("--precision", choices=[*Precision], help="number format")
    parser.add_argument("--repeats", type=int, metavar="N", help="runs of each work (default: 10)")
    parser.add_argument(
        "--quick", action="store_true", help=f"a few seconds of {TINY}, to see that it works"
    )


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    device = choose_device(arguments.device)
    precision = choose_precision(arguments.precision, device)
    name = arguments.model or (TINY if arguments.quick else SYNTHETIC)
    plan = QUICK if arguments.quick else FULL
    repeats = max(1, arguments.repeats or plan.repeats)
    checkpoint = find_checkpoint(name)
    loaded = prepare(checkpoint, EngineConfig(name, device, precision))
    loaded = replace(loaded, end_ids=NO_END)
    fast, reference = (
        Engine(EngineConfig(name, device, precision, decode), checkpoint, loaded, 0.0)
        for decode in (DecodePath.FAST, DecodePath.REFERENCE)
    )
    print(f"{name} · {precision} · {device} · {fast.info.attention} · torch {torch.__version__}")
    for figures in (
        _short(fast, reference, loaded, plan.short, repeats),
        _deep(fast, loaded, plan.deep, repeats),
        _long(fast, reference, loaded, plan.long, repeats),
        _batch(fast, loaded, plan, repeats),
        _encoder(loaded, plan.encoded_s, repeats),
    ):
        for figure in figures:
            print(figure.line(), flush=True)
    return 0


def _short(
    fast: Engine, reference: Engine, loaded: Loaded, work: Workload, repeats: int
) -> list[Figure]:
    """Time a short clip on both paths in turn, so that a busy host disturbs both alike."""
    request = work.request(loaded)
    fast_runs, reference_runs = [], []
    for _ in range(repeats + 1):
        fast_runs.append(transcribe_together(fast, [request])[0])
        reference_runs.append(transcribe_together(reference, [request])[0])
    gain = [
        _seconds(slow) / _seconds(quick)
        for slow, quick in zip(reference_runs[1:], fast_runs[1:], strict=True)
    ]
    return [
        *_times(f"fast, {_what(fast_runs[-1])}", fast_runs[1:]),
        *_times(f"reference, {_what(reference_runs[-1])}", reference_runs[1:]),
        Figure(f"fast against reference, {work.duration_s:g} s clip", "times", tuple(gain)),
    ]


def _deep(fast: Engine, loaded: Loaded, work: Workload, repeats: int) -> list[Figure]:
    """Time decoding behind a long prompt."""
    request = work.request(loaded)
    runs = [transcribe_together(fast, [request])[0] for _ in range(repeats + 1)][1:]
    return [_token_time(f"fast, {_what(runs[-1])}", runs)]


def _long(
    fast: Engine, reference: Engine, loaded: Loaded, work: Workload, repeats: int
) -> list[Figure]:
    """Time a long clip on the fast path, and a few tokens of it on the reference path."""
    request = work.request(loaded)
    runs = [transcribe_together(fast, [request])[0] for _ in range(repeats + 1)][1:]
    what = f"fast, {_what(runs[-1])}"
    few = Workload(work.duration_s, work.prompt_tokens, min(work.tokens, REFERENCE_TOKENS))
    slow = transcribe_together(reference, [few.request(loaded)])
    needed_bytes = fast.info.weight_bytes + decode_bytes(loaded, _positions(runs[-1]))
    peaks = tuple(
        r.finished.peak_memory_bytes / needed_bytes
        for r in runs
        if r.finished and r.finished.peak_memory_bytes
    )
    figures = [*_times(what, runs), _token_time(f"reference, {_what(slow[0])}", slow)]
    if fast.config.device != "cpu":  # a process on a CPU has one peak for its life
        figures.append(Figure(f"{what}: peak by weights + cache", "times", peaks))
    return figures


def _batch(fast: Engine, loaded: Loaded, plan: Plan, repeats: int) -> list[Figure]:
    """Time a batch of short clips."""
    requests = [plan.short.request(loaded, seed) for seed in range(plan.rows)]
    batches = [transcribe_together(fast, requests) for _ in range(repeats + 1)][1:]
    audio_s = sum(request.clip.duration_s for request in requests)
    speeds = tuple(audio_s / max(_seconds(run) for run in batch) for batch in batches)
    return [Figure(f"fast, {plan.rows} clips of {_what(batches[-1][0])}", "audio s/s", speeds)]


def _encoder(loaded: Loaded, duration_s: float, repeats: int) -> list[Figure]:
    """Time the encoder compiled and eager in turn; compiling is timed apart."""
    clip = Workload(duration_s, 0, 1).request(loaded).clip
    log_mel = DeviceLogMel(loaded.processor.feature_extractor, loaded.model.device)
    eager, compiled = (
        Encoder(loaded, m) for m in (EncoderCompile.OFF, EncoderCompile.MAX_AUTOTUNE)
    )
    for chunks in compiled.to_compile(batch_sizes([clip])):
        compiled.compile(chunks)
    times: dict[Encoder, list[float]] = {eager: [], compiled: []}
    parts = {}
    for _ in range(repeats + 1):
        for encoder in times:
            *_, encoded = encode_batches(encoder, log_mel, [clip])
            times[encoder].append(1e3 * encoded.encoder_s)
            parts[encoder] = torch.cat(encoded.parts).float()
    slow, quick = (tuple(values[1:]) for values in times.values())
    drift = (parts[compiled] - parts[eager]).norm() / parts[eager].norm()
    what = f"encoder, {duration_s:g} s"
    return [
        Figure(f"{what}: eager", "ms", slow),
        Figure(f"{what}: compiled", "ms", quick),
        Figure(f"{what}: compiled against eager", "times", tuple(map(truediv, slow, quick))),
        Figure(f"{what}: drift of the embeddings", "", (float(drift),)),
        Figure(f"{what}: compiling", "s", (compiled.compile_s,)),
    ]


def _times(what: str, runs: Sequence[Run]) -> list[Figure]:
    phases = [run.finished.phases for run in runs if run.finished]
    return [
        Figure(what, "s", tuple(_seconds(run) for run in runs)),
        Figure(f"{what}: RTF", "", tuple(run.rtf or 0.0 for run in runs)),
        Figure(f"{what}: first token", "ms", tuple(1e3 * (r.first_token_at or 0) for r in runs)),
        Figure(f"{what}: encoder", "ms", tuple(1e3 * phase.encoder_s for phase in phases)),
        _token_time(what, runs),
    ]


def _token_time(what: str, runs: Sequence[Run]) -> Figure:
    times = tuple(1e3 / run.tokens_per_s for run in runs if run.tokens_per_s)
    return Figure(f"{what}: decode", "ms/token", times)


def _seconds(run: Run) -> float:
    return run.finished.at if run.finished else 0.0


def _positions(run: Run) -> int:
    return (run.started.prompt_tokens if run.started else 0) + len(run.token_ids)


def _what(run: Run) -> str:
    prompt_tokens = run.started.prompt_tokens if run.started else 0
    return f"{run.duration_s:g} s, prompt {prompt_tokens}, {len(run.token_ids)} tokens"
