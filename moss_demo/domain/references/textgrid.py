"""TextGrid: Praat's tiers, one speaker a tier, in its long and its short text form."""

import re
from collections.abc import Iterator
from math import isfinite

from moss_demo.domain.references.turns import by_start, reading_error, turn
from moss_demo.domain.transcript import Transcript

_VALUE = re.compile(
    r'"(?:[^"]|"")*"|<\w+>|(?<!\S)[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?(?!\S)|(?<!\S)!.*'
)
_SECOND_TIER = re.compile(r"(.+) \(\d+\)")


def is_textgrid(text: str) -> bool:
    """Say whether the header is Praat's."""
    head = text[:200]
    return "ooTextFile" in head and "TextGrid" in head


def read_textgrid(text: str) -> Transcript:
    """Read every interval with words; the tier's name is the speaker.

    Praat reads free-standing numbers, quoted strings and flags and takes everything else for
    comment; so does this. A tier named `X (2)` beside a tier `X` is the same speaker overlapping
    themselves. Point tiers hold no turns.

    Raises:
        TranscriptError: the tiers end too soon or hold something else than they announce.
    """
    values = _Values(text)
    for expected in ("ooTextFile", "TextGrid"):
        if values.string() != expected:
            raise reading_error("the header is not that of a TextGrid.", values.line)
    values.number()
    values.number()
    if values.flag() != "<exists>":
        return Transcript()
    tiers = [_read_tier(values) for _ in range(int(values.number()))]
    names = {name for name, _ in tiers}
    return by_start(
        turn(start, end, _speaker(name, names), words, f"Line {line}")
        for name, intervals in tiers
        for start, end, words, line in intervals
        if words.strip()
    )


def _read_tier(values: "_Values") -> tuple[str, list[tuple[float, float, str, int]]]:
    kind, name = values.string(), values.string()
    values.number()
    values.number()
    count = int(values.number())
    if kind == "IntervalTier":
        intervals = [
            (values.number(), values.number(), values.string(), values.line) for _ in range(count)
        ]
        return name, intervals
    if kind != "TextTier":
        raise reading_error(f"{kind!r} is no kind of tier.", values.line)
    for _ in range(count):
        values.number()
        values.string()
    return name, []


def _speaker(name: str, names: set[str]) -> str:
    match = _SECOND_TIER.fullmatch(name)
    return match[1] if match and match[1] in names else name


class _Values:
    """The free-standing values of a TextGrid, one after the other."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._matches: Iterator[re.Match[str]] = (
            match for match in _VALUE.finditer(text) if not match[0].startswith("!")
        )
        self._seen_until = 0
        self.line = 1

    def string(self) -> str:
        value = self._next("a quoted text")
        if not value.startswith('"'):
            raise reading_error(f"a quoted text is due, not {value}.", self.line)
        return value[1:-1].replace('""', '"')

    def number(self) -> float:
        value = self._next("a number")
        if value[0] in '"<':
            raise reading_error(f"a number is due, not {value}.", self.line)
        if not isfinite(float(value)):
            raise reading_error(f"{value} is no number of seconds.", self.line)
        return float(value)

    def flag(self) -> str:
        return self._next("a flag")

    def _next(self, what: str) -> str:
        match = next(self._matches, None)
        if match is None:
            raise reading_error(f"the TextGrid ends where {what} is due.", self.line)
        self.line += self._text.count("\n", self._seen_until, match.end())
        self._seen_until = match.end()
        return match[0]
