"""Pure presenters of what lies behind two transcripts: tensors, and what formats did to weights."""

from collections.abc import Sequence
from math import isfinite

from moss_demo.domain.figures import NOT_AVAILABLE
from moss_demo.engine.config import NUMERICS_ONLY, Precision
from moss_demo.scoring.tensor_parity import StageParity, TensorDifference
from moss_demo.ui.comparison import SideState

TENSOR_HEADERS = [
    "Stage",
    "Values",
    "Max abs",
    "Relative error",
    "Cosine",
    "Same best token",
    "Noise floor",
    "Times noise",
]
WEIGHT_HEADERS = [
    "Side",
    "Matrix",
    "Shape",
    "Bytes before",
    "Bytes after",
    "Max abs error",
    "Relative error",
    "All finite",
]
TENSORS_IDLE = (
    "After a comparison of two engines their numbers can be compared too: encoder, projector, and "
    "logits after the tokens that A wrote. Both engines run once more, on two minutes at most."
)
PRECISION_HELP = (
    "fp32, bf16 and fp16 change memory and speed here.",
    "int8 halves the memory of the decoder's weights; it is slower on a CPU, and as fast as bf16 "
    "on a GPU with the fast decode path.",
    "q8_0, q4_0 and q4_k change numbers only: weights are rounded through the GGUF type and "
    "computed in bf16, at the memory and the speed of bf16.",
)
NO_FORMATS = "Neither side keeps its weights in a format of their own."


def precision_choices(offered: Sequence[Precision]) -> list[tuple[str, str]]:
    """Return the choices of a page with their values; what only reproduces numerics says so."""
    return [
        ("Default", "auto"),
        *((f"{p} (numbers only)" if p in NUMERICS_ONLY else p.value, p.value) for p in offered),
    ]


def tensor_table(stages: Sequence[StageParity]) -> list[list[str]]:
    """Return one line a stage, the candidate beside the reference's own noise."""
    return [
        [
            stage.stage.value,
            f"{stage.values:,}",
            *_difference(stage.candidate),
            f"{stage.noise.relative_error:.1e}",
            NOT_AVAILABLE if stage.times_noise is None else f"{stage.times_noise:,.0f}",
        ]
        for stage in stages
    ]


def weight_lines(sides: Sequence[SideState]) -> list[dict[str, str]]:
    """Say of each side with a weight format what it did, in a sentence or two."""
    rows = []
    for letter, side in zip("AB", sides, strict=True):
        report = None if side.engine is None else side.engine.quantization
        if report is None:
            continue
        held = (
            "The weights are held in it."
            if report.in_memory
            else "They are computed in bf16, at its memory and speed."
        )
        finite = "All are finite." if report.is_finite else "Some are not finite."
        rows.append(
            {
                "kind": report.weight_format,
                "message": f"{letter}: {len(report.matrices)} matrices take "
                f"{report.bytes_before / 1e6:,.1f} MB in bf16 and {report.bytes_after / 1e6:,.1f} "
                f"MB in {report.weight_format}. {held} {finite}",
            }
        )
    return rows or [{"kind": "none", "message": NO_FORMATS}]


def weight_table(sides: Sequence[SideState]) -> list[list[str]]:
    """Return one line a matrix of each side with a weight format, the worst first."""
    rows = []
    for letter, side in zip("AB", sides, strict=True):
        report = None if side.engine is None else side.engine.quantization
        matrices = () if report is None else report.matrices
        for matrix in sorted(matrices, key=lambda matrix: -matrix.relative_error):
            rows.append(
                [
                    letter,
                    matrix.name.removeprefix("model.language_model."),
                    " × ".join(f"{size:,}" for size in matrix.shape),
                    f"{matrix.bytes_before:,}",
                    f"{matrix.bytes_after:,}",
                    f"{matrix.max_abs_error:.2e}",
                    f"{matrix.relative_error:.2e}",
                    "yes" if matrix.is_finite else "no",
                ]
            )
    return rows


def _difference(found: TensorDifference) -> list[str]:
    shown = [found.max_abs, found.relative_error]
    agreement = found.top1_agreement
    return [
        *(f"{value:.2e}" if isfinite(value) else "∞" for value in shown),
        f"{found.cosine:.6f}",
        NOT_AVAILABLE if agreement is None else f"{agreement:.1%}",
    ]
