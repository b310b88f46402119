"""Segments laid out as one row of tokens that still know where they come from.

Knows the order of segments and their times in milliseconds, nothing of a second transcript.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from moss_demo.domain.exports.times import to_ms
from moss_demo.domain.transcript import Segment
from moss_demo.scoring.normalize import TextRules


@dataclass(frozen=True, slots=True)
class TokenStream:
    """The tokens of consecutive segments.

    Attributes:
        segments: where the tokens come from, in the order of the row.
        tokens: every token.
        owners: index into `segments` for each token.
        offsets: index of the first token of each segment, then the number of tokens.
    """

    segments: tuple[Segment, ...]
    tokens: tuple[str, ...]
    owners: tuple[int, ...]
    offsets: tuple[int, ...]

    @property
    def boundaries(self) -> list[int]:
        """Token positions at which a segment begins or ends, ascending, each once."""
        return sorted(set(self.offsets))

    @property
    def spoken(self) -> list[int]:
        """Indices of the segments that hold a token at all."""
        return [i for i in range(len(self.segments)) if self.offsets[i] < self.offsets[i + 1]]

    def token_starts_ms(self) -> list[int | None]:
        """Start of the segment of each token in milliseconds, None where it is not known."""
        starts = [stamp_ms(segment.start) for segment in self.segments]
        return [starts[owner] for owner in self.owners]


def token_stream(segments: Iterable[Segment], rules: TextRules) -> TokenStream:
    """Lay segments out in the order given, one segment's text normalized at a time."""
    kept = tuple(segments)
    tokens: list[str] = []
    owners: list[int] = []
    offsets = [0]
    for index, segment in enumerate(kept):
        words = rules.words(segment.text)
        tokens += words
        owners += [index] * len(words)
        offsets.append(len(tokens))
    return TokenStream(kept, tuple(tokens), tuple(owners), tuple(offsets))


def time_order(segments: Sequence[Segment]) -> list[int]:
    """Return indices by start time, ties and unknown starts as they were emitted.

    A segment of unknown start stays behind the one before it.
    """
    keys: list[float] = []
    latest = 0.0
    for segment in segments:
        latest = latest if segment.start is None else segment.start
        keys.append(latest)
    return sorted(range(len(keys)), key=keys.__getitem__)


def stamp_ms(stamp_s: float | None) -> int | None:
    """Return a stamp in whole milliseconds, so that 0.55 s less 0.50 s is 50 and not more."""
    return None if stamp_s is None else to_ms(stamp_s)
