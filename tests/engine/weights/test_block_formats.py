"""GGUF's block types on the decoder's matrices."""

import json
from collections.abc import Callable

import gguf
import pytest
import torch
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.engine.config import NUMERICS_ONLY, Precision
from moss_demo.engine.weights.block_formats import round_through
from moss_demo.engine.weights.matrices import TABLE, decoder_linears
from moss_demo.engine.weights.report import report_dict, summary_dict
from moss_demo.errors import CheckpointError

MakeModel = Callable[[], MossTranscribeDiarizeForConditionalGeneration]


def _round_trip(matrix: torch.Tensor, name: str) -> torch.Tensor:
    kind = gguf.GGMLQuantizationType[name]
    restored = gguf.dequantize(gguf.quantize(matrix.float().numpy(), kind), kind)
    return torch.from_numpy(restored).to(matrix.dtype)


@pytest.mark.parametrize("precision", [Precision.Q8_0, Precision.Q4_0])
def test_the_matrices_become_what_gguf_makes_of_them(
    make_model: MakeModel, precision: Precision
) -> None:
    """Every matrix of the decoder and its table, bit for bit; all else stays as it was."""
    before, model = make_model().state_dict(), make_model()
    report = round_through(model, precision, "cpu")
    rounded = {f"{matrix.name}.weight" for matrix in report.matrices} | {"lm_head.weight"}
    for name, weight in model.state_dict().items():
        expected = _round_trip(before[name], precision.name) if name in rounded else before[name]
        assert torch.equal(weight, expected), name


@pytest.mark.parametrize("precision", NUMERICS_ONLY)
def test_the_report_names_every_matrix_with_its_bytes_and_error(
    make_model: MakeModel, precision: Precision
) -> None:
    """Seven matrices a layer and the shared table once; errors are those of the new weights."""
    before, model = make_model().state_dict(), make_model()
    report = round_through(model, precision, "cpu")
    after = model.state_dict()
    names = [name for name, _ in decoder_linears(model)]
    assert [matrix.name for matrix in report.matrices] == [*names, TABLE]
    assert len(names) == 14
    bits = {"q8_0": 8.5, "q4_0": 4.5, "q4_k": 4.5 * 256 / 96}[precision]
    table = report.matrices[-1]
    assert table.bytes_before == 16_500 * 96 * 2
    assert table.bytes_after == 16_500 * 96 * bits / 8
    for matrix in report.matrices:
        old = before[f"{matrix.name}.weight"].double()
        difference = after[f"{matrix.name}.weight"].double() - old
        assert matrix.max_abs_error == pytest.approx(float(difference.abs().max()))
        assert matrix.relative_error == pytest.approx(
            float(difference.norm() / old.norm()), rel=1e-4
        )
    assert report.is_finite
    assert not report.in_memory
    assert report.worst.relative_error < {"q8_0": 0.01, "q4_0": 0.12, "q4_k": 0.1}[precision]


@pytest.mark.parametrize("precision", NUMERICS_ONLY)
def test_weights_that_are_not_finite_are_reported(
    make_model: MakeModel, precision: Precision
) -> None:
    """A broken weight does not vanish in the rounding."""
    model = make_model()
    with torch.no_grad():
        model.get_submodule(TABLE).weight[3, 4] = float("nan")
    report = round_through(model, precision, "cpu")
    assert [matrix.name for matrix in report.matrices if not matrix.is_finite] == [TABLE]
    assert report.worst.name == TABLE
    assert summary_dict(report)["max_abs_error"] is None
    assert json.dumps(report_dict(report), allow_nan=False)


def test_a_head_of_its_own_is_refused(make_model: MakeModel) -> None:
    """Where embedding and head differ, nothing is rounded by halves."""
    model = make_model()
    model.lm_head.weight = torch.nn.Parameter(model.lm_head.weight.detach().clone())
    with pytest.raises(CheckpointError, match="choose fp32, bf16 or fp16"):
        round_through(model, Precision.Q8_0, "cpu")
