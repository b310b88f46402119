"""Diarization error rate and Jaccard error rate over whole milliseconds.

Who spoke when, never what was said. A speaker's overlapping segments are merged first, overlap of
several speakers is scored, and the scored region is the union of both extents less the collar.
Segments without both times or without length cannot be scored and are left out.
"""

import math
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import numpy as np
from numpy.typing import NDArray

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.assignment import assign
from moss_demo.scoring.speaker_errors import Speaker, SpeakerPairs
from moss_demo.scoring.streams import stamp_ms

Span = tuple[int, int]
"""Start and end in milliseconds."""


@dataclass(frozen=True, slots=True)
class DiarizationErrors:
    """Scored time by kind of error; values of several clips add up.

    Attributes:
        missed_ms: reference speech that nobody was given, by speaker.
        false_alarm_ms: speech given to somebody where nobody more spoke.
        confusion_ms: speech given to the wrong speaker.
        reference_ms: reference speech, by speaker.
        jaccard_sum: Jaccard errors of the reference speakers, summed.
        reference_speakers: reference speakers with scored speech.
    """

    missed_ms: int = 0
    false_alarm_ms: int = 0
    confusion_ms: int = 0
    reference_ms: int = 0
    jaccard_sum: float = 0.0
    reference_speakers: int = 0

    @property
    def der(self) -> float | None:
        """Diarization error rate: all wrong time by reference speech, None for no reference."""
        wrong_ms = self.missed_ms + self.false_alarm_ms + self.confusion_ms
        return wrong_ms / self.reference_ms if self.reference_ms else None

    @property
    def jer(self) -> float | None:
        """Jaccard error rate: mean over reference speakers, None for no reference."""
        return self.jaccard_sum / self.reference_speakers if self.reference_speakers else None

    def __add__(self, other: "DiarizationErrors") -> "DiarizationErrors":
        """Pool the scored time of two clips."""
        return DiarizationErrors(
            self.missed_ms + other.missed_ms,
            self.false_alarm_ms + other.false_alarm_ms,
            self.confusion_ms + other.confusion_ms,
            self.reference_ms + other.reference_ms,
            self.jaccard_sum + other.jaccard_sum,
            self.reference_speakers + other.reference_speakers,
        )


@dataclass(frozen=True, slots=True)
class Diarization:
    """Errors of one clip and the speakers that answer each other."""

    errors: DiarizationErrors
    assignment: SpeakerPairs


def diarization_errors(
    reference: Transcript, hypothesis: Transcript, *, collar_ms: int = 0
) -> Diarization:
    """Score who spoke when, under the assignment of speakers with the longest common speech.

    The same assignment serves the Jaccard errors (DIHARD II, Ryant et al. 2019), whose own tools
    differ on this; it shows only where two assignments are nearly equal.

    Args:
        reference: the truth.
        hypothesis: what is judged.
        collar_ms: half width of the unscored time around each reference boundary: 250 is the
            "±250 ms" of NIST's tool and twice as wide where a tool names the whole width.
    """
    truth, guess = speech_by_speaker(reference), speech_by_speaker(hypothesis)
    if collar_ms:
        zones = _merge(
            (boundary - collar_ms, boundary + collar_ms)
            for spans in truth.values()
            for span in spans
            for boundary in span
        )
        truth, guess = _outside(truth, zones), _outside(guess, zones)
    names, others = list(truth), list(guess)
    common = _common_ms(list(truth.values()), list(guess.values()))
    pairs = assign(common, names, others)
    missed_ms, false_alarm_ms, both_ms = _activity(truth.values(), guess.values())
    errors = DiarizationErrors(
        missed_ms=missed_ms,
        false_alarm_ms=false_alarm_ms,
        confusion_ms=both_ms - sum(int(common[pair]) for pair in pairs),
        reference_ms=sum(_total(spans) for spans in truth.values()),
        jaccard_sum=_jaccard_sum(list(truth.values()), list(guess.values()), common, pairs),
        reference_speakers=len(names),
    )
    return Diarization(errors, tuple((names[row], others[column]) for row, column in pairs))


def speech_by_speaker(transcript: Transcript) -> dict[Speaker, list[Span]]:
    """Return each speaker's speech as merged spans in milliseconds, ascending."""
    spans: dict[Speaker, list[Span]] = {}
    for segment in transcript.segments:
        start, end = stamp_ms(segment.start), stamp_ms(segment.end)
        if start is not None and end is not None and start < end:
            spans.setdefault(segment.speaker, []).append((start, end))
    return {speaker: _merge(mine) for speaker, mine in spans.items()}


def _merge(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def _outside(
    speech: Mapping[Speaker, Sequence[Span]], zones: Sequence[Span]
) -> dict[Speaker, list[Span]]:
    """Cut the zones out of every speaker's spans; speakers of whom nothing is left go."""
    free = list(pairwise([-math.inf, *(edge for zone in zones for edge in zone), math.inf]))[::2]
    ends = [end for _, end in free]
    cut = {
        speaker: [piece for span in spans for piece in _pieces(span, free, ends)]
        for speaker, spans in speech.items()
    }
    return {speaker: spans for speaker, spans in cut.items() if spans}


def _pieces(
    span: Span, free: Sequence[tuple[float, float]], ends: Sequence[float]
) -> Iterable[Span]:
    """Yield what of the span lies in the free stretches, which are ascending and disjoint."""
    for start, end in islice(free, bisect_right(ends, span[0]), None):
        if start >= span[1]:
            return
        yield int(max(start, span[0])), int(min(end, span[1]))


def _total(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in spans)


def _common_ms(
    rows: Sequence[Sequence[Span]], columns: Sequence[Sequence[Span]]
) -> NDArray[np.int64]:
    """Return the common speech of every pair of speakers, shape (rows, columns).

    A row's speech up to any moment is a piecewise linear function of slope 0 or 1, so that its part
    within a column's span is a difference of two look-ups, exact for whole milliseconds.
    """
    common = np.zeros((len(rows), len(columns)), dtype=np.int64)
    if not rows or not columns:
        return common
    edges = np.array([span for spans in columns for span in spans], dtype=np.float64)
    owners = np.repeat(np.arange(len(columns)), [len(spans) for spans in columns])
    for row, spans in enumerate(rows):
        times = np.array(spans, dtype=np.float64).ravel()
        spoken = np.concatenate(
            ([0.0], np.cumsum(np.diff(times) * (np.arange(times.size - 1) % 2 == 0)))
        )
        within = np.diff(np.interp(edges, times, spoken), axis=1)[:, 0]
        common[row] = np.rint(np.bincount(owners, weights=within, minlength=len(columns)))
    return common


def _activity(
    rows: Iterable[Sequence[Span]], columns: Iterable[Sequence[Span]]
) -> tuple[int, int, int]:
    """Return speaker milliseconds that only the rows have, only the columns have, and both have."""
    events = [
        event
        for side, speakers in enumerate((rows, columns))
        for spans in speakers
        for start, end in spans
        for event in ((start, side, 1), (end, side, -1))
    ]
    active = [0, 0]
    missed = false_alarm = both = 0
    for (now, side, step), (later, _, _) in pairwise([*sorted(events), (0, 0, 0)]):
        active[side] += step
        if any(active):
            missed += max(0, active[0] - active[1]) * (later - now)
            false_alarm += max(0, active[1] - active[0]) * (later - now)
            both += min(active) * (later - now)
    return missed, false_alarm, both


def _jaccard_sum(
    rows: Sequence[Sequence[Span]],
    columns: Sequence[Sequence[Span]],
    common: NDArray[np.int64],
    pairs: Sequence[tuple[int, int]],
) -> float:
    """Sum 1 - |row and column| / |row or column| over the rows; 1 where nobody answers."""
    shares = (
        common[row, column] / (_total(rows[row]) + _total(columns[column]) - common[row, column])
        for row, column in pairs
    )
    return len(rows) - float(sum(shares))
