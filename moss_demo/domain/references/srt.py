"""SubRip subtitles. Their speaker, if any, is the beginning of the text."""

import re
from dataclasses import dataclass, field

from moss_demo.domain.references.labels import split_labels
from moss_demo.domain.references.turns import clock_s, reading_error, turn
from moss_demo.domain.transcript import Transcript

_TIME = r"(?:\d+:)?\d{1,2}:\d{1,2}[.,]\d{1,3}"
_TIMING = re.compile(rf"\s*({_TIME})\s*-->\s*({_TIME})(?:\s.*)?")
_BROKEN_TIMING = re.compile(r"\s*\d.*-->")
_MARKUP = re.compile(r"</?(?:i|b|u|s|font)(?:\s[^<>]*)?>|\{\\[^{}]*\}", re.IGNORECASE)
_SHIELD = re.compile("(?<=[<{])\u2060")


def is_srt(text: str) -> bool:
    """Say whether one of the first lines is a timing line with a decimal comma or point."""
    return any(_TIMING.fullmatch(line) for line in text.lstrip().splitlines()[:3])


def read_srt(text: str) -> Transcript:
    """Read cues by their timing lines; numbers, blank lines and style tags carry nothing.

    Raises:
        TranscriptError: a timing line cannot be read, or there is none.
    """
    cues: list[_Cue] = []
    for line, written in enumerate(text.split("\n"), 1):
        match = _TIMING.fullmatch(written)
        if match is not None:
            _drop_number(cues)
            cues.append(_Cue(line, clock_s(match[1], line), clock_s(match[2], line)))
        elif _BROKEN_TIMING.match(written):
            raise reading_error("a timing is HH:MM:SS,mmm --> HH:MM:SS,mmm.", line)
        elif cues:
            cues[-1].lines.append(written)
    if not cues and text.strip():
        raise reading_error("The subtitles hold no timing such as 00:00:01,000 --> 00:00:02,000.")
    labelled = split_labels([cue.words for cue in cues])
    return Transcript(
        tuple(
            turn(cue.start, cue.end, speaker, words, f"Line {cue.line}")
            for cue, (speaker, words) in zip(cues, labelled, strict=True)
        )
    )


@dataclass(slots=True)
class _Cue:
    """A cue that is being read."""

    line: int
    start: float
    end: float
    lines: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        """The text without tags, blank lines and the joiner that keeps a bracket from being one."""
        text = _SHIELD.sub("", _MARKUP.sub("", "\n".join(self.lines)))
        return "\n".join(line for line in text.split("\n") if line.strip())


def _drop_number(cues: list[_Cue]) -> None:
    """Take the number of the next cue off the end of the last one's text."""
    lines = cues[-1].lines if cues else []
    if not lines or not lines[-1].strip().isdecimal():
        return
    after_blank = len(lines) == 1 or not lines[-2].strip()
    if after_blank or lines[-1].strip() == str(len(cues) + 1):
        del lines[-1]
