"""Differences of tensors, and how they stand beside the noise floor."""

import json
from math import inf

import numpy as np
import pytest

from moss_demo.scoring.tensor_parity import (
    Stage,
    StageParity,
    StageTensors,
    TensorDifference,
    tensor_difference,
    tensor_parity,
    tensor_rows,
)

CHANCE = np.random.default_rng(0)
TRUTH = CHANCE.normal(size=(7, 11)).astype(np.float32)


def test_equal_tensors_differ_by_nothing() -> None:
    """Zero error, cosine 1, every best score in its place."""
    found = tensor_difference(TRUTH, TRUTH.copy(), scores=True)
    assert (found.max_abs, found.relative_error, found.top1_agreement) == (0, 0, 1)
    assert found.cosine == pytest.approx(1)


def test_figures_are_those_of_their_definitions() -> None:
    """Largest difference, norms, angle and best scores, restated over the whole tensors."""
    other = TRUTH + CHANCE.normal(0, 0.3, size=TRUTH.shape).astype(np.float32)
    found = tensor_difference(TRUTH, other, scores=True)
    one, two = TRUTH.ravel().astype(float), other.ravel().astype(float)
    assert found.max_abs == pytest.approx(np.abs(two - one).max())
    assert found.relative_error == pytest.approx(np.linalg.norm(two - one) / np.linalg.norm(one))
    assert found.cosine == pytest.approx(one @ two / np.linalg.norm(one) / np.linalg.norm(two))
    assert found.top1_agreement == np.mean(TRUTH.argmax(1) == other.argmax(1))


def test_the_scale_of_a_tensor_changes_no_share() -> None:
    """A doubled tensor is as far off as it is large, and points the same way."""
    found = tensor_difference(TRUTH, 2 * TRUTH, scores=False)
    assert found.relative_error == pytest.approx(1)
    assert found.cosine == pytest.approx(1)
    assert found.top1_agreement is None


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite_are_infinitely_wrong(value: float) -> None:
    """One NaN is no small error, and JSON gets null for it."""
    broken = TRUTH.copy()
    broken[2, 3] = value
    found = tensor_difference(TRUTH, broken, scores=True)
    assert found.max_abs == found.relative_error == np.inf
    assert (found.cosine, found.top1_agreement) == (0, 0)


def test_empty_references_have_no_angle() -> None:
    """Zeros against zeros are equal, zeros against something are wholly wrong."""
    zeros = np.zeros_like(TRUTH)
    assert tensor_difference(zeros, zeros, scores=False).relative_error == 0
    assert tensor_difference(zeros, TRUTH, scores=False).relative_error == 1


def _stages(error: float) -> StageTensors:
    chance = np.random.default_rng(1)
    shapes = ((2, 3, 4), (5, 6), (7, 8))
    encoder, projector, logits = (chance.normal(size=shape) for shape in shapes)
    return StageTensors(encoder + error, projector + error, logits + error)


def test_each_stage_stands_beside_its_noise() -> None:
    """The table has the stages in their order, with the error in multiples of the floor."""
    rows = tensor_parity(_stages(0), _stages(0.01), _stages(0.0001))
    assert [row.stage for row in rows] == list(Stage)
    assert [row.values for row in rows] == [24, 30, 56]
    for row in rows:
        assert row.times_noise == pytest.approx(100)
    quiet = tensor_parity(_stages(0), _stages(0.01), _stages(0))
    assert quiet[0].times_noise is None
    values = json.loads(json.dumps(tensor_rows(rows), allow_nan=False))
    assert values[2]["stage"] == "teacher-forced logits"
    assert values[2]["noise_floor"]["top1_agreement"] == 1
    assert values[0]["times_noise"] == pytest.approx(100)


def test_other_shapes_do_not_fit() -> None:
    """Models of another size cannot be compared number by number."""
    one, two = _stages(0), _stages(0)
    assert one.fits(two)
    assert not one.fits(StageTensors(two.encoder[:1], two.projector, two.logits))


def test_json_never_holds_an_infinity() -> None:
    """What is not finite is written as null."""
    broken = _stages(float("nan"))
    rows = tensor_rows(tensor_parity(_stages(0), broken, _stages(0)))
    assert json.loads(json.dumps(rows, allow_nan=False))[0]["relative_error"] is None


def test_a_reference_that_is_not_finite_makes_valid_json() -> None:
    """Infinities by infinities are no number, and JSON has none."""
    endless = TensorDifference(inf, inf, 0.0, None)
    (row,) = tensor_rows((StageParity(Stage.ENCODER, 1, endless, endless),))
    assert row["times_noise"] is None
    assert json.dumps(row, allow_nan=False)
