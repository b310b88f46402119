"""What a person may change in a transcript: each change returns another transcript.

The model's text stays as it was generated, and what was changed carries a flag. Knows nothing of
how a change is asked for.
"""

import re
from dataclasses import dataclass, replace
from itertools import count

from moss_demo.domain.diagnostics.endings import BEYOND_S
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.errors import EditError

MAX_STEPS = 200
"""Changes that can be taken back; a step costs one reference a segment."""

MAX_CHARACTERS = 10_000
"""Longest text of one segment."""

_CLOCK = re.compile(r"(?:(?:(\d+):)?(\d{1,4}):)?(\d{1,7}(?:\.\d{1,6})?)", re.ASCII)
_CJK = re.compile(r"[\u3000-\u30ff\u3400-\u9fff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Revisions:
    """A transcript under revision.

    Attributes:
        present: as it stands now.
        past: what it was before, the oldest first.
        future: what was taken back, the next one to redo last.
        number: counts every change, those taken back and redone included.
    """

    present: Transcript
    past: tuple[Transcript, ...] = ()
    future: tuple[Transcript, ...] = ()
    number: int = 0

    def revised(self, transcript: Transcript) -> "Revisions":
        """Return the revisions with one more; an equal transcript is none."""
        if transcript == self.present:
            return self
        past = (*self.past, self.present)[-MAX_STEPS:]
        return Revisions(transcript, past, (), self.number + 1)

    def undone(self) -> "Revisions":
        """Return the revisions with the last change taken back, if there is one."""
        if not self.past:
            return self
        *past, before = self.past
        return Revisions(before, tuple(past), (*self.future, self.present), self.number + 1)

    def redone(self) -> "Revisions":
        """Return the revisions with the change taken back last made again, if there is one."""
        if not self.future:
            return self
        *future, after = self.future
        return Revisions(after, (*self.past, self.present), tuple(future), self.number + 1)


def segment_at(transcript: Transcript, index: int) -> Segment:
    """Return one segment.

    Raises:
        EditError: there is no such segment.
    """
    if not 0 <= index < len(transcript.segments):
        raise EditError("This segment is not there any more; open another one.")
    return transcript.segments[index]


def changed(transcript: Transcript, index: int, wanted: Segment, duration_s: float) -> Transcript:
    """Return the transcript with one segment as a person wants it.

    Args:
        transcript: where the segment stands.
        index: which one.
        wanted: its new times, speaker and text.
        duration_s: length of the recording, or 0 when unknown.

    Raises:
        EditError: there is no such segment, no text, or the times are impossible.
    """
    before = segment_at(transcript, index)
    text = wanted.text.strip()
    if not text:
        raise EditError("A segment needs words; write some, or delete the segment.")
    if len(text) > MAX_CHARACTERS:
        raise EditError(
            f"The text has {len(text):,} characters; a segment holds {MAX_CHARACTERS:,}."
        )
    _check_times(wanted.start, wanted.end, duration_s)
    if (wanted.start, wanted.end, wanted.speaker, text) == (
        before.start, before.end, before.speaker, before.text,
    ):  # fmt: skip
        return transcript
    after = Segment(wanted.start, wanted.end, wanted.speaker, text, (SegmentFlag.EDITED,))
    return _replaced(transcript, index, index + 1, after)


def removed(transcript: Transcript, index: int) -> Transcript:
    """Return the transcript without a segment.

    Raises:
        EditError: there is no such segment.
    """
    segment_at(transcript, index)
    return _replaced(transcript, index, index + 1)


def merged(transcript: Transcript, index: int) -> Transcript:
    """Return the transcript with a segment and the one after it as one, under the first's label.

    Raises:
        EditError: there is no segment after it.
    """
    first = segment_at(transcript, index)
    if index + 1 >= len(transcript.segments):
        raise EditError("There is no segment after this one to merge with.")
    second = transcript.segments[index + 1]
    starts, ends = (
        [time for time in times if time is not None]
        for times in ((first.start, second.start), (first.end, second.end))
    )
    glue = "" if _CJK.match(first.text[-1:]) and _CJK.match(second.text[:1]) else " "
    one = Segment(
        min(starts, default=None),
        max([*ends, *starts]) if ends else None,
        first.speaker,
        first.text + glue + second.text,
        (SegmentFlag.EDITED,),
    )
    return _replaced(transcript, index, index + 2, one)


def split(transcript: Transcript, index: int, at: int) -> Transcript:
    """Return the transcript with a segment cut in two within its text.

    The time of the cut is where it would be if every character took as long as the next.

    Args:
        transcript: where the segment stands.
        index: which one.
        at: characters of its text that stay in the first half.

    Raises:
        EditError: there is no such segment, or no words on one side of the cut.
    """
    whole = segment_at(transcript, index)
    head, tail = whole.text[:at].strip(), whole.text[at:].strip()
    if not head or not tail:
        raise EditError("Put the cursor between two words, where the segment is to be split.")
    cut = None
    if whole.start is not None and whole.end is not None:
        share = len(head) / (len(head) + len(tail))
        cut = round(whole.start + share * (whole.end - whole.start), 2)
        cut = min(max(cut, whole.start), whole.end)
    flags = (SegmentFlag.EDITED,)
    return _replaced(
        transcript,
        index,
        index + 1,
        Segment(whole.start, cut, whole.speaker, head, flags),
        Segment(cut, whole.end, whole.speaker, tail, flags),
    )


def new_label(transcript: Transcript) -> str:
    """Return the first label of the model's form that nobody has."""
    taken = set(transcript.speakers)
    return next(label for n in count(1) if (label := f"S{n:02}") not in taken)


def read_time(text: str) -> float | None:
    """Read seconds, `m:ss` or `h:mm:ss`, with decimals or without; blank is unknown.

    Raises:
        EditError: the text is no time.
    """
    typed = text.strip()
    if typed in ("", "–"):
        return None
    found = _CLOCK.fullmatch(typed)
    if found is None:
        raise EditError(f"“{typed[:20]}” is no time; write seconds, m:ss or h:mm:ss.")
    hours, minutes, seconds = (float(part or 0) for part in found.groups())
    return round(3600 * hours + 60 * minutes + seconds, 6)


def _check_times(start: float | None, end: float | None, duration_s: float) -> None:
    if start is not None and end is not None and end < start:
        raise EditError(
            f"The end, {end:g} s, lies before the start, {start:g} s; correct one of them."
        )
    latest = max((time for time in (start, end) if time is not None), default=0.0)
    if 0 < duration_s < latest - BEYOND_S:
        raise EditError(
            f"The recording ends at {duration_s:.2f} s, before {latest:g} s; correct the time."
        )


def _replaced(transcript: Transcript, start: int, stop: int, *instead: Segment) -> Transcript:
    segments = transcript.segments
    return replace(transcript, segments=(*segments[:start], *instead, *segments[stop:]))
