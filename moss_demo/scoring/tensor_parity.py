"""How far a candidate's numbers are from a reference's, stage by stage, beside a noise floor.

The noise floor is the reference compared with itself, computed in batches of another shape: sums in
another order. A difference of that size says nothing of the candidate.
"""

from dataclasses import asdict, dataclass
from enum import StrEnum
from math import isfinite
from typing import Any

import numpy as np


class Stage(StrEnum):
    """A place in the model where numbers are compared."""

    ENCODER = "encoder output"
    PROJECTOR = "projector output"
    LOGITS = "teacher-forced logits"


@dataclass(frozen=True, slots=True, eq=False)
class StageTensors:
    """What a model computed on one recording, as fp32.

    Attributes:
        encoder: (chunks, frames, width).
        projector: (audio tokens, hidden size).
        logits: (tokens, vocabulary), each after the same tokens before it.
    """

    encoder: np.ndarray
    projector: np.ndarray
    logits: np.ndarray

    def stages(self) -> tuple[tuple[Stage, np.ndarray], ...]:
        """Return the tensors in the order of the model."""
        return (
            (Stage.ENCODER, self.encoder),
            (Stage.PROJECTOR, self.projector),
            (Stage.LOGITS, self.logits),
        )

    def fits(self, other: "StageTensors") -> bool:
        """Tell whether the other side's tensors have the same shapes."""
        return all(
            one.shape == two.shape
            for (_, one), (_, two) in zip(self.stages(), other.stages(), strict=True)
        )


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """How two tensors of one shape differ.

    Attributes:
        max_abs: largest difference of two values; infinite where one of them is not finite.
        relative_error: norm of the difference by norm of the reference.
        cosine: cosine of the angle between the two, taken as one vector each.
        top1_agreement: share of rows whose largest value stands in the same place; None where rows
            are no scores.
    """

    max_abs: float
    relative_error: float
    cosine: float
    top1_agreement: float | None


@dataclass(frozen=True, slots=True)
class StageParity:
    """One row of the table.

    Attributes:
        stage: where.
        values: numbers compared.
        candidate: the candidate against the reference.
        noise: the reference against itself in another batch shape.
    """

    stage: Stage
    values: int
    candidate: TensorDifference
    noise: TensorDifference

    @property
    def times_noise(self) -> float | None:
        """Relative error in multiples of the noise floor, None where there is no noise."""
        floor = self.noise.relative_error
        return self.candidate.relative_error / floor if floor > 0 else None


def tensor_parity(
    reference: StageTensors, candidate: StageTensors, again: StageTensors
) -> tuple[StageParity, ...]:
    """Compare every stage.

    Args:
        reference: what is judged by.
        candidate: what is judged, in the same shapes.
        again: the reference once more, computed in another batch shape.
    """
    sides = zip(reference.stages(), candidate.stages(), again.stages(), strict=True)
    return tuple(
        StageParity(
            stage,
            truth.size,
            tensor_difference(truth, judged, scores=stage is Stage.LOGITS),
            tensor_difference(truth, repeated, scores=stage is Stage.LOGITS),
        )
        for (stage, truth), (_, judged), (_, repeated) in sides
    )


def tensor_difference(
    reference: np.ndarray, candidate: np.ndarray, *, scores: bool
) -> TensorDifference:
    """Compare two tensors; sums are kept in fp64.

    Args:
        reference: shape (…, width).
        candidate: the same shape.
        scores: whether rows are scores of which the largest is chosen.
    """
    if not (np.isfinite(reference).all() and np.isfinite(candidate).all()):
        return TensorDifference(np.inf, np.inf, 0.0, 0.0 if scores else None)
    one, two = (side.reshape(-1, side.shape[-1]) for side in (reference, candidate))
    squares, products, largest = np.zeros(3), 0.0, 0.0
    for left, right in zip(one, two, strict=True):  # a row at a time: logits fill a gigabyte
        wide, other = left.astype(np.float64), right.astype(np.float64)
        difference = other - wide
        squares += (wide @ wide, other @ other, difference @ difference)
        products += float(wide @ other)
        largest = max(largest, float(np.abs(difference).max()))
    norms = np.sqrt(squares)
    same = one.argmax(1) == two.argmax(1)
    return TensorDifference(
        max_abs=largest,
        relative_error=float(norms[2] / norms[0]) if norms[0] else float(norms[2] > 0),
        cosine=float(products / (norms[0] * norms[1])) if norms[0] * norms[1] else 0.0,
        top1_agreement=float(same.mean()) if scores else None,
    )


def tensor_rows(stages: tuple[StageParity, ...]) -> list[dict[str, Any]]:
    """Return the table as JSON values."""
    return [
        {
            "stage": stage.stage.value,
            "values": stage.values,
            **_finite(asdict(stage.candidate)),
            "noise_floor": _finite(asdict(stage.noise)),
            "times_noise": _finite({"": stage.times_noise})[""],
        }
        for stage in stages
    ]


def _finite(figures: dict[str, float | None]) -> dict[str, float | None]:
    """Write what JSON does not know, infinities and NaN, as null."""
    return {k: v if v is None or isfinite(v) else None for k, v in figures.items()}
