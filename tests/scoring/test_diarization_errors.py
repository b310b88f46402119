"""DER and JER by hand and against pyannote.metrics."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pyannote.core import Annotation, Timeline
from pyannote.core import Segment as Span
from pyannote.metrics.diarization import DiarizationErrorRate, JaccardErrorRate

from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.scoring.diarization_errors import DiarizationErrors, diarization_errors
from tests.scoring.builders import timed, transcripts

REFERENCE = timed((0, 10, "A", ""), (10, 20, "B", ""))


@pytest.mark.parametrize(
    ("turns", "der"),
    [
        ([(0, 11, "x"), (11, 20, "y")], 0.05),
        ([(0, 7, "x"), (10, 20, "y")], 0.15),
        ([(0, 10, "x"), (10, 22, "y")], 0.10),
        ([(0, 20, "x")], 0.5),
        ([(0, 10, "x"), (10, 20, "y")], 0.0),
        ([], 1.0),
    ],
)
def test_hand_counted_examples(turns: list[tuple[float, float, str]], der: float) -> None:
    """Confusion, miss, false alarm, one speaker for two, relabelled only, nothing found."""
    hypothesis = timed(*((start, end, speaker, "") for start, end, speaker in turns))
    assert diarization_errors(REFERENCE, hypothesis).errors.der == der


def test_one_speaker_for_two_has_the_hand_counted_jaccard_error() -> None:
    """One speaker half right, the other one not at all: (1/2 + 1) / 2."""
    errors = diarization_errors(REFERENCE, timed((0, 20, "x", ""))).errors
    assert errors.jer == 0.75


def test_the_collar_is_a_half_width() -> None:
    """A boundary 250 ms off costs nothing under ±250 ms and something without."""
    hypothesis = timed((0, 10.25, "x", ""), (10.25, 20, "y", ""))
    assert diarization_errors(REFERENCE, hypothesis, collar_ms=250).errors.der == 0.0
    assert diarization_errors(REFERENCE, hypothesis, collar_ms=249).errors.der != 0.0


def test_overlapping_segments_of_one_speaker_count_once() -> None:
    """A speaker cannot be missed twice at the same moment."""
    doubled = timed((0, 6, "A", ""), (4, 10, "A", ""))
    assert diarization_errors(doubled, timed((0, 10, "x", ""))).errors == DiarizationErrors(
        reference_ms=10_000, reference_speakers=1
    )


def test_segments_without_times_or_length_are_left_out() -> None:
    """Nothing can be scored of them, and there is no rate without a reference."""
    bare = timed((None, 3, "A", ""), (2, None, "A", ""), (1, 1, "A", ""))
    errors = diarization_errors(bare, bare).errors
    assert (errors.der, errors.jer) == (None, None)


def off_grid(transcript: Transcript, shift_ms: int) -> Transcript:
    """Move ends off the 10 ms grid, each by another amount, so that no two pairings tie."""
    return Transcript(
        tuple(
            Segment(s.start, (s.end or 0) + (shift_ms * (2**n) % 997) / 1000, str(s.speaker), "")
            for n, s in enumerate(transcript.segments)
        )
    )


def annotation(transcript: Transcript) -> Annotation:
    """Return the transcript as pyannote reads it, a speaker's overlapping segments merged."""
    found = Annotation()
    for index, segment in enumerate(transcript.segments):
        found[Span(segment.start, segment.end), index] = segment.speaker
    return found.support()


@settings(max_examples=60)
@given(transcripts(min_turns=1), transcripts(min_turns=1), st.sampled_from([0, 250]))
def test_rates_are_those_of_pyannote(one: Transcript, two: Transcript, collar_ms: int) -> None:
    """The published tool, which names the whole width of the collar, finds the same rates."""
    reference, hypothesis = off_grid(one, 3), off_grid(two, 7)
    left, right = annotation(reference), annotation(hypothesis)
    found = diarization_errors(reference, hypothesis, collar_ms=collar_ms)
    assume(found.errors.der is not None)
    region = Timeline([left.get_timeline().extent() | right.get_timeline().extent()])
    der = DiarizationErrorRate(collar=2 * collar_ms / 1000)
    assert math.isclose(der(left, right, uem=region), found.errors.der, abs_tol=1e-9)
    jer = JaccardErrorRate(collar=2 * collar_ms / 1000)(left, right, uem=region)
    if collar_ms == 0 and only_one_is_best(left * right):
        assert found.errors.jer is not None
        assert math.isclose(jer, found.errors.jer, abs_tol=1e-9)


def only_one_is_best(common_s: NDArray[np.float64]) -> bool:
    """Tell whether one assignment of rows to columns has more common speech than all others.

    Of several best ones each tool takes its own, and their Jaccard errors differ.
    """
    rows, columns = common_s.shape
    square = np.zeros((rows + columns, rows + columns))
    square[:rows, :columns] = common_s
    best: dict[frozenset[tuple[int, int]], float] = {}
    for order in permutations(range(rows + columns), rows):
        pairs = [(row, column) for row, column in enumerate(order) if square[row, column] > 0]
        best[frozenset(pairs)] = sum(square[pair] for pair in pairs)
    first, *others = sorted(best.values(), reverse=True)
    return not others or first - others[0] > 1e-6


@given(transcripts(), transcripts())
def test_rates_are_bounded_and_a_transcript_agrees_with_itself(
    reference: Transcript, hypothesis: Transcript
) -> None:
    """Errors never exceed what is spoken on both sides, and there is none against oneself."""
    same = diarization_errors(reference, reference).errors
    assert same.missed_ms + same.false_alarm_ms + same.confusion_ms == 0
    errors = diarization_errors(reference, hypothesis).errors
    assert errors.missed_ms + errors.confusion_ms <= errors.reference_ms
    assert errors.jer is None or 0 <= errors.jer <= 1


@given(transcripts(), transcripts())
def test_pooled_time_adds_up(one: Transcript, two: Transcript) -> None:
    """A corpus figure is a ratio of sums."""
    parts = [diarization_errors(one, two).errors, diarization_errors(two, one).errors]
    pooled = sum(parts, DiarizationErrors())
    assert pooled.reference_ms == sum(part.reference_ms for part in parts)
    assert pooled.confusion_ms == sum(part.confusion_ms for part in parts)
