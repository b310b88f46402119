"""What a person changes in a transcript, and takes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.editing import (
    MAX_CHARACTERS,
    MAX_STEPS,
    Revisions,
    changed,
    merged,
    new_label,
    read_time,
    removed,
    split,
)
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.errors import EditError

RAW = "[0.50][S01]good morning all[1.70][2.00][S02]shell we begin[3.00][S01]yes"
TRANSCRIPT = parse(RAW)
EDITED = (SegmentFlag.EDITED,)


def test_a_segment_becomes_what_a_person_wants() -> None:
    """Times, speaker and words change and are marked; the rest and the raw text stay."""
    after = changed(TRANSCRIPT, 1, Segment(2.1, 3.2, "S01", "  shall we begin "), 10.0)
    assert after.segments[1] == Segment(2.1, 3.2, "S01", "shall we begin", EDITED)
    assert (after.segments[0], after.segments[2]) == (
        TRANSCRIPT.segments[0],
        TRANSCRIPT.segments[2],
    )
    assert after.raw == RAW


def test_saving_what_was_there_is_no_change() -> None:
    """Opening and closing a segment marks nothing, whatever flags it has."""
    for index, segment in enumerate(TRANSCRIPT.segments):
        assert changed(TRANSCRIPT, index, segment, 10.0) is TRANSCRIPT


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        (Segment(2.0, 3.0, "S02", "  "), "needs words"),
        (Segment(3.0, 2.0, "S02", "late"), "The end, 2 s, lies before the start, 3 s"),
        (Segment(2.0, 11.0, "S02", "far"), "ends at 10.00 s, before 11 s"),
        (Segment(2.0, 3.0, "S02", "a" * (MAX_CHARACTERS + 1)), "10,001 characters"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(wanted: Segment, sentence: str) -> None:
    """Nothing is cut or moved silently."""
    with pytest.raises(EditError, match=sentence):
        changed(TRANSCRIPT, 1, wanted, 10.0)


def test_times_may_stay_unknown_and_end_a_little_late() -> None:
    """A missing stamp need not be invented, rounding is forgiven, and no length is no limit."""
    assert changed(TRANSCRIPT, 2, Segment(None, None, None, "yes"), 10.0).segments[2].start is None
    assert changed(TRANSCRIPT, 2, Segment(3.0, 10.4, "S01", "yes"), 10.0).segments[2].end == 10.4
    assert changed(TRANSCRIPT, 2, Segment(3.0, 99.0, "S01", "yes"), 0.0).segments[2].end == 99.0


def test_a_segment_that_is_gone_cannot_be_changed() -> None:
    """A stale index is answered."""
    for index in (-1, 3):
        with pytest.raises(EditError, match="not there any more"):
            removed(TRANSCRIPT, index)


def test_a_segment_is_split_within_its_words() -> None:
    """Both halves keep the speaker; the cut lies where the words do."""
    first, second, *_ = split(TRANSCRIPT, 0, 5).segments
    assert first == Segment(0.5, 0.82, "S01", "good", EDITED)
    assert second == Segment(0.82, 1.7, "S01", "morning all", EDITED)
    for at in (0, 99):
        with pytest.raises(EditError, match="cursor"):
            split(TRANSCRIPT, 0, at)
    assert split(TRANSCRIPT, 2, 1).segments[2:] == (
        Segment(3.0, None, "S01", "y", EDITED), Segment(None, None, "S01", "es", EDITED),
    )  # fmt: skip


def test_a_segment_is_merged_with_the_next() -> None:
    """The first one's speaker stays, the later end wins, and Chinese needs no blank between."""
    assert merged(TRANSCRIPT, 0).segments[0] == Segment(
        0.5, 3.0, "S01", "good morning all shell we begin", EDITED
    )
    spoken = parse("[1.0][S01]你好，[5.0][2.0][S02]开始吧[3.0]")
    assert merged(spoken, 0).segments == (Segment(1.0, 5.0, "S01", "你好，开始吧", EDITED),)
    with pytest.raises(EditError, match="no segment after"):
        merged(TRANSCRIPT, 2)


@pytest.mark.parametrize(
    ("typed", "seconds"),
    [("62.5", 62.5), ("1:02.50", 62.5), ("1:01:02", 3662.0), ("75:00", 4500.0), (" 0 ", 0.0),
     ("", None), ("–", None)],
)  # fmt: skip
def test_times_are_read_as_people_write_them(typed: str, seconds: float | None) -> None:
    """Seconds or a clock, decimals or none; blank is unknown."""
    assert read_time(typed) == seconds


@pytest.mark.parametrize("typed", ["soon", "-1", "1:2:3:4", "1e3", "nan", "1,5", "9" * 30, "٣"])
def test_what_is_no_time_is_named(typed: str) -> None:
    """The sentence quotes what was typed."""
    with pytest.raises(EditError, match="is no time"):
        read_time(typed)


def test_a_new_speaker_gets_a_label_of_their_own() -> None:
    """Labels stay in the model's form and are never given twice."""
    assert new_label(TRANSCRIPT) == "S03"
    assert new_label(Transcript()) == "S01"


@given(st.lists(st.sampled_from(["remove", "merge", "split", "undo", "redo"]), max_size=30))
def test_every_change_can_be_taken_back(steps: list[str]) -> None:
    """Undo to the end gives the model's transcript, redo to the end the last one again."""
    revisions = Revisions(TRANSCRIPT)
    numbers = {0}
    for step in steps:
        before = revisions
        try:
            match step:
                case "remove":
                    revisions = revisions.revised(removed(revisions.present, 0))
                case "merge":
                    revisions = revisions.revised(merged(revisions.present, 0))
                case "split":
                    revisions = revisions.revised(split(revisions.present, 0, 3))
                case "undo":
                    revisions = revisions.undone()
                case _:
                    revisions = revisions.redone()
        except EditError:
            assert revisions is before
        if revisions is not before:
            assert revisions.number not in numbers
            numbers.add(revisions.number)
    while revisions.future:
        revisions = revisions.redone()
    last = revisions.present
    while revisions.past:
        revisions = revisions.undone()
    assert revisions.present == TRANSCRIPT
    while revisions.future:
        revisions = revisions.redone()
    assert revisions.present == last
    assert revisions.present.raw == RAW


def test_a_change_ends_what_could_be_redone_and_the_past_is_bounded() -> None:
    """After an undo another change is a new branch; no session grows for ever."""
    revisions = Revisions(TRANSCRIPT).revised(removed(TRANSCRIPT, 0)).undone()
    assert revisions.revised(removed(TRANSCRIPT, 1)).future == ()
    assert revisions.revised(TRANSCRIPT) is revisions
    for n in range(MAX_STEPS + 50):
        text = Segment(0.5, 1.7, "S01", f"word {n}")
        revisions = revisions.revised(changed(revisions.present, 0, text, 10.0))
    assert len(revisions.past) == MAX_STEPS


def test_exports_carry_the_edits_and_the_raw_text_does_not() -> None:
    """Every format but the model's own text says what the person wrote."""
    after = changed(TRANSCRIPT, 1, Segment(2.0, 3.0, "S02", "shall we begin"), 10.0)
    for fmt in ExportFormat:
        text = export(after, fmt, name="talk", duration_s=10.0)
        if fmt is ExportFormat.RAW:
            assert text == RAW
        elif fmt not in (ExportFormat.RTTM, ExportFormat.UEM):
            assert "shall we begin" in text


def test_no_change_puts_an_end_before_its_start() -> None:
    """A cut lies within its segment, and a merged segment spans all that is known of both."""
    short = Transcript((Segment(1.996, 1.998, "S01", "aaaa bbbb"),))
    first, second = split(short, 0, 4).segments
    assert 1.996 <= first.end == second.start <= 1.998  # type: ignore[operator]
    crossed = Transcript((Segment(10.0, None, "S01", "late"), Segment(2.0, 4.0, "S02", "early")))
    (one,) = merged(crossed, 0).segments
    assert (one.start, one.end) == (2.0, 10.0)
