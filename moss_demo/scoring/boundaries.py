"""Which segments of two transcripts answer each other.

A reference boundary and a candidate boundary correspond when the alignment passes through the
point between the same tokens on both sides. So a changed word moves no boundary, and a moved
boundary changes no word. Knows nothing of speakers or of what the words are.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from moss_demo.scoring.streams import TokenStream
from moss_demo.scoring.text_errors import Alignment

SegmentPair = tuple[int, int]
"""Index of a reference segment and of its candidate segment."""


@dataclass(frozen=True, slots=True)
class Correspondence:
    """How the segments of a candidate answer those of a reference.

    Attributes:
        lost: token positions of reference boundaries that the candidate does not have.
        added: token positions of candidate boundaries that the reference does not have.
        starts: segments that begin at the same place.
        ends: segments that end at the same place.
        matched: segments that do both: one to one.
        missing: reference segments of which no token has a partner.
        extra: candidate segments of which no token has a partner.
    """

    lost: tuple[int, ...]
    added: tuple[int, ...]
    starts: tuple[SegmentPair, ...]
    ends: tuple[SegmentPair, ...]
    matched: tuple[SegmentPair, ...]
    missing: tuple[int, ...]
    extra: tuple[int, ...]


def correspond(
    reference: TokenStream, candidate: TokenStream, alignment: Alignment
) -> Correspondence:
    """Find the boundaries and segments that answer each other; linear but for the look-ups."""
    spans = _columns(alignment)
    columns = candidate.boundaries
    missing = _without_partner(reference, alignment)
    starts, ends = [], []
    begins_at = {candidate.offsets[i]: i for i in candidate.spoken}
    ends_at = {candidate.offsets[i + 1]: i for i in candidate.spoken}
    for index in reference.spoken:
        if index in missing:
            continue
        first = _within(columns, spans[reference.offsets[index]])
        last = _within(columns, spans[reference.offsets[index + 1]])
        # Where whole segments were inserted, the one that begins here follows all of them.
        if first and first[-1] in begins_at:
            starts.append((index, begins_at[first[-1]]))
        if last and last[0] in ends_at:
            ends.append((index, ends_at[last[0]]))
    lost, kept = [], set[int]()
    for row in reference.boundaries:
        answers = _within(columns, spans[row])
        kept.update(answers)
        if not answers:
            lost.append(row)
    ending = set(ends)
    return Correspondence(
        lost=tuple(lost),
        added=tuple(column for column in columns if column not in kept),
        starts=tuple(starts),
        ends=tuple(ends),
        matched=tuple(pair for pair in starts if pair in ending),
        missing=tuple(sorted(missing)),
        extra=tuple(sorted(_without_partner(candidate, alignment.inverse()))),
    )


def _columns(alignment: Alignment) -> list[tuple[int, int]]:
    """Return for each position between reference tokens the candidate positions it touches."""
    spans = []
    reached = 0
    for partner in alignment.partners:
        here = reached if partner < 0 else partner
        spans.append((reached, here))
        reached = here if partner < 0 else partner + 1
    return [*spans, (reached, alignment.candidate_length)]


def _within(columns: Sequence[int], span: tuple[int, int]) -> Sequence[int]:
    return columns[bisect_left(columns, span[0]) : bisect_right(columns, span[1])]


def _without_partner(stream: TokenStream, alignment: Alignment) -> set[int]:
    return {
        index
        for index in stream.spoken
        if all(
            partner < 0
            for partner in alignment.partners[stream.offsets[index] : stream.offsets[index + 1]]
        )
    }
