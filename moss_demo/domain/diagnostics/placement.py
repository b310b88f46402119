"""Finds stamps that cannot be right: beyond the audio, backwards, or where nobody speaks."""

from bisect import bisect_left
from collections.abc import Iterator

from moss_demo.domain.diagnostics.endings import BEYOND_S
from moss_demo.domain.diagnostics.kinds import Diagnostic, DiagnosticKind
from moss_demo.domain.diagnostics.wording import clock, count, places
from moss_demo.domain.events import Span
from moss_demo.domain.transcript import Segment, SegmentFlag


def misplaced(
    segments: tuple[Segment, ...], duration_s: float | None, speech: tuple[Span, ...] | None
) -> Iterator[Diagnostic]:
    """Find stamps that contradict the recording or each other."""
    if duration_s is not None:
        yield from _beyond_audio(segments, duration_s)
    yield from _backwards(segments)
    if speech is not None:
        yield from _on_silence(segments, speech)


def _beyond_audio(segments: tuple[Segment, ...], duration_s: float) -> Iterator[Diagnostic]:
    latest = [max(segment.start or 0.0, segment.end or 0.0) for segment in segments]
    found = tuple(index for index, time in enumerate(latest) if time > duration_s + BEYOND_S)
    if found:
        yield Diagnostic(
            DiagnosticKind.BEYOND_AUDIO,
            f"{count(found, 'segment has', 'segments have')} a stamp after the end of the audio: "
            f"{clock(max(latest))} where the recording ends at {clock(duration_s)}. The words may "
            "be right, the times are not; exports end them with the recording.",
            found,
        )


def _backwards(segments: tuple[Segment, ...]) -> Iterator[Diagnostic]:
    ended = _flagged(segments, SegmentFlag.END_BEFORE_START)
    if ended:
        yield Diagnostic(
            DiagnosticKind.END_BEFORE_START,
            f"{count(ended, 'segment was', 'segments were')} written with an end before the start"
            f"{places(segments, ended)}. The end shown is the start; see the raw text for what was "
            "written, and listen there.",
            ended,
        )
    negative = _flagged(segments, SegmentFlag.NEGATIVE_START)
    if negative:
        yield Diagnostic(
            DiagnosticKind.NEGATIVE_START,
            f"{count(negative, 'segment was', 'segments were')} written with a start before the "
            "recording begins. The start shown is 0; see the raw text for what was written.",
            negative,
        )


def _on_silence(segments: tuple[Segment, ...], speech: tuple[Span, ...]) -> Iterator[Diagnostic]:
    spans = sorted(speech)
    ends = [end for _, end in spans]
    found = []
    for index, segment in enumerate(segments):
        if segment.start is None or segment.end is None:
            continue
        after = bisect_left(ends, segment.start)
        if after == len(spans) or spans[after][0] > segment.end:
            found.append(index)
    if found:
        indices = tuple(found)
        yield Diagnostic(
            DiagnosticKind.TEXT_ON_SILENCE,
            f"{count(indices, 'segment lies', 'segments lie')} where no speech was found"
            f"{places(segments, indices)}. The words may be invented or copied from the hotwords: "
            "listen there.",
            indices,
        )


def _flagged(segments: tuple[Segment, ...], flag: SegmentFlag) -> tuple[int, ...]:
    return tuple(index for index, segment in enumerate(segments) if flag in segment.flags)
