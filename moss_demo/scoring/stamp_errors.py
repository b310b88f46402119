"""How far time stamps lie from those of a reference, judged where the words agree.

A stamp is compared when its segment begins (or ends) between the same words on both sides, whatever
becomes of the segment's other end. Knows nothing of speakers.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from math import ceil
from statistics import median

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.boundaries import correspond
from moss_demo.scoring.normalize import Level, TextRules
from moss_demo.scoring.settling import settle
from moss_demo.scoring.streams import stamp_ms, time_order, token_stream
from moss_demo.scoring.text_errors import align

MIN_STAMPS_FOR_P95 = 20
"""With fewer values the 95th percentile is no more than their maximum."""


@dataclass(frozen=True, slots=True)
class StampErrors:
    """Absolute errors of the stamps that could be compared; values of several clips add up.

    Attributes:
        errors_ms: one value for each compared start or end.
        reference_stamps: known stamps of the reference, compared or not.
    """

    errors_ms: tuple[int, ...] = ()
    reference_stamps: int = 0

    @property
    def median_ms(self) -> float | None:
        """Middle value, None where no stamp was compared."""
        return float(median(self.errors_ms)) if self.errors_ms else None

    @property
    def p95_ms(self) -> float | None:
        """95th percentile by nearest rank, None for fewer than 20 stamps."""
        if len(self.errors_ms) < MIN_STAMPS_FOR_P95:
            return None
        return float(sorted(self.errors_ms)[ceil(0.95 * len(self.errors_ms)) - 1])

    @property
    def max_ms(self) -> float | None:
        """Largest value, None where no stamp was compared."""
        return float(max(self.errors_ms)) if self.errors_ms else None

    def __add__(self, other: "StampErrors") -> "StampErrors":
        """Pool the stamps of two clips."""
        return StampErrors(
            self.errors_ms + other.errors_ms, self.reference_stamps + other.reference_stamps
        )


def stamp_errors(reference: Transcript, hypothesis: Transcript) -> StampErrors:
    """Compare stamps at the segment boundaries that both transcripts have, in time order.

    Words are aligned by the relaxed rules, so that a capital letter hides no boundary.
    """
    rules = TextRules(Level.RELAXED)
    left, right = (
        token_stream((side.segments[index] for index in time_order(side.segments)), rules)
        for side in (reference, hypothesis)
    )
    pairs = correspond(left, right, settle(left, right, align(left.tokens, right.tokens)))
    stamps = [
        *((left.segments[row].start, right.segments[column].start) for row, column in pairs.starts),
        *((left.segments[row].end, right.segments[column].end) for row, column in pairs.ends),
    ]
    known = sum(t is not None for s in reference.segments for t in (s.start, s.end))
    return StampErrors(tuple(_apart_ms(stamps)), known)


def _apart_ms(stamps: Iterable[tuple[float | None, float | None]]) -> Iterable[int]:
    for stamp, other in stamps:
        here_ms, there_ms = stamp_ms(stamp), stamp_ms(other)
        if here_ms is not None and there_ms is not None:
            yield abs(here_ms - there_ms)
