"""Segments, transcripts and what can be counted on them. Knows nothing of markup or files."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class SegmentFlag(StrEnum):
    """What is irregular about a segment; all but `EDITED` are what the parser could not read."""

    PREAMBLE = "preamble"  # stands before the first header, so nothing is known of it
    END_BEFORE_START = "end_before_start"  # the end was moved to the start
    NEGATIVE_START = "negative_start"  # the start was moved to 0
    LABEL_REPLACED = "label_replaced"  # an earlier label had no words before this one came
    OPEN_END = "open_end"  # no end was written
    EDITED = "edited"  # a person changed it


@dataclass(frozen=True, slots=True)
class Segment:
    """One turn of one speaker.

    Attributes:
        start: seconds from the beginning of the recording, or None when not stated.
        end: seconds, never before `start`, or None when not stated.
        speaker: label such as `S01`, or None when the model wrote none.
        text: the spoken words, stripped of surrounding blanks.
        flags: what is irregular about this segment.
    """

    start: float | None
    end: float | None
    speaker: str | None
    text: str
    flags: tuple[SegmentFlag, ...] = ()

    @property
    def duration_s(self) -> float | None:
        """Length in seconds, or None when a boundary is unknown."""
        if self.start is None or self.end is None:
            return None
        return self.end - self.start

    def marked(self) -> str:
        """Write the segment in the model's own form, `[start][Sxx]text[end]`.

        What is unknown is left out; blanks inside the text, line breaks included, become one.
        """
        start = "" if self.start is None else f"[{self.start:.2f}]"
        end = "" if self.end is None else f"[{self.end:.2f}]"
        speaker = "" if self.speaker is None else f"[{self.speaker}]"
        return f"{start}{speaker}{' '.join(self.text.split())}{end}"


@dataclass(frozen=True, slots=True)
class Transcript:
    """What was said, by whom and when, in the order in which the model wrote it.

    Attributes:
        segments: in emission order; neither sorted nor merged.
        raw: the model's text as generated.
        complete: the text ends after an end stamp with nothing pending.
    """

    segments: tuple[Segment, ...] = ()
    raw: str = ""
    complete: bool = True

    @property
    def speakers(self) -> tuple[str | None, ...]:
        """Labels in order of first appearance; None stands for unlabelled speech."""
        return tuple(dict.fromkeys(segment.speaker for segment in self.segments))

    @property
    def text(self) -> str:
        """All spoken words in emission order, one segment a line."""
        return "\n".join(segment.text for segment in self.segments)

    def renamed(self, names: Mapping[str, str]) -> "Transcript":
        """Return the transcript with speakers renamed; labels not in `names` stay.

        Args:
            names: new name by label; blank names are ignored.
        """
        given = {label: name.strip() for label, name in names.items() if name.strip()}
        segments = tuple(
            replace(segment, speaker=given.get(segment.speaker, segment.speaker))
            if segment.speaker is not None
            else segment
            for segment in self.segments
        )
        return replace(self, segments=segments)

    def talk_time_s(self) -> dict[str | None, float]:
        """Seconds of speech by speaker, in order of first appearance.

        A speaker's overlapping segments count once; segments without both times count nothing.
        """
        return {speaker: _union_s(self._spans(speaker)) for speaker in self.speakers}

    def _spans(self, speaker: str | None) -> list[tuple[float, float]]:
        return [
            (segment.start, segment.end)
            for segment in self.segments
            if segment.speaker == speaker and segment.start is not None and segment.end is not None
        ]


def _union_s(spans: list[tuple[float, float]]) -> float:
    """Return the length of the union of intervals in seconds."""
    total = reached = 0.0
    for start, end in sorted(spans):
        total += max(0.0, end - max(start, reached))
        reached = max(reached, end)
    return total
