"""Word and character errors of one text against another, and the alignment behind them.

Knows tokens in a row, nothing of speakers or times. Alignments are minimal in edits
(Levenshtein 1966, unit costs).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from rapidfuzz.distance import Editops, Levenshtein

from moss_demo.scoring.counts import ErrorCounts

_SAMPLE = 1000
"""Tokens from the beginning that tell how many errors to expect; a wrong guess costs time only."""


class Edit(StrEnum):
    """What became of a token."""

    EQUAL = "equal"
    SUBSTITUTE = "substitute"
    DELETE = "delete"
    INSERT = "insert"


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which token answers which, in order.

    Attributes:
        partners: for each reference token the index of its candidate token, ascending, or -1 when
            it was deleted. Candidate tokens that nobody names were inserted.
        candidate_length: number of candidate tokens.
    """

    partners: tuple[int, ...]
    candidate_length: int

    def inverse(self) -> "Alignment":
        """Return the same alignment seen from the candidate."""
        partners = [-1] * self.candidate_length
        for row, column in enumerate(self.partners):
            if column >= 0:
                partners[column] = row
        return Alignment(tuple(partners), len(self.partners))


def align(reference: Sequence[str], candidate: Sequence[str]) -> Alignment:
    """Align two token rows with the fewest edits."""
    edits = _edits(reference, candidate)
    partners: list[int] = []
    column = 0
    for edit in edits:
        equal = edit.src_pos - len(partners)
        partners.extend(range(column, column + equal))
        column = edit.dest_pos
        if edit.tag != "insert":
            partners.append(column if edit.tag == "replace" else -1)
        column += edit.tag != "delete"
    rest = len(reference) - len(partners)
    return Alignment((*partners, *range(column, column + rest)), len(candidate))


def count_errors(reference: Sequence[str], candidate: Sequence[str]) -> ErrorCounts:
    """Count the fewest edits between two token rows, as every word or character error rate does."""
    tags = [edit.tag for edit in _edits(reference, candidate)]
    return ErrorCounts(
        substitutions=tags.count("replace"),
        deletions=tags.count("delete"),
        insertions=tags.count("insert"),
        reference_length=len(reference),
    )


def _edits(reference: Sequence[str], candidate: Sequence[str]) -> Editops:
    """Return the fewest edits, found in a band as wide as the beginning lets expect."""
    longest = max(len(reference), len(candidate))
    early = Levenshtein.distance(reference[:_SAMPLE], candidate[:_SAMPLE])
    expected = 2 * early * longest // _SAMPLE + _SAMPLE
    return Levenshtein.editops(reference, candidate, score_hint=min(expected, longest))


def count_aligned(
    reference: Sequence[str], candidate: Sequence[str], alignment: Alignment
) -> ErrorCounts:
    """Count the edits of an alignment at hand."""
    partners = [(row, column) for row, column in enumerate(alignment.partners) if column >= 0]
    return ErrorCounts(
        substitutions=sum(reference[row] != candidate[column] for row, column in partners),
        deletions=len(reference) - len(partners),
        insertions=len(candidate) - len(partners),
        reference_length=len(reference),
    )
