"""Word errors against a second implementation, and laws of alignments."""

from itertools import pairwise

import jiwer
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.text_errors import align, count_aligned, count_errors

TOKENS = st.lists(st.sampled_from("abcd"), max_size=12)


def test_the_textbook_example() -> None:
    """Two words changed and two lost in nine."""
    reference = ["the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog"]
    hypothesis = ["the", "kwick", "brown", "fox", "jump", "over", "lazy"]
    assert count_errors(reference, hypothesis) == ErrorCounts(2, 2, 0, 9)


@given(TOKENS.filter(bool), TOKENS.filter(bool))
def test_counts_are_those_of_jiwer(reference: list[str], hypothesis: list[str]) -> None:
    """The figures are the ones that everybody else reports."""
    expected = jiwer.process_words(" ".join(reference), " ".join(hypothesis))
    assert count_errors(reference, hypothesis) == ErrorCounts(
        expected.substitutions, expected.deletions, expected.insertions, len(reference)
    )


@given(TOKENS, TOKENS)
def test_an_alignment_is_in_order_and_costs_what_was_counted(
    reference: list[str], candidate: list[str]
) -> None:
    """Partners ascend, and reading the alignment gives the same counts as counting alone."""
    alignment = align(reference, candidate)
    partners = [column for column in alignment.partners if column >= 0]
    assert len(alignment.partners) == len(reference)
    assert all(one < two for one, two in pairwise(partners))
    assert count_aligned(reference, candidate, alignment) == count_errors(reference, candidate)


@given(TOKENS, TOKENS)
def test_an_alignment_reads_the_same_from_both_sides(
    reference: list[str], candidate: list[str]
) -> None:
    """Turning an alignment around twice gives it back."""
    alignment = align(reference, candidate)
    assert alignment.inverse().inverse() == alignment
