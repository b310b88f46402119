"""STM: the segment time marks of NIST's scoring tools."""

import re

from moss_demo.domain.references.turns import number, one_recording, reading_error, turn
from moss_demo.domain.transcript import Transcript

_TIME = r"\d+\.\d*"
_LINE = re.compile(rf"\S+\s+(?:\d+|[A-Za-z])\s+\S+\s+{_TIME}\s+{_TIME}(?:\s.*)?")
_ALTERNATIVES = re.compile(r"\{([^{}/]*)/[^{}]*\}")
_OPTIONAL = re.compile(r"\(([^()\s]*)\)")
_UNSCORED = frozenset(["ignore_time_segment_in_scoring", "inter_segment_gap"])


def is_stm(text: str) -> bool:
    """Say whether every line that is no comment names a channel and two times in their columns.

    Whole numbers are no sign of it: people say them. A file called `.stm` may have them.
    """
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith(";;")]
    return bool(lines) and all(_LINE.fullmatch(line.strip()) for line in lines)


def read_stm(text: str) -> Transcript:
    """Read one segment a line: file, channel, speaker, begin, end, optional label, words.

    Of alternatives the first is taken, words that may be left out are kept, and stretches that are
    excluded from scoring are skipped.

    Raises:
        TranscriptError: a line lacks columns or holds no numbers, or several recordings are mixed.
    """
    names, segments = [], []
    for line, written in enumerate(text.split("\n"), 1):
        if not written.strip() or written.lstrip().startswith(";;"):
            continue
        fields = written.split(None, 5)
        if len(fields) < 5:
            raise reading_error(
                f"an STM line has five columns before its words, this one {len(fields)}.", line
            )
        start, end = number(fields[3], line, "begin"), number(fields[4], line, "end")
        words = fields[5] if len(fields) > 5 else ""
        names.append(fields[0])
        if words.strip().lower() in _UNSCORED or fields[2].lower() == "inter_segment_gap":
            continue
        segments.append(turn(start, end, fields[2], _spoken(words), f"Line {line}"))
    one_recording(names, "STM")
    return Transcript(tuple(segments))


def _spoken(words: str) -> str:
    """Return the words without label, alternatives and parentheses; `@` stands for no word."""
    if words.startswith("<"):
        words = words.partition(">")[2]
    chosen = _OPTIONAL.sub(r"\1", _ALTERNATIVES.sub(r"\1", words))
    return " ".join(word for word in chosen.split() if word != "@")
