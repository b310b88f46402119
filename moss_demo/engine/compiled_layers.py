"""The layers of the Whisper encoder through `torch.compile`, beside the untouched model.

Layers are compiled one at a time rather than all as one where the device is busy enough: they are
alike, so what is compiled for the first serves all, in a fraction of the time and with the same
fused kernels. A small batch waits for the host instead, which calls one function sooner than 24.
"""

import copy
import importlib
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
import torch._dynamo
import torch._inductor
from torch import Tensor, nn

from moss_demo.engine.config import EncoderCompile

AS_ONE_UP_TO = 2
"""Chunks of a batch up to which all layers are compiled as one. On an H200 one chunk waits for the
host: compiled layer by layer it took 10.7 ms, eager 9.0."""

WITHOUT_DESCENT = {"coordinate_descent_tuning": False}
"""Autotuning would also move every kernel's settings one by one. On an H200 that took first calls
from 90 to 172 s and from 85 to 123 s, for 0.2 ms of 22 at eight chunks."""

AUTOTUNING = "torch._inductor.select_algorithm"
"""Module and logger of torch that tries kernels."""

SHAPES_A_PROCESS = 64
"""Compiled shapes that torch may keep for one function: batch sizes by modes by precisions."""


class _Layers(nn.Module):
    """All layers as one: the library's encoder calls it as it would call a single layer."""

    def __init__(self, layers: Iterable[nn.Module]) -> None:
        super().__init__()
        self._layers = nn.ModuleList(layers)

    def forward(self, hidden_states: Tensor, attention_mask: Tensor | None = None) -> Tensor:
        # The convolutions leave time innermost, and every layer would read its residual across.
        hidden_states = hidden_states.contiguous()
        for layer in self._layers:
            hidden_states = layer(hidden_states, attention_mask=attention_mask)
        return hidden_states


def compiles_as_one(mode: EncoderCompile, chunks: int) -> bool:
    """Tell whether batches of `chunks` chunks take all layers as one function.

    CUDA graphs need it: a layer's graph would write over the output of the one before.
    """
    return chunks <= AS_ONE_UP_TO or mode is EncoderCompile.REDUCE_OVERHEAD


def with_compiled_layers(model: nn.Module, mode: EncoderCompile, *, as_one: bool) -> nn.Module:
    """Return a second model over the same weights whose encoder layers are compiled.

    Args:
        model: a `MossTranscribeDiarizeModel`; it is left as it is.
        mode: any but off.
        as_one: compile all layers as one function.
    """
    tower: Any = model.audio_tower
    options = torch._inductor.list_mode_options(mode.value) | WITHOUT_DESCENT
    options["autotune_num_choices_displayed"] = 0

    def compiled(module: nn.Module) -> Any:
        return torch.compile(module, fullgraph=True, dynamic=False, options=options)

    layers = compiled(_Layers(tower.layers)) if as_one else _Layers(map(compiled, tower.layers))
    tower = _with_child(tower, "layers", nn.ModuleList([layers]).eval())
    return _with_child(model, "audio_tower", tower)


@contextmanager
def compile_limits() -> Iterator[None]:
    """Let torch keep every batch size of every mode; it gives up after eight by default.

    Autotuning tries kernels that some cards cannot hold; it goes on without them and would print a
    traceback for each.
    """
    tuning: Any = importlib.import_module(AUTOTUNING)
    log = logging.getLogger(AUTOTUNING)
    level, prints = log.level, tuning.PRINT_AUTOTUNE
    log.setLevel(logging.CRITICAL)
    tuning.PRINT_AUTOTUNE = False
    try:
        with torch._dynamo.config.patch(recompile_limit=SHAPES_A_PROCESS):
            yield
    finally:
        tuning.PRINT_AUTOTUNE = prints
        log.setLevel(level)


def explain_failure(error: BaseException) -> str:
    """Say why layers could not be compiled and what would help, in a part of a sentence."""
    cause = error
    while (deeper := cause.__cause__ or cause.__context__) is not None:
        cause = deeper
    kind, lines = type(cause).__name__, str(cause).strip().splitlines()
    message = lines[0] if lines else "no message"
    if kind == "InvalidCxxCompiler" or "C compiler" in message:
        return "there is no C++ compiler; install g++"
    if kind == "TritonMissing":
        return "Triton is missing or too old; install the package triton"
    return f"torch.compile failed with {kind}: {message}"


def _with_child(module: nn.Module, name: str, child: nn.Module) -> nn.Module:
    """Return a copy of a module that shares everything but one child."""
    twin = copy.copy(module)
    twin._modules = module._modules | {name: child}
    return twin
