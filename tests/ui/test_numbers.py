"""What the Compare tab says of tensors and of weights in formats."""

from pathlib import Path

from moss_demo.domain.events import Run
from moss_demo.domain.transcript import Transcript
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.weights.report import MatrixReport, QuantizationReport
from moss_demo.scoring.run_meta import RunMeta
from moss_demo.scoring.tensor_parity import Stage, StageParity, TensorDifference
from moss_demo.ui.comparison import Comparison, SideState, compare
from moss_demo.ui.present_comparison import figure_rows
from moss_demo.ui.present_numbers import (
    NO_FORMATS,
    TENSOR_HEADERS,
    WEIGHT_HEADERS,
    precision_choices,
    tensor_table,
    weight_lines,
    weight_table,
)
from moss_demo.ui.tensor_question import DONE, TensorQuestion, answer, question_of

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
FP32 = EngineConfig("tiny", "cpu", Precision.FP32)
REPORT = QuantizationReport(
    "int8",
    in_memory=True,
    matrices=(
        MatrixReport(
            "model.language_model.layers.0.mlp.up_proj", (4, 8), 64, 48, 1e-3, 0.004, True
        ),
        MatrixReport("model.language_model.embed_tokens", (9, 8), 144, 108, 2e-3, 0.008, False),
    ),
)


def _side(quantization: QuantizationReport | None, weight_bytes: int) -> SideState:
    info = EngineInfo(
        checkpoint="tiny",
        revision="local",
        layout="native",
        parameters=104,
        weight_bytes=weight_bytes,
        context_tokens=8_192,
        device="cpu",
        precision="int8",
        decode="reference",
        attention="sdpa",
        load_s=0.1,
        quantization=quantization,
    )
    return SideState("tiny", Run("clip", "", 1.0), Transcript(()), RunMeta(), info)


def test_precisions_say_which_only_reproduce_numbers() -> None:
    """GGUF types are labelled; whatever is offered keeps its value."""
    choices = dict(precision_choices(list(Precision)))
    assert choices["Default"] == "auto"
    assert choices["int8"] == "int8"
    assert choices["q4_k (numbers only)"] == "q4_k"
    assert len(choices) == len(Precision) + 1


def test_weights_are_listed_worst_first_with_a_summary() -> None:
    """A side without a format has no lines; the other one's sums and flaws are said."""
    sides = (_side(None, 208), _side(REPORT, 156))
    rows = weight_table(sides)
    assert [row[1] for row in rows] == ["embed_tokens", "layers.0.mlp.up_proj"]
    assert rows[0] == ["B", "embed_tokens", "9 × 8", "144", "108", "2.00e-03", "8.00e-03", "no"]
    assert all(len(row) == len(WEIGHT_HEADERS) for row in rows)
    (line,) = weight_lines(sides)
    assert line["message"].startswith("B: 2 matrices take 0.0 MB in bf16")
    assert line["message"].endswith("The weights are held in it. Some are not finite.")
    assert weight_lines(sides[:1] * 2)[0]["message"] == NO_FORMATS
    assert figure_rows(sides)[-1] == ["Weights, MiB", "0.0", "0.0", "0.75"]


def test_stages_stand_beside_their_noise() -> None:
    """Figures in the order of the headings; what is unknown is n/a, what is infinite says so."""
    found = TensorDifference(0.5, 0.02, 0.9998, 0.975)
    broken = TensorDifference(float("inf"), float("inf"), 0.0, None)
    quiet = TensorDifference(0.0, 0.0, 1.0, None)
    rows = tensor_table(
        [
            StageParity(Stage.LOGITS, 1_280, found, TensorDifference(1e-5, 1e-6, 1.0, 1.0)),
            StageParity(Stage.ENCODER, 10, broken, quiet),
        ]
    )
    assert rows[0] == [
        "teacher-forced logits", "1,280", "5.00e-01", "2.00e-02", "0.999800", "97.5%", "1.0e-06",
        "20,000",
    ]  # fmt: skip
    assert rows[1][2:] == ["∞", "∞", "0.000000", "n/a", "0.0e+00", "n/a"]
    assert all(len(row) == len(TENSOR_HEADERS) for row in rows)


def test_only_two_engines_can_be_asked(tmp_path: Path) -> None:
    """A saved transcript has no numbers behind it, and an unfinished comparison none yet."""
    path = tmp_path / "a.txt"
    path.write_text("[0.50][S01]good morning[2.10]")
    *_, state = compare((path, path), lambda: None, EnginePool())
    assert question_of((path, FP32), state, "clip.wav") is None
    assert question_of((FP32, FP32), state, None) is None
    assert question_of((FP32, FP32), Comparison((), ""), "clip.wav") is None
    assert question_of((FP32, FP32), state, "clip.wav") == TensorQuestion(
        (FP32, FP32), (), "clip.wav"
    )


def test_the_answer_ends_with_the_stages() -> None:
    """Lines say what goes on, then three stages of which the last is that of the logits."""
    engines = (FP32, EngineConfig("tiny", "cpu", Precision.INT8))
    question = TensorQuestion(engines, (64, 21, 19), str(SAMPLES / "two-speakers.flac"))
    *lines, (last, stages) = answer(question, EnginePool(), 60.0)
    assert "Computing in int8…" in [line for line, _ in lines]
    assert all(found is None for _, found in lines)
    assert last == DONE
    assert stages is not None
    assert [stage.stage for stage in stages] == list(Stage)
    assert stages[2].values == 3 * 1_280
