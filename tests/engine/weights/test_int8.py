"""Decoder weights in 8 bits: what is held, what is computed."""

from collections.abc import Callable

import pytest
import torch
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.engine.fast.weights import join_weights
from moss_demo.engine.weights.int8 import WIDENED_ROWS, multiply, quantize_to_int8
from moss_demo.engine.weights.matrices import TABLE, decoder_linears
from moss_demo.engine.weights.report import QuantizationReport, weight_bytes

Model = MossTranscribeDiarizeForConditionalGeneration
IDS = torch.tensor([[7, 16_499, 0, 16_384, 16_383, 12]])


@pytest.fixture
def before(make_model: Callable[[], Model]) -> Model:
    """The model in bf16."""
    return make_model()


@pytest.fixture
def quantized(make_model: Callable[[], Model]) -> tuple[Model, QuantizationReport]:
    """The same model in int8 and what was said of it."""
    model = make_model()
    return model, quantize_to_int8(model)


def _int8_rows(matrix: torch.Tensor) -> torch.Tensor:
    """Restate the format: 8 bits, symmetric, one fp32 scale a row."""
    wide = matrix.float()
    scale = wide.abs().amax(1, keepdim=True) / 127.5
    return (wide / scale).round().clamp(-128, 127) * scale


def test_weights_are_held_in_8_bits(
    before: Model, quantized: tuple[Model, QuantizationReport]
) -> None:
    """The decoder's matrices take half of bf16 and a scale a row; the table is held once."""
    model, report = quantized
    matrices = [linear.weight for _, linear in decoder_linears(before)]
    matrices.append(before.get_submodule(TABLE).weight)
    saved = weight_bytes(before) - weight_bytes(model)
    elements = sum(matrix.numel() for matrix in matrices)
    scales = sum(5 * matrix.shape[0] for matrix in matrices)
    assert saved >= elements - scales
    assert report.bytes_before == 2 * elements
    assert elements < report.bytes_after <= elements + scales
    assert report.in_memory
    assert report.is_finite


def test_errors_are_those_of_the_format(
    before: Model, quantized: tuple[Model, QuantizationReport]
) -> None:
    """The report's figures are those of rounding each row to 8 bits."""
    for matrix in quantized[1].matrices:
        old = before.get_submodule(matrix.name).weight.detach()
        difference = _int8_rows(old) - old.float()
        assert matrix.max_abs_error == pytest.approx(float(difference.abs().max()), rel=0.1)
        assert matrix.relative_error == pytest.approx(
            float(difference.norm() / old.float().norm()), rel=0.05
        )


def test_encoder_and_projector_stay_as_they_are(
    before: Model, quantized: tuple[Model, QuantizationReport]
) -> None:
    """Not a bit of them changes."""
    state = quantized[0].state_dict()
    for name, weight in before.state_dict().items():
        if "audio_tower" in name or "multi_modal_projector" in name:
            assert torch.equal(weight, state[name]), name


@torch.inference_mode()
def test_lookups_and_logits_come_from_one_table(
    before: Model, quantized: tuple[Model, QuantizationReport]
) -> None:
    """Embeddings are rows of the table; the head multiplies by the same rows, block by block."""
    model, _ = quantized
    table = _int8_rows(before.get_submodule(TABLE).weight)
    assert table.shape[0] > WIDENED_ROWS
    rows = model.get_input_embeddings()(IDS)
    torch.testing.assert_close(rows.float(), table[IDS], rtol=2e-2, atol=1e-3)
    hidden = torch.randn(1, 2, 96, dtype=torch.bfloat16)
    expected = torch.nn.functional.linear(hidden.float(), table)
    torch.testing.assert_close(model.lm_head(hidden).float(), expected, rtol=3e-2, atol=2e-2)


@torch.inference_mode()
def test_the_whole_model_computes_nearly_the_same(
    before: Model, quantized: tuple[Model, QuantizationReport]
) -> None:
    """Logits differ from those of bf16 by about as much as the weights do."""
    plain, int8 = (model(input_ids=IDS).logits.float() for model in (before, quantized[0]))
    assert float((int8 - plain).norm() / plain.norm()) < 0.05


def test_the_fast_path_joins_the_matrices_and_holds_nothing_twice(
    quantized: tuple[Model, QuantizationReport],
) -> None:
    """Joined matrices give the outputs of their parts, whose memory they share, like the head."""
    model, _ = quantized
    held = weight_bytes(model)
    attention = model.model.language_model.layers[0].self_attn
    hidden = torch.randn(1, 3, 96, dtype=torch.bfloat16)
    parts = (attention.q_proj, attention.k_proj, attention.v_proj)
    with torch.inference_mode():
        expected = torch.cat([part(hidden) for part in parts], dim=-1)
    weights = join_weights(model)
    joined = weights.layers[0].qkv
    with torch.inference_mode():
        torch.testing.assert_close(torch.nn.functional.linear(hidden, joined), expected)
    assert attention.v_proj.weight.qdata.untyped_storage().data_ptr() == (
        joined.qdata.untyped_storage().data_ptr()
    )
    assert weights.head.qdata.data_ptr() == model.lm_head.table.weight.data_ptr()
    with torch.inference_mode():
        torch.testing.assert_close(multiply(hidden, weights.head), model.lm_head(hidden))
    assert weight_bytes(model) <= held
