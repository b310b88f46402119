"""Keys and values of every layer in tensors of fixed length. Knows no weights and no attention."""

import torch
from torch import Tensor

from moss_demo.engine.fast.weights import DecoderWeights

SMALLEST_BUCKET = 1_024
LARGEST_DOUBLING = 8_192


def bucket(length: int) -> int:
    """Return the smallest cache length that holds `length` positions.

    Powers of two up to `LARGEST_DOUBLING`, then its multiples: few graphs for short recordings and
    little waste for long ones.
    """
    if length > LARGEST_DOUBLING:
        return -(-length // LARGEST_DOUBLING) * LARGEST_DOUBLING
    return max(SMALLEST_BUCKET, 1 << (length - 1).bit_length())


class KvCache:
    """Keys and values of `batch` rows; row i of a batch always begins at position 0.

    Attributes:
        keys: one tensor a layer, shape (batch, capacity, key-value heads, head_dim).
        values: the same.
        cosines: of the rotary embedding, fp32, shape (capacity, head_dim / 2).
        sines: the same.
    """

    def __init__(self, weights: DecoderWeights, batch: int, capacity: int) -> None:
        """Allocate; what is behind the last written position is never read."""
        self._weights = weights
        self.batch = batch
        self.capacity = capacity
        self.keys = [self._empty() for _ in weights.layers]
        self.values = [self._empty() for _ in weights.layers]
        self.cosines, self.sines = self._rotations()

    def grow(self, capacity: int) -> None:
        """Move to longer tensors, layer by layer, so that only one layer is ever held twice."""
        self.capacity = capacity
        for tensors in (self.keys, self.values):
            for index, old in enumerate(tensors):
                longer = self._empty()
                longer[:, : old.shape[1]] = old
                tensors[index] = longer
        self.cosines, self.sines = self._rotations()

    def _empty(self) -> Tensor:
        shape = self._weights.shape
        size = (self.batch, self.capacity, shape.kv_heads, shape.head_dim)
        # Zeros, not whatever was in memory: a masked position has weight 0, and 0 times NaN is NaN.
        return self._weights.norm.new_zeros(size)

    def _rotations(self) -> tuple[Tensor, Tensor]:
        """Tabulate cosine and sine of position times frequency (RoPE, arXiv 2104.09864)."""
        rotation = self._weights.rotation
        positions = torch.arange(self.capacity, device=rotation.device).float()
        angles = positions[:, None] * rotation
        return angles.cos(), angles.sin()
