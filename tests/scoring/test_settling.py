"""Gaps move to where boundaries and times say they belong, at no further edit."""

from hypothesis import given

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.boundaries import correspond
from moss_demo.scoring.normalize import Level, TextRules
from moss_demo.scoring.settling import settle
from moss_demo.scoring.streams import TokenStream, token_stream
from moss_demo.scoring.text_errors import align, count_aligned
from tests.scoring.builders import spoken, timed, transcripts


def stream(transcript: Transcript) -> TokenStream:
    """Lay a transcript out as it was emitted."""
    return token_stream(transcript.segments, TextRules(Level.VERBATIM))


def settled(reference: Transcript, candidate: Transcript) -> tuple[int, ...]:
    """Return the partner of each reference token."""
    left, right = stream(reference), stream(candidate)
    return settle(left, right, align(left.tokens, right.tokens)).partners


def test_of_equal_turns_the_one_without_a_time_is_the_lost_one() -> None:
    """The first of five equal turns is lost, not the last."""
    okay = [(2.0 * i, 2.0 * i + 1, "S01", "okay") for i in range(5)]
    assert settled(timed(*okay), timed(*okay[1:])) == (-1, 0, 1, 2, 3)


def test_an_added_equal_turn_is_found_by_its_time() -> None:
    """The mirror image: an extra turn in front shifts nobody else."""
    okay = [(2.0 * i, 2.0 * i + 1, "S01", "okay") for i in range(5)]
    assert settled(timed(*okay[1:]), timed(*okay)) == (1, 2, 3, 4)


def test_a_lost_word_stays_within_its_segment() -> None:
    """Of "yes | yes yes" against "yes | yes" the second segment lost its word."""
    reference = spoken(("S01", "yes"), ("S02", "yes yes"))
    assert settled(reference, spoken(("S01", "yes"), ("S02", "yes")))[0] == 0


def test_a_changed_word_beside_a_gap_goes_where_the_segments_agree() -> None:
    """A cut-off word answers the word it was cut from, not one of the lost turns."""
    reference = spoken(("S01", "we should begin"), ("S02", "go ahead please"))
    assert settled(reference, spoken(("S01", "we should be"))) == (0, 1, 2, -1, -1, -1)


@given(transcripts(), transcripts())
def test_settling_costs_no_edit_and_loses_no_boundary(
    reference: Transcript, candidate: Transcript
) -> None:
    """Settled alignments stay minimal and never match fewer boundaries."""
    left, right = stream(reference), stream(candidate)
    before = align(left.tokens, right.tokens)
    after = settle(left, right, before)
    assert count_aligned(left.tokens, right.tokens, after) == count_aligned(
        left.tokens, right.tokens, before
    )
    found = [correspond(left, right, alignment) for alignment in (before, after)]
    lost_before, lost_after = (len(c.lost) + len(c.added) for c in found)
    assert lost_after <= lost_before
