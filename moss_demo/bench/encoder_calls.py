"""The encoder alone: eager and compiled, a few windows a call, timed by the device's own clock."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import isfinite
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from moss_demo.bench.report import Case, Plan, Quantity, Variant, Work
from moss_demo.engine.compiled_layers import (
    compile_limits,
    compiles_as_one,
    with_compiled_layers,
)
from moss_demo.engine.config import EncoderCompile
from moss_demo.engine.engine import Engine
from moss_demo.engine.prompting import CHUNK_S

Tick = Callable[[float], None]
"""Takes the share that is done; raises when the work was given up."""


@dataclass(slots=True)
class _Mode:
    """One way to run the encoder, with what was measured of it."""

    name: EncoderCompile
    call: Callable[[Tensor], Tensor]
    output: Tensor
    first_call_s: float
    times_ms: list[float] = field(default_factory=list)


def measure_encoder(
    engine: Engine,
    modes: Sequence[EncoderCompile],
    chunks: int,
    *,
    warm_ups: int,
    iterations: int,
    tick: Tick,
    suffix: str = "",
) -> list[Case]:
    """Time encoder calls of several modes in turn; the first mode is the baseline.

    Args:
        engine: whose encoder it is; the projector is left out.
        modes: eager first.
        chunks: windows of 30 s a call.
        warm_ups: calls of each mode before the timed ones, the first one apart.
        iterations: timed calls of each mode; modes go forward, then backward, and so on.
        tick: called between calls.
        suffix: what tells these cases from others of the same modes.
    """
    features = random_features(engine, chunks)
    ready: list[_Mode] = []
    for number, name in enumerate(modes):
        tick(0.5 * number / len(modes))
        ready.append(_prepare(engine, name, features))
    for mode in ready:
        for _ in range(warm_ups):
            mode.call(features)
    for turn in range(iterations):
        tick(0.5 + 0.5 * turn / iterations)
        for mode in ready if turn % 2 == 0 else reversed(ready):
            mode.times_ms.append(time_call(mode.call, features))
    return [_case(engine, mode, ready[0], features, suffix) for mode in ready]


def random_features(engine: Engine, chunks: int) -> Tensor:
    """Return the same normal noise each time, shape (chunks, mels, 3000)."""
    config: Any = engine.loaded.model.config.audio_config
    generator = torch.Generator().manual_seed(0)
    shape = (chunks, int(config.num_mel_bins), 2 * int(config.max_source_positions))
    model = engine.loaded.model
    return torch.randn(shape, generator=generator).to(model.device, model.dtype)


def time_call(call: Callable[[Tensor], Tensor], features: Tensor) -> float:
    """Return the milliseconds between an event before and one after the call's kernels."""
    if features.device.type != "cuda":
        started_at = perf_counter()
        call(features)
        return 1e3 * (perf_counter() - started_at)
    before, after = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda.synchronize(features.device)
    before.record()
    call(features)
    after.record()
    after.synchronize()
    return float(before.elapsed_time(after))


def operations(config: Any, chunks: int) -> float:
    """Count the floating-point operations of an encoder call, in units of 10^12.

    Two for each multiplication with its addition: both convolutions, the matrices of every layer
    and the two products of attention over all positions.

    Args:
        config: the `audio_config` of a checkpoint.
        chunks: windows of 30 s.
    """
    positions, width = int(config.max_source_positions), int(config.d_model)
    hidden, layers = int(config.encoder_ffn_dim), int(config.encoder_layers)
    convolutions = 3 * width * (2 * positions * int(config.num_mel_bins) + positions * width)
    matrices = layers * positions * (4 * width * width + 2 * width * hidden)
    attention = layers * 2 * positions * positions * width
    return 2 * chunks * (convolutions + matrices + attention) / 1e12


def measure_peak(device: str, dtype: torch.dtype, repeats: int = 10) -> float:
    """Return the best rate of a large matrix product, in TFLOP/s."""
    side = 8_192 if device != "cpu" else 1_024
    left, right = (torch.randn(side, side, device=device, dtype=dtype) for _ in range(2))
    times_ms = [time_call(lambda x: x @ right, left) for _ in range(repeats)]
    return 2 * side**3 / 1e12 / (min(times_ms) / 1e3)


def _prepare(engine: Engine, name: EncoderCompile, features: Tensor) -> _Mode:
    """Make a mode ready; its first call compiles, and its output is kept to tell the drift."""
    twin: Any = engine.loaded.model.model
    if name is not EncoderCompile.OFF:
        as_one = compiles_as_one(name, features.shape[0])
        twin = with_compiled_layers(twin, name, as_one=as_one)

    @torch.inference_mode()
    def call(inputs: Tensor) -> Tensor:
        hidden: Tensor = twin.audio_tower(inputs).last_hidden_state
        return hidden

    started_at = perf_counter()
    with compile_limits():
        output = call(features).float().cpu()
    return _Mode(name, call, output, perf_counter() - started_at)


def _case(engine: Engine, mode: _Mode, eager: _Mode, features: Tensor, suffix: str) -> Case:
    chunks, config = features.shape[0], engine.loaded.model.config.audio_config
    base = f"encoder/{chunks}{suffix}"
    figures = {"first_call_s": mode.first_call_s, "operations_tflop": operations(config, chunks)}
    if mode is not eager:
        difference = mode.output - eager.output
        drift = {
            "drift_relative": float(difference.norm() / eager.output.norm()),
            "drift_largest": float(difference.abs().max()),
        }
        figures |= {name: value for name, value in drift.items() if isfinite(value)}
    digest = hashlib.sha256(features.float().cpu().numpy().tobytes()).hexdigest()[:16]
    return Case(
        name=f"{base}/{mode.name}",
        plan=Plan.ENCODER,
        work=Work("noise", digest, float(CHUNK_S * chunks), chunks),
        variant=Variant(engine.info.precision, encoder=mode.name),
        raw={Quantity.CALL_MS: tuple(mode.times_ms)},
        baseline=None if mode is eager else f"{base}/{eager.name}",
        figures=figures,
        labels={"process": suffix.strip("/")} if suffix else {},
    )
