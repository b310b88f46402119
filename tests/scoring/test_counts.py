"""Counts that add up and rates that are derived from them."""

from hypothesis import given
from hypothesis import strategies as st

from moss_demo.scoring.counts import ErrorCounts

COUNTS = st.builds(ErrorCounts, *[st.integers(0, 99)] * 4)


def test_a_rate_without_a_reference_is_none() -> None:
    """Without a reference there is no rate, however much was inserted."""
    assert ErrorCounts(insertions=3).rate is None


def test_a_rate_is_edits_by_reference_tokens() -> None:
    """Two substitutions and two deletions in nine words make 4/9."""
    assert ErrorCounts(2, 2, 0, 9).rate == 4 / 9


@given(st.lists(COUNTS))
def test_a_corpus_rate_is_a_ratio_of_sums(counts: list[ErrorCounts]) -> None:
    """Pooled counts hold every edit and every reference token exactly once."""
    pooled = sum(counts, ErrorCounts())
    assert pooled.errors == sum(c.errors for c in counts)
    assert pooled.reference_length == sum(c.reference_length for c in counts)
