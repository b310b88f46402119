"""What all readers share: a checked segment, clock times, and errors that name their line."""

import re
from collections.abc import Iterable
from math import isfinite

from moss_demo.domain.exports.cleaning import UNKNOWN_SPEAKER
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.errors import TranscriptError

MAX_STAMP_S = 10_000_000.0
"""Larger numbers are no time within a recording."""

_CLOCK = re.compile(r"(?:(\d{1,6}):)?(\d{1,4}):(\d{1,2})(?:[.,](\d+))?")


def reading_error(what: str, line: int | None = None) -> TranscriptError:
    """Build the error for text that is not of its format.

    Args:
        what: the cause and the remedy, a sentence without the place.
        line: line number from 1, or None where the whole text is meant.
    """
    return TranscriptError(what if line is None else f"Line {line}: {what}")


def turn(
    start: float | None, end: float | None, speaker: str | None, text: str, place: str
) -> Segment:
    """Build a segment; an end before its start is moved there and flagged, as the parser does.

    Args:
        start: seconds, or None when not stated.
        end: seconds, or None when not stated.
        speaker: label; blank and `unknown`, which formats that need a label hold, stand for none.
        text: words; surrounding blanks go.
        place: what an error calls the place, such as `Line 3`.

    Raises:
        TranscriptError: a stamp is no time within a recording.
    """
    _check_stamps((start, end), place)
    flags = []
    if start is not None and start < 0:
        start = 0.0
        flags.append(SegmentFlag.NEGATIVE_START)
    if end is not None and end < (start or 0.0):
        end = start or 0.0
        flags.append(SegmentFlag.END_BEFORE_START)
    label = speaker.strip() if speaker else ""
    unlabelled = label in ("", UNKNOWN_SPEAKER)
    return Segment(start, end, None if unlabelled else label, text.strip(), tuple(flags))


def in_time(transcript: Transcript) -> Transcript:
    """Return a transcript whose stamps are times within a recording.

    Raises:
        TranscriptError: one is not.
    """
    for index, segment in enumerate(transcript.segments, 1):
        _check_stamps((segment.start, segment.end), f"Segment {index}")
    return transcript


def number(text: str, line: int, what: str) -> float:
    """Read a decimal number.

    Args:
        text: the field as written.
        line: line number for the error.
        what: what the field holds, for the error.

    Raises:
        TranscriptError: the field holds no number.
    """
    try:
        return float(text)
    except ValueError as error:
        raise reading_error(f"the {what} is {text!r}, not a number of seconds.", line) from error


def clock_s(text: str, line: int) -> float:
    """Read `H:MM:SS.fff` or `MM:SS,fff` into seconds.

    Raises:
        TranscriptError: the text is no clock time.
    """
    match = _CLOCK.fullmatch(text.strip())
    if match is None:
        raise reading_error(f"{text.strip()!r} is no time of the form H:MM:SS.mmm.", line)
    hours, minutes, seconds, fraction = match.groups()
    whole_s = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return float(f"{whole_s}.{fraction or 0}")


def one_recording(names: Iterable[str], what: str) -> None:
    """Refuse a file about several recordings, whose times have nothing to do with each other.

    Raises:
        TranscriptError: there is more than one name.
    """
    found = sorted(set(names))
    if len(found) > 1:
        shown = ", ".join(found[:3]) + (", …" if len(found) > 3 else "")
        raise TranscriptError(
            f"The {what} file describes {len(found)} recordings ({shown}); "
            "keep the lines of one of them."
        )


def by_start(segments: Iterable[Segment]) -> Transcript:
    """Return segments in time order, for formats whose own order says nothing."""
    return Transcript(tuple(sorted(segments, key=lambda segment: segment.start or 0.0)))


def _check_stamps(stamps: Iterable[float | None], place: str) -> None:
    for stamp in stamps:
        if stamp is not None and not (isfinite(stamp) and abs(stamp) <= MAX_STAMP_S):
            raise TranscriptError(f"{place}: {stamp} is no time in seconds; correct the stamp.")
