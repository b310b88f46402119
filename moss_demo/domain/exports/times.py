"""Turns segments into turns with whole milliseconds on both sides, which every format needs.

Times that the model did not write are filled in from the neighbours, and stamps beyond the audio
end with it; turns that this touched say so. Knows nothing of any format.
"""

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from itertools import pairwise

from moss_demo.domain.exports.cleaning import clean_line
from moss_demo.domain.transcript import SegmentFlag, Transcript

_MIN_CUE_MS = 500


@dataclass(frozen=True, slots=True)
class Turn:
    """A segment that can be written anywhere.

    Attributes:
        start_ms: milliseconds from the beginning of the recording.
        end_ms: milliseconds, never before `start_ms`.
        speaker: name to be written, or None for unlabelled speech.
        text: the spoken words as in the segment.
        flags: those of the segment.
        filled: the start or the end was not written by the model.
        clamped: a stamp lay beyond the audio.
    """

    start_ms: int
    end_ms: int
    speaker: str | None
    text: str
    flags: tuple[SegmentFlag, ...] = ()
    filled: bool = False
    clamped: bool = False

    @property
    def line(self) -> str:
        """The words on one line, without control characters."""
        return clean_line(self.text)

    @property
    def name(self) -> str:
        """The speaker on one line, or an empty string."""
        return "" if self.speaker is None else clean_line(self.speaker)

    @property
    def caption(self) -> str:
        """The words on one line with the speaker, where known, in front."""
        return self.line if self.speaker is None else f"{self.name}: {self.line}"


def to_ms(seconds: float) -> int:
    """Return milliseconds, rounded half up as written in decimal and never negative."""
    ms = (Decimal(str(seconds)) * 1000).quantize(Decimal(1), rounding=ROUND_HALF_UP)
    return max(0, int(ms))


def clock(ms: int, point: str = ".") -> str:
    """Return `HH:MM:SS.mmm`; hours grow beyond two digits."""
    seconds, ms = divmod(ms, 1000)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02d}:{minutes:02d}:{seconds:02d}{point}{ms:03d}"


def seconds_text(ms: int) -> str:
    """Return seconds with three decimals, exact."""
    return f"{ms // 1000}.{ms % 1000:03d}"


def length_ms(transcript: Transcript, duration_s: float) -> int:
    """Return the length of the recording, or the last stamp when a duration of 0 says unknown."""
    if duration_s > 0:
        return to_ms(duration_s)
    stamps = [time for one in transcript.segments for time in (one.start, one.end)]
    return max((to_ms(time) for time in stamps if time is not None), default=0)


def turns_of(transcript: Transcript, limit_ms: int) -> tuple[Turn, ...]:
    """Return a turn for each segment, in emission order.

    An unknown end is the next known start that is not earlier, else the end of the audio; an
    unknown start is the end before it, else 0. Boundaries that are unknown on both sides share
    the time between the known ones by the length of their words.

    Args:
        transcript: speakers already renamed.
        limit_ms: where the recording ends.
    """
    segments = transcript.segments
    starts = [None if one.start is None else to_ms(one.start) for one in segments]
    ends = [None if one.end is None else to_ms(one.end) for one in segments]
    bounds = _filled(
        [None if time is None else min(time, limit_ms) for time in starts],
        [None if time is None else min(time, limit_ms) for time in ends],
        [len(one.text) for one in segments],
        limit_ms,
    )
    return tuple(
        Turn(
            *bound,
            segment.speaker,
            segment.text,
            segment.flags,
            filled=start is None or end is None,
            clamped=max(start or 0, end or 0) > limit_ms,
        )
        for segment, bound, start, end in zip(segments, bounds, starts, ends, strict=True)
    )


def by_start(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns by start; equal starts stay in emission order."""
    return sorted(turns, key=lambda turn: turn.start_ms)


def visible(turns: Sequence[Turn], limit_ms: int) -> list[tuple[int, int, Turn]]:
    """Return start, end and turn of each cue by start; none is empty or without length.

    A cue without length is made half a second long where the next one or the end of the audio
    leaves room, and one millisecond long where nothing does.
    """
    cues: list[tuple[int, int, Turn]] = []
    following = limit_ms
    later: int | None = None
    for turn in reversed(by_start(turns)):
        if later is not None and later > turn.start_ms:
            following = later
        room_ms = max(1, min(_MIN_CUE_MS, following - turn.start_ms))
        end_ms = turn.end_ms if turn.end_ms > turn.start_ms else turn.start_ms + room_ms
        if turn.line:
            cues.append((turn.start_ms, end_ms, turn))
        later = turn.start_ms
    return cues[::-1]


def assign_lanes(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Return the lowest free lane of each half-open span, so that none overlap within a lane.

    Args:
        spans: start and end, sorted by start.
    """
    lanes: list[int] = []
    busy: list[tuple[int, int]] = []  # end and lane
    free: list[int] = []
    for start, end in spans:
        while busy and busy[0][0] <= start:
            heapq.heappush(free, heapq.heappop(busy)[1])
        lane = heapq.heappop(free) if free else len(busy)
        heapq.heappush(busy, (end, lane))
        lanes.append(lane)
    return lanes


def _filled(
    starts: list[int | None], ends: list[int | None], weights: list[int], limit_ms: int
) -> list[tuple[int, int]]:
    bounds: list[tuple[int, int]] = []
    first, previous_end = 0, 0
    while first < len(starts):
        last = first
        while last + 1 < len(starts) and ends[last] is None and starts[last + 1] is None:
            last += 1
        start, end = starts[first], ends[last]
        lower = previous_end if start is None else start
        if end is None:
            following = (time for time in starts[last + 1 :] if time is not None and time >= lower)
            end = next(following, limit_ms)
        elif start is None:
            lower = min(lower, end)
        previous_end = max(lower, end)
        bounds.extend(_shared(lower, previous_end, weights[first : last + 1]))
        first = last + 1
    return bounds


def _shared(start: int, end: int, weights: list[int]) -> list[tuple[int, int]]:
    """Split a span in proportion to the weights, without gaps."""
    total, reached = max(1, sum(weights)), 0
    edges = [start]
    for weight in weights:
        reached += weight
        edges.append(start + (end - start) * reached // total)
    edges[-1] = end
    return list(pairwise(edges))
