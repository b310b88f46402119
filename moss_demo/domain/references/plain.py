"""Text with a time span and a speaker in front of each line, `[0:01.5 - 0:02.0] S01: words`."""

import re

from moss_demo.domain.references.labels import split_labels
from moss_demo.domain.references.turns import clock_s, turn
from moss_demo.domain.transcript import Transcript

_CLOCK = r"\d+:\d{1,2}(?::\d{1,2})?(?:[.,]\d+)?|\?"
_LINE = re.compile(rf"\[({_CLOCK}) - ({_CLOCK})\] ?(.*)")


def is_plain(text: str) -> bool:
    """Say whether a line has such a span; the model writes its spans otherwise."""
    return any(_LINE.fullmatch(line) for line in text.split("\n"))


def read_plain(text: str) -> Transcript:
    """Read one segment a line; `?` and a line without a span leave times unknown.

    Raises:
        TranscriptError: a time cannot be read.
    """
    lines = [(n, written) for n, written in enumerate(text.split("\n"), 1) if written.strip()]
    matches = [_LINE.fullmatch(written) for _, written in lines]
    words = [m[3] if m else written for m, (_, written) in zip(matches, lines, strict=True)]
    segments = []
    for (line, _), match, (speaker, text_) in zip(lines, matches, split_labels(words), strict=True):
        start, end = (
            None if match is None or match[group] == "?" else clock_s(match[group], line)
            for group in (1, 2)
        )
        segments.append(turn(start, end, speaker, text_, f"Line {line}"))
    return Transcript(tuple(segments))
