"""Our Q4_K blocks, read back by the package gguf."""

import gguf
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.engine.weights.q4_k import BLOCK_BYTES, quantize_q4_k

Q4_K = gguf.GGMLQuantizationType.Q4_K


def _restored(rows: torch.Tensor) -> np.ndarray:
    packed = quantize_q4_k(rows).numpy()
    assert packed.shape == (rows.shape[0], rows.shape[1] // 256 * BLOCK_BYTES)
    return gguf.dequantize(packed, Q4_K)


def _relative(restored: np.ndarray, rows: torch.Tensor) -> float:
    return float(np.linalg.norm(restored - rows.numpy()) / np.linalg.norm(rows.numpy()))


def test_weights_come_back_closer_than_from_the_plain_four_bit_types() -> None:
    """On normal weights the search beats Q4_0 and Q4_1 of the package itself."""
    rows = torch.randn(64, 1_024, generator=torch.Generator().manual_seed(1)) * 0.02
    ours = _relative(_restored(rows), rows)
    for name in ("Q4_0", "Q4_1"):
        kind = gguf.GGMLQuantizationType[name]
        assert ours < _relative(gguf.dequantize(gguf.quantize(rows.numpy(), kind), kind), rows)
    assert ours < 0.075


@pytest.mark.parametrize(
    "group",
    [
        torch.zeros(32),
        torch.full((32,), 0.5),
        torch.full((32,), -0.5),
        torch.linspace(0, 1, 32),
        torch.linspace(-1, 0, 32),
        torch.cat((torch.zeros(31), torch.ones(1))),
    ],
    ids=["zeros", "equal", "equal below zero", "ramp", "ramp below zero", "one outlier"],
)
def test_each_group_is_within_one_step_of_its_weights(group: torch.Tensor) -> None:
    """Groups on both sides of zero, of one value and with an outlier."""
    rows = group.repeat(8)[None]
    step = float(group.max().clamp(min=0) - group.min().clamp(max=0)) / 15
    np.testing.assert_allclose(_restored(rows), rows.numpy(), atol=0.6 * step + 1e-3)


@given(
    st.lists(st.floats(-100, 100, width=32), min_size=32, max_size=32),
    st.floats(2**-20, 2**10, width=32),
)
def test_no_finite_weights_give_anything_but_finite_ones(
    values: list[float], factor: float
) -> None:
    """Whatever is packed is read back finite, and never further off than the group is wide."""
    rows = (torch.tensor(values) * factor).repeat(8)[None]
    restored = _restored(rows)
    assert np.isfinite(restored).all()
    width = float(rows.max().clamp(min=0) - rows.min().clamp(max=0))
    assert np.abs(restored - rows.numpy()).max() <= width * 1.01 + 1e-6


def test_groups_of_a_block_keep_their_own_scales() -> None:
    """Small weights beside large ones in a block are not rounded to nothing."""
    sizes = torch.tensor([1.0, 0.5, 0.3, 0.2, 0.9, 0.7, 0.4, 0.1])
    noise = torch.rand(8, 32, generator=torch.Generator().manual_seed(2)) - 0.5
    rows = (noise * sizes[:, None]).reshape(1, 256)
    error = np.abs(_restored(rows) - rows.numpy()).reshape(8, 32).max(axis=1)
    assert (error <= sizes.numpy() / 15).all()
