"""Two transcripts aligned once: words, boundaries, speakers and stamps at one level of rules.

Facts only; which of them make a difference is the gate's business.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from moss_demo.domain.transcript import Segment
from moss_demo.scoring.boundaries import Correspondence, SegmentPair, correspond
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.normalize import TextRules
from moss_demo.scoring.settling import settle
from moss_demo.scoring.speaker_errors import Attribution, attribute
from moss_demo.scoring.streams import TokenStream, stamp_ms, token_stream
from moss_demo.scoring.text_errors import Alignment, align, count_aligned


@dataclass(frozen=True, slots=True)
class Comparison:
    """Everything one alignment tells.

    Attributes:
        reference: tokens of the reference.
        candidate: tokens of the candidate.
        alignment: which token answers which.
        errors: edits between the tokens.
        segments: which segments answer each other.
        speakers: whether aligned tokens come from the same speakers.
        drifts: reference segment and drift in milliseconds for each stamp that both sides know.
        untimed: segments of which a stamp is known to one side only.
    """

    reference: TokenStream
    candidate: TokenStream
    alignment: Alignment
    errors: ErrorCounts
    segments: Correspondence
    speakers: Attribution
    drifts: tuple[tuple[int, int], ...]
    untimed: tuple[SegmentPair, ...]

    @property
    def words_equal(self) -> bool:
        """No edit is needed."""
        return self.errors.errors == 0

    @property
    def both_speak(self) -> bool:
        """Neither side is without words."""
        return bool(self.reference.tokens) and bool(self.candidate.tokens)

    @property
    def reflow(self) -> bool:
        """A boundary of one side has no counterpart on the other."""
        return bool(self.segments.lost or self.segments.added)

    @property
    def max_drift_ms(self) -> int | None:
        """Largest drift of a stamp, None where none can be compared."""
        return max((drift for _, drift in self.drifts), default=None)

    @property
    def time_unknown(self) -> bool:
        """A stamp that ought to be compared is missing.

        Stamps that neither side of a matched pair knows are equal; those of a segment without a
        match count whichever side lacks them.
        """
        if self.untimed:
            return True
        matched = set(self.segments.matched)
        alone = [
            *_others(self.reference, {row for row, _ in matched}),
            *_others(self.candidate, {column for _, column in matched}),
        ]
        return any(segment.start is None or segment.end is None for segment in alone)


def compare_segments(
    reference: Sequence[Segment], candidate: Sequence[Segment], rules: TextRules
) -> Comparison:
    """Align the tokens of two transcripts in the order given and read off everything else."""
    left, right = token_stream(reference, rules), token_stream(candidate, rules)
    alignment = settle(left, right, align(left.tokens, right.tokens))
    segments = correspond(left, right, alignment)
    drifts, untimed = _drifts(left, right, segments.matched)
    return Comparison(
        reference=left,
        candidate=right,
        alignment=alignment,
        errors=count_aligned(left.tokens, right.tokens, alignment),
        segments=segments,
        speakers=attribute(_speaker_pairs(left, right, alignment)),
        drifts=drifts,
        untimed=untimed,
    )


def _speaker_pairs(
    left: TokenStream, right: TokenStream, alignment: Alignment
) -> Counter[tuple[str | None, str | None]]:
    pairs = Counter(
        (left.owners[row], right.owners[column])
        for row, column in enumerate(alignment.partners)
        if column >= 0
    )
    speakers = Counter[tuple[str | None, str | None]]()
    for (row, column), tokens in pairs.items():
        speakers[left.segments[row].speaker, right.segments[column].speaker] += tokens
    return speakers


def _drifts(
    left: TokenStream, right: TokenStream, matched: Sequence[SegmentPair]
) -> tuple[tuple[tuple[int, int], ...], tuple[SegmentPair, ...]]:
    drifts: list[tuple[int, int]] = []
    untimed: list[SegmentPair] = []
    for row, column in matched:
        one, two = left.segments[row], right.segments[column]
        for stamp, other in ((one.start, two.start), (one.end, two.end)):
            here_ms, there_ms = stamp_ms(stamp), stamp_ms(other)
            if here_ms is not None and there_ms is not None:
                drifts.append((row, abs(here_ms - there_ms)))
            elif here_ms is not there_ms:
                untimed.append((row, column))
    return tuple(drifts), tuple(dict.fromkeys(untimed))


def _others(stream: TokenStream, matched: set[int]) -> list[Segment]:
    return [stream.segments[index] for index in stream.spoken if index not in matched]
