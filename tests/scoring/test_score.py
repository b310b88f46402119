"""All measures of one clip, each at its named rules, and what a reference does not allow."""

import json

import pytest
from hypothesis import given

from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.normalize import Level
from moss_demo.scoring.report import score_dict
from moss_demo.scoring.score import score
from moss_demo.scoring.stamp_errors import StampErrors, stamp_errors
from tests.scoring.builders import spoken, timed, transcripts

REFERENCE = timed(
    (0.0, 2.0, "A", "Good morning, everyone."),
    (2.0, 5.0, "B", "It's twenty five to the hour and we have to begin"),
)
HYPOTHESIS = timed(
    (0.0, 2.1, "S01", "good morning everyone"),
    (2.1, 5.0, "S02", "it is 25 to the hour and we have to begin"),
)


def test_every_figure_stands_beside_its_rules() -> None:
    """Capital letters cost something, then nothing; numbers cost something until spelled."""
    text = score_dict(REFERENCE, HYPOTHESIS)["text"]
    rates = [text[level.value]["wer"]["rate"] for level in Level]
    assert rates == [6 / 14, 3 / 14, 0.0]
    assert [text[level.value]["normalization"].split()[0] for level in Level] == list(Level)


def test_a_score_is_plain_json() -> None:
    """What is printed can be read back."""
    found = score_dict(REFERENCE, HYPOTHESIS)
    assert json.loads(json.dumps(found, allow_nan=False)) == found


def test_characters_are_counted_without_blanks() -> None:
    """Blanks between Chinese words are no errors."""
    one, two = spoken(("A", "你好 世界")), spoken(("A", "你好世界"))
    assert [text.characters.errors for text in score(one, two).texts] == [0, 0, 0]


def test_speakers_can_cost_less_than_their_order() -> None:
    """A back-channel inside another turn costs the plain rate and not the one by speaker."""
    reference = timed((0.0, 4.0, "A", "one two three four"), (1.0, 2.0, "B", "yes"))
    hypothesis = timed(
        (0.0, 1.0, "A", "one two"), (1.0, 2.0, "B", "yes"), (2.0, 4.0, "A", "three four")
    )
    text = score(reference, hypothesis).texts[0]
    assert text.cp_words is not None
    assert text.cp_words.counts.errors == 0
    assert text.delta_cp_words == -2 / 5


def test_plain_words_allow_word_errors_only() -> None:
    """Without labels and times there is nothing to say of speakers and stamps."""
    found = score_dict(read_reference("good morning everyone"), HYPOTHESIS)
    assert found["text"]["verbatim"]["wer"]["length"] == 3
    assert found["text"]["verbatim"]["cpwer"] is None
    assert found["text"]["verbatim"]["delta_cp_wer"] is None
    assert (found["diarization"], found["speaker_count"]) == ([], None)
    assert found["stamp_error"]["median_ms"] is None


def test_an_annotation_of_speakers_allows_no_word_error() -> None:
    """A reference without words has no word error rate, and a diarization error rate."""
    rttm = "SPEAKER t 1 0.0 2.0 <NA> <NA> A <NA> <NA>\nSPEAKER t 1 2.0 3.0 <NA> <NA> B <NA> <NA>\n"
    found = score_dict(read_reference(rttm), HYPOTHESIS)
    assert found["text"]["verbatim"]["wer"]["rate"] is None
    assert found["text"]["verbatim"]["cpwer"]["rate"] is None
    assert [entry["collar_ms"] for entry in found["diarization"]] == [0, 250]
    assert found["diarization"][0]["der"] == 0.02
    assert found["diarization"][1]["der"] == 0.0


def test_speakers_too_many_are_counted() -> None:
    """Unlabelled speech is no speaker."""
    found = score(spoken(("A", "yes")), spoken(("X", "yes"), ("Y", "no"), (None, "well"))).speakers
    assert found is not None
    assert (found.reference, found.hypothesis, found.error) == (1, 2, 1)


def test_the_language_can_be_given() -> None:
    """The rules of the language are those asked for, and named."""
    text = score_dict(REFERENCE, HYPOTHESIS, language="de")["text"]["language"]
    assert text["normalization"] == "language (de: relaxed)"


def test_stamps_are_compared_where_segments_begin_and_end_alike() -> None:
    """A segment split in two still has its start and its end compared."""
    reference = timed((0.0, 4.0, "A", "one two three four"), (4.0, 6.0, "B", "five"))
    hypothesis = timed(
        (0.1, 2.0, "A", "One two"), (2.0, 4.3, "A", "three four"), (4.3, 6.0, "B", "five")
    )
    found = stamp_errors(reference, hypothesis)
    assert sorted(found.errors_ms) == [0, 100, 300, 300]
    assert (found.median_ms, found.max_ms, found.p95_ms) == (200.0, 300.0, None)


def test_a_percentile_needs_twenty_stamps() -> None:
    """The nearest rank of twenty values is the nineteenth."""
    assert StampErrors(tuple(range(20)), 20).p95_ms == 18.0
    assert StampErrors(tuple(range(19)), 19).p95_ms is None
    assert (StampErrors((1,), 2) + StampErrors((3,), 2)).median_ms == 2.0


@given(transcripts(min_turns=1))
def test_a_transcript_scores_perfectly_against_itself(transcript: Transcript) -> None:
    """No measure finds an error where there is none."""
    found = score(transcript, transcript)
    assert all(text.words.errors == text.characters.errors == 0 for text in found.texts)
    assert all(not entry.errors.der for _, entry in found.diarization)
    assert set(found.stamps.errors_ms) <= {0}


@pytest.mark.parametrize("side", [Transcript(), spoken(("A", ""))])
def test_empty_sides_have_no_rates(side: Transcript) -> None:
    """Nothing against nothing is neither good nor bad."""
    found = score_dict(side, side)
    assert found["text"]["relaxed"]["wer"]["rate"] is None
