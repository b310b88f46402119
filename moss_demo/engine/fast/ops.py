"""What a decoder layer does between its matrix products, and which implementation does it."""

import importlib.util
from typing import Protocol

import torch
from torch import Tensor

from moss_demo.engine.fast.plain_ops import PlainOps


class Ops(Protocol):
    """Steps of a decoder layer; T is 1 while decoding and the length of a block before."""

    name: str

    def add_norm(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta and its RMS norm, all of shape (batch, T, hidden)."""

    def rotate_and_store(
        self,
        qkv: Tensor,
        norms: tuple[Tensor, Tensor],
        eps: float,
        rotations: tuple[Tensor, Tensor],
        positions: Tensor,
        cache: tuple[Tensor, Tensor],
    ) -> Tensor:
        """Norm and rotate queries and keys, write keys and values, return the queries.

        Args:
            qkv: (batch, T, heads + 2 key-value heads, head_dim).
            norms: weights of the query norm and of the key norm.
            eps: constant of both.
            rotations: cosines and sines by position, (capacity, head_dim / 2).
            positions: where each token stands, (batch, T).
            cache: keys and values of this layer, (batch, capacity, key-value heads, head_dim).

        Returns:
            Queries, (batch, T, heads, head_dim).
        """

    def attend(
        self,
        qkv: Tensor,
        norms: tuple[Tensor, Tensor],
        eps: float,
        rotations: tuple[Tensor, Tensor],
        positions: Tensor,
        cache: tuple[Tensor, Tensor],
        used: int,
    ) -> Tensor:
        """Do as `rotate_and_store` with one token a row, and attend up to it.

        Args:
            qkv: (batch, 1, heads + 2 key-value heads, head_dim).
            norms: as above, like the rest.
            eps: as above.
            rotations: as above.
            positions: as above.
            cache: as above.
            used: no row stands behind this many positions.

        Returns:
            (batch, 1, heads, head_dim).
        """

    def linear(self, values: Tensor, matrix: Tensor) -> Tensor:
        """Return values @ matrix.T; (batch, T, inputs) and (outputs, inputs)."""

    def norm_linear(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, matrix: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and `linear` of its RMS norm."""

    def norm_swiglu(
        self, hidden: Tensor, delta: Tensor, weight: Tensor, eps: float, gate_up: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return hidden + delta, and silu(gate) * up of its RMS norm (arXiv 2002.05202).

        Args:
            hidden: (batch, T, hidden).
            delta: the same.
            weight: of the norm.
            eps: constant of the norm.
            gate_up: the gates' matrix above the other one, (2 * outputs, hidden).
        """


def choose_ops(device: torch.device) -> Ops:
    """Return the fused kernels on a CUDA device with Triton, else plain tensor operations."""
    if device.type == "cuda" and importlib.util.find_spec("triton"):
        from moss_demo.engine.fast.triton_ops import TritonOps  # needs an optional package

        return TritonOps(early=torch.cuda.get_device_capability(device) >= (9, 0))
    return PlainOps()
