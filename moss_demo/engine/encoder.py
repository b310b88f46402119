"""The audio encoder: spectrograms to embeddings, eager or compiled for given batch sizes."""

from collections.abc import Set
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from moss_demo.engine.compiled_layers import (
    compile_limits,
    compiles_as_one,
    explain_failure,
    with_compiled_layers,
)
from moss_demo.engine.config import EncoderCompile
from moss_demo.engine.loading import Loaded
from moss_demo.errors import DeviceError

GRAPH_RUNS = 3
"""Runs until CUDA graphs are warm: one warms up, one is recorded, one is replayed first."""


class Encoder:
    """Whisper encoder and projector of a model, over its own weights.

    A batch whose size was compiled before takes the compiled layers; any other runs eager, so that
    nothing is ever compiled within a run.

    Attributes:
        compile_s: seconds spent compiling so far.
        problem: why nothing can be compiled here, once that was tried.
    """

    def __init__(self, loaded: Loaded, mode: EncoderCompile) -> None:
        """Prepare; nothing is compiled yet."""
        self._eager: Any = loaded.model.model
        self._mode = mode
        self._compiled: dict[bool, Any] = {}
        self._sizes: set[int] = set()
        self.compile_s = 0.0
        self.problem: str | None = None

    def to_compile(self, sizes: Set[int]) -> tuple[int, ...]:
        """Return the batch sizes among `sizes` that are still to be compiled."""
        if self._mode is EncoderCompile.OFF or self.problem:
            return ()
        return tuple(sorted(sizes - self._sizes))

    @torch.inference_mode()
    def compile(self, chunks: int) -> None:
        """Compile for batches of `chunks` chunks and run one of them.

        Raises:
            DeviceError: it cannot be compiled here; it goes on eager.
        """
        started_at = perf_counter()
        config = self._eager.audio_tower.config
        frames = 2 * int(config.max_source_positions)
        features = torch.zeros(chunks, int(config.num_mel_bins), frames)
        mask = torch.ones(chunks, frames, dtype=torch.long)
        try:
            with compile_limits():
                model = self._compiled_for(chunks)
                for _ in range(GRAPH_RUNS if self._mode is EncoderCompile.REDUCE_OVERHEAD else 1):
                    self._embed(model, features, mask)
        except Exception as error:  # of torch, Triton or a C++ compiler, whatever that may be
            self.problem = f"The encoder runs uncompiled: {explain_failure(error)}."
            raise DeviceError(self.problem) from error
        finally:
            self.compile_s += perf_counter() - started_at
        self._sizes.add(chunks)

    @torch.inference_mode()
    def __call__(self, features: Tensor, mask: Tensor) -> Tensor:
        """Return projected embeddings of valid frames, shape (audio tokens, hidden size).

        Args:
            features: log-mel spectrograms, (chunks, mels, 3000).
            mask: valid frames, (chunks, 3000).
        """
        return self.states(features, mask)[1]

    @torch.inference_mode()
    def states(self, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return what the encoder puts out, (chunks, frames, width), and its embeddings."""
        chunks = features.shape[0]
        model = self._compiled_for(chunks) if chunks in self._sizes else self._eager
        return self._embed(model, features, mask)

    def _compiled_for(self, chunks: int) -> Any:
        as_one = compiles_as_one(self._mode, chunks)
        if as_one not in self._compiled:
            self._compiled[as_one] = with_compiled_layers(self._eager, self._mode, as_one=as_one)
        return self._compiled[as_one]

    def _embed(self, model: Any, features: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        output = model.get_audio_features(
            input_features=features.to(model.device, model.dtype),
            input_features_mask=mask.to(model.device),
            padding_mask=None,
        )
        embeddings: Tensor = output.pooler_output
        synchronize(embeddings.device)
        return output.last_hidden_state, embeddings


def synchronize(device: torch.device) -> None:
    """Wait until the device has done what was asked, so that a clock read means something."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
