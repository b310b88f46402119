"""The aligned words of a comparison as rows to be shown, and the first place where they part."""

from collections.abc import Sequence

from moss_demo.scoring.comparison import Comparison
from moss_demo.scoring.text_errors import Edit
from moss_demo.scoring.verdict import AlignedToken, FirstDifference, Reason


def aligned_tokens(comparison: Comparison, order: Sequence[int]) -> tuple[AlignedToken, ...]:
    """Return both transcripts token by token.

    Args:
        comparison: the alignment and what it tells of speakers.
        order: index of each compared candidate segment as it was emitted.
    """
    left, right = comparison.reference, comparison.candidate
    answers = {*comparison.speakers.assignment, (None, None)}
    rows: list[AlignedToken] = []
    column = 0

    def insert_until(end: int) -> None:
        for index in range(column, end):
            segment = order[right.owners[index]]
            token = right.tokens[index]
            rows.append(AlignedToken(Edit.INSERT, None, token, None, segment, False))

    for row, partner in enumerate(comparison.alignment.partners):
        token, segment = left.tokens[row], left.owners[row]
        if partner < 0:
            rows.append(AlignedToken(Edit.DELETE, token, None, segment, None, False))
            continue
        insert_until(partner)
        column = partner + 1
        other, owner = right.tokens[partner], right.owners[partner]
        speakers = (left.segments[segment].speaker, right.segments[owner].speaker)
        edit = Edit.EQUAL if token == other else Edit.SUBSTITUTE
        differs = speakers not in answers
        rows.append(AlignedToken(edit, token, other, segment, order[owner], differs))
    insert_until(len(right.tokens))
    return tuple(rows)


def first_difference(
    comparison: Comparison,
    order: Sequence[int],
    tokens: Sequence[AlignedToken],
    max_drift_ms: int,
) -> FirstDifference | None:
    """Return the earliest difference in words, speakers, boundaries or stamps, or None.

    Args:
        comparison: what is compared.
        order: index of each compared candidate segment as it was emitted.
        tokens: the rows of `aligned_tokens`.
        max_drift_ms: drift that does not count as a difference.
    """
    return min(
        [
            *_token_differences(tokens),
            *_boundary_differences(comparison, order),
            *_stamp_differences(comparison, order, max_drift_ms),
        ],
        key=lambda found: found[0],
        default=(0, None),
    )[1]


_Found = tuple[int, FirstDifference]
"""Reference token at or before which a difference is seen, and the difference."""


def _token_differences(tokens: Sequence[AlignedToken]) -> list[_Found]:
    row = 0
    for token in tokens:
        if token.edit is not Edit.EQUAL or token.speaker_differs:
            reason = Reason.SPEAKERS if token.edit is Edit.EQUAL else Reason.WORDS
            segments = (token.reference_segment, token.candidate_segment)
            return [(row, FirstDifference(reason, *segments))]
        row += token.reference is not None
    return []


def _boundary_differences(comparison: Comparison, order: Sequence[int]) -> list[_Found]:
    left, right = comparison.reference, comparison.candidate
    partners, rows = comparison.alignment.partners, comparison.alignment.inverse().partners
    found: list[_Found] = []
    for row in comparison.segments.lost[:1]:
        answer = next((partner for partner in partners[row:] if partner >= 0), None)
        owner = None if answer is None else order[right.owners[answer]]
        segment = left.owners[min(row, len(left.owners) - 1)]
        found.append((row, FirstDifference(Reason.REFLOW, segment, owner)))
    for column in comparison.segments.added[:1]:
        aligned = next((partner for partner in rows[column:] if partner >= 0), None)
        behind = None if aligned is None else left.owners[aligned]
        owner = order[right.owners[min(column, len(right.owners) - 1)]]
        at = len(left.tokens) if aligned is None else aligned
        found.append((at, FirstDifference(Reason.REFLOW, behind, owner)))
    return found


def _stamp_differences(
    comparison: Comparison, order: Sequence[int], max_drift_ms: int
) -> list[_Found]:
    partner = dict(comparison.segments.matched)
    drifted = [row for row, drift in comparison.drifts if drift > max_drift_ms]
    untimed = [row for row, _ in comparison.untimed]
    return [
        (comparison.reference.offsets[row + 1], FirstDifference(reason, row, order[partner[row]]))
        for reason, rows in ((Reason.DRIFT, drifted), (Reason.UNKNOWN_TIME, untimed))
        for row in rows[:1]
    ]
