"""Tells the model's markers from spoken text: stamps, labels and spans in square brackets.

Decides by the bracket alone; what a stamp means (an end, a start or a spoken number) depends on
what follows and is left to the parser. Works on a stream, in linear time.
"""

import re
from dataclasses import dataclass
from typing import TypeAlias

_CLOCK = r"(?:[0-9]{1,3}:)?[0-9]{1,3}:[0-5][0-9](?:[.,][0-9]+)?"
_NUMBER = r"-?[0-9]{1,7}(?:\.[0-9]*)?|\.[0-9]+"
_TIME = rf"({_CLOCK}|{_NUMBER})"
_STAMP = re.compile(rf"\[\s*{_TIME}\s*\]")
_SPAN = re.compile(rf"\[\s*{_TIME}\s*-\s*{_TIME}\s*\]")
LABEL_PATTERN = re.compile(r"\[\s*[Ss]([0-9]{1,4})\s*\]")
"""A speaker label in brackets; its one group holds the digits."""

_NOT_IN_MARKER = re.compile(r"[^0-9Ss.,:\-\s]")
_COMPLETIONS = ("]", "0]", "00]", ":00]")


@dataclass(frozen=True, slots=True)
class Stamp:
    """A time in brackets.

    Attributes:
        value: seconds; may be negative.
        whole: written without a fraction, as spoken numbers are.
        clock: written with colons.
        raw: the bracket as written.
    """

    value: float
    whole: bool
    clock: bool
    raw: str

    @property
    def precise(self) -> bool:
        """Whether it is written as only stamps are: with a fraction or as a clock."""
        return self.clock or not self.whole


@dataclass(frozen=True, slots=True)
class SpanMark:
    """Start and end in one bracket, `[start-end]`; a marker only right before a label."""

    start: Stamp
    end: Stamp
    raw: str


@dataclass(frozen=True, slots=True)
class Label:
    """A speaker label, `name` in canonical form such as `S01`."""

    name: str
    raw: str


Token: TypeAlias = str | Stamp | SpanMark | Label
"""A marker or a piece of text; pieces carry no meaning in where they are split."""


def canonical_label(digits: str) -> str:
    """Return the label for its digits: at least two, so that S1, S01 and S001 are one speaker."""
    return f"S{int(digits):02d}"


def looks_like_marker(fragment: str) -> bool:
    """Tell whether an unclosed bracket at the end of a text could have become a marker."""
    return any(_marker(fragment + rest) is not None for rest in _COMPLETIONS)


class MarkerLexer:
    """Splits a stream of text into tokens."""

    def __init__(self) -> None:
        """Wait for the first piece."""
        self._bracket: list[str] = []

    def feed(self, text: str) -> list[Token]:
        """Return the tokens that are certain; an open bracket that may be a marker is held."""
        tokens: list[Token] = []
        at = 0
        while at < len(text):
            if not self._bracket:
                opening = text.find("[", at)
                plain_end = len(text) if opening < 0 else opening
                if plain_end > at:
                    tokens.append(text[at:plain_end])
                if opening < 0:
                    break
                self._bracket.append("[")
                at = opening + 1
            stop = _NOT_IN_MARKER.search(text, at)
            if stop is None:
                self._bracket.append(text[at:])
                break
            closed = stop.group() == "]"
            end = stop.end() if closed else stop.start()
            bracket = "".join(self._bracket) + text[at:end]
            self._bracket.clear()
            tokens.append((_marker(bracket) if closed else None) or bracket)
            at = end
        return tokens

    def close(self) -> str:
        """Return the open bracket at the end of the text, or an empty string."""
        held = "".join(self._bracket)
        self._bracket.clear()
        return held


def _marker(bracket: str) -> Token | None:
    """Read a whole bracket, or return None when it is text."""
    if found := _STAMP.fullmatch(bracket):
        return _stamp(found.group(1), bracket)
    if found := LABEL_PATTERN.fullmatch(bracket):
        return Label(canonical_label(found.group(1)), bracket)
    if found := _SPAN.fullmatch(bracket):
        return SpanMark(_stamp(found.group(1), ""), _stamp(found.group(2), ""), bracket)
    return None


def _stamp(text: str, raw: str) -> Stamp:
    """Read a number of seconds, or a clock time with a point or a comma before the fraction."""
    *larger, seconds = text.replace(",", ".").split(":")
    value = float(seconds)
    for factor, part in zip((60, 3600), reversed(larger), strict=False):
        value += factor * int(part)
    return Stamp(value, whole="." not in seconds, clock=bool(larger), raw=raw)
