"""cpWER by hand and against MeetEval, and attribution up to relabelling."""

from collections import Counter
from collections.abc import Mapping

import meeteval
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.speaker_errors import attribute, cp_errors, tokens_by_speaker
from tests.scoring.builders import spoken, transcripts

REFERENCE = spoken(("A", "one two three"), ("B", "four five"), ("A", "six seven"))


def by_speaker(transcript: Transcript) -> dict[str | None, list[str]]:
    """Return the blank-separated words of each speaker."""
    segments = transcript.segments
    return tokens_by_speaker(segments, [segment.text.split() for segment in segments])


@pytest.mark.parametrize(
    ("turns", "errors"),
    [
        ([("X", "one two three"), ("Y", "four five"), ("X", "six seven")], 0),
        ([("A", "one two three"), ("B", "four five"), ("B", "six seven")], 4),
        ([("A", "one two tree"), ("B", "four five"), ("A", "six")], 2),
        ([("A", "one two three"), ("A", "four five"), ("A", "six seven")], 4),
        ([], 7),
    ],
)
def test_hand_counted_examples(turns: list[tuple[str, str]], errors: int) -> None:
    """Relabelled, turn misplaced, words wrong, all one speaker, nothing at all."""
    counts = cp_errors(by_speaker(REFERENCE), by_speaker(spoken(*turns))).counts
    assert (counts.errors, counts.reference_length) == (errors, 7)


def test_the_assignment_names_who_answers_whom() -> None:
    """Swapped labels are reported as such."""
    swapped = spoken(("B", "one two three"), ("A", "four five"), ("B", "six seven"))
    found = cp_errors(by_speaker(REFERENCE), by_speaker(swapped))
    assert found.assignment == (("A", "B"), ("B", "A"))


def test_equal_labels_are_kept_where_the_words_do_not_decide() -> None:
    """Two speakers with the same words are not swapped."""
    both = spoken(("A", "yes"), ("B", "yes"))
    assert cp_errors(by_speaker(both), by_speaker(both)).assignment == (("A", "A"), ("B", "B"))


def seglst(transcript: Transcript) -> meeteval.io.SegLST:
    """Return the transcript as MeetEval reads it."""
    return meeteval.io.SegLST(
        [
            {
                "session_id": "s",
                "speaker": str(segment.speaker),
                "start_time": segment.start,
                "end_time": segment.end,
                "words": segment.text,
            }
            for segment in transcript.segments
        ]
    )


@settings(max_examples=60)
@given(transcripts(min_turns=1), transcripts(min_turns=1))
def test_errors_are_those_of_meeteval(reference: Transcript, hypothesis: Transcript) -> None:
    """The published tool finds the same number of errors over the same length."""
    expected = meeteval.wer.cpwer(seglst(reference), seglst(hypothesis))["s"]
    counts = cp_errors(by_speaker(reference), by_speaker(hypothesis)).counts
    assert (counts.errors, counts.reference_length) == (expected.errors, expected.length)


@given(transcripts(), transcripts(), st.permutations(["S01", "S02", "S03"]))
def test_names_of_speakers_do_not_matter(
    reference: Transcript, hypothesis: Transcript, names: list[str]
) -> None:
    """Any renaming of the hypothesis leaves the number of errors as it is."""
    renamed = hypothesis.renamed(dict(zip(["S01", "S02", "S03"], names, strict=True)))
    errors = [
        cp_errors(by_speaker(reference), by_speaker(side)).counts.errors
        for side in (hypothesis, renamed)
    ]
    assert errors[0] == errors[1]


@given(transcripts(), transcripts())
def test_errors_are_bounded(reference: Transcript, hypothesis: Transcript) -> None:
    """No pairing costs more than losing everything and inserting everything."""
    left, right = by_speaker(reference), by_speaker(hypothesis)
    total = sum(map(len, left.values())) + sum(map(len, right.values()))
    assert 0 <= cp_errors(left, right).counts.errors <= total


PAIRS = Mapping[tuple[str | None, str | None], int]


@pytest.mark.parametrize(
    ("pairs", "errors", "relabel", "exact"),
    [
        ({("A", "A"): 3, ("B", "B"): 2}, 0, (), True),
        ({("A", "B"): 3, ("B", "A"): 2}, 0, (("A", "B"), ("B", "A")), False),
        ({("A", "A"): 3, ("B", "A"): 2}, 2, (), False),
        ({("A", "A"): 3, ("A", "B"): 2}, 2, (), False),
        ({("A", "A"): 3, ("B", None): 2}, 2, (), False),
        ({("A", None): 3}, 3, (), False),
        ({(None, "A"): 3}, 3, (), False),
        ({(None, None): 3, ("A", "A"): 1}, 0, (), True),
        ({}, 0, (), True),
    ],
)
def test_merging_splitting_and_lost_labels_are_no_relabelling(
    pairs: PAIRS, errors: int, relabel: tuple[tuple[str, str], ...], exact: bool
) -> None:
    """Only a one-to-one exchange of names explains a difference."""
    found = attribute(Counter(pairs))
    assert (found.token_errors, found.relabel, found.labels_exact) == (errors, relabel, exact)
