"""Reads the model's text, `[start][Sxx]words[end]…`, into segments, as a stream or as a whole.

A run of stamps is read by what follows it: a label makes the last one a start and the one before
it an end; the end of the text makes the last one an end; words make them spoken numbers, except
two precise or equal ones that do not run backwards, which end a segment and start an unlabelled
one. Nothing spoken is lost, nothing is merged, sorted or dropped, and no input raises. Knows
nothing of loops, silence or what is plausible: that is for the diagnostics.
"""

import math
from dataclasses import dataclass, field

from moss_demo.domain.markers import (
    Label,
    MarkerLexer,
    SpanMark,
    Stamp,
    Token,
    looks_like_marker,
)
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.domain.wrapping import Unwrapper


def parse(text: str, duration_s: float | None = None) -> Transcript:
    """Read a whole text of the model.

    Args:
        text: raw text, special tokens included or not.
        duration_s: length of the recording; whole numbers beyond it are then spoken ones.
    """
    parser = TranscriptParser(duration_s)
    segments = parser.feed(text) + parser.close()
    return Transcript(segments, text, parser.complete)


class TranscriptParser:
    """Reads pieces of text or UTF-8 bytes; however they are cut, the segments are the same."""

    def __init__(self, duration_s: float | None = None) -> None:
        """Start before the first character.

        Args:
            duration_s: length of the recording, or None when it is not known.
        """
        self._latest_whole_s = math.inf if duration_s is None else math.ceil(duration_s)
        self._unwrapper = Unwrapper()
        self._lexer = MarkerLexer()
        self._draft: _Draft | None = None
        self._marks: list[_Mark] = []
        self._done: list[Segment] = []
        self._complete = False

    @property
    def open_segment(self) -> Segment | None:
        """The segment being written, its end unknown, or None while it has no words yet.

        Stamps and fragments that are not decided yet are not part of its text.
        """
        draft = self._draft
        return draft.segment(None) if draft is not None and draft.worded else None

    @property
    def complete(self) -> bool:
        """Whether the closed text ended after an end stamp with nothing pending."""
        return self._complete

    def feed(self, chunk: str | bytes) -> tuple[Segment, ...]:
        """Take the next piece and return the segments that later text cannot change any more."""
        for token in self._lexer.feed(self._unwrapper.feed(chunk)):
            self._take(token)
        return self._handed_out()

    def close(self) -> tuple[Segment, ...]:
        """End the text and return the remaining segments."""
        text, cut = self._unwrapper.close()
        for token in self._lexer.feed(text):
            self._take(token)
        fragment = self._lexer.close()
        if fragment and looks_like_marker(fragment):
            cut = True
            if self._marks and fragment[1:].lstrip()[:1] in ("S", "s"):
                self._begin_turn("")  # a turn without words: it bounds and is never seen
        elif fragment:
            self._take(fragment)
        self._complete = self._end_text() and not cut
        return self._handed_out()

    def _handed_out(self) -> tuple[Segment, ...]:
        done, self._done = tuple(self._done), []
        return done

    def _take(self, token: Token) -> None:
        match token:
            case Label():
                self._begin_turn(token.name)
            case Stamp() if token.whole and token.value > self._latest_whole_s:
                self._add_words(token.raw)
            case Stamp():
                self._release_span()
                self._marks.append(_Mark(token, [token.raw]))
            case SpanMark():
                self._release_span()
                self._marks.append(_Mark(token.start, [token.raw], token.end))
            case str() if not token.isspace():
                self._add_words(token)
            case str() if self._marks:
                self._marks[-1].parts.append(token)
            case str() if self._draft is not None:
                self._draft.parts.append(token)

    def _release_span(self) -> None:
        """Turn a span that no label follows back into words."""
        if self._marks and self._marks[-1].span_end is not None:
            span = self._marks.pop()
            self._add_words("".join(span.parts))

    def _begin_turn(self, label: str) -> None:
        """Read the pending marks as those before a label."""
        marks, self._marks = self._marks, []
        draft = self._draft
        if not marks:
            if draft is not None and not draft.worded:
                draft.relabel(label)
            elif draft is None or draft.speaker != label:
                self._finish([])
                self._draft = _Draft(None, label)
            return
        head = marks.pop()
        if head.span_end is not None:
            self._finish(marks)
            self._draft = _Draft(head.stamp, label, end=head.span_end.value)
            return
        shared = not marks or (draft is not None and draft.says(marks[-1].stamp, head.stamp))
        self._finish(marks, shared=head.stamp.value if shared else None)
        self._draft = _Draft(head.stamp, label)

    def _add_words(self, words: str) -> None:
        """Read the pending marks as those before words, then add the words."""
        self._release_span()
        marks, self._marks = self._marks, []
        boundary = _last_boundary(marks, self._draft.floor_s if self._draft else -math.inf)
        if boundary is not None:
            self._finish(marks[: boundary + 1])
            self._draft = _Draft(marks[boundary + 1].stamp)
            marks = marks[boundary + 2 :]
        elif self._draft is None and marks:
            self._draft = _Draft(marks[0].stamp)
            marks = marks[1:]
        draft = self._draft or _Draft(None, preamble=True)
        self._draft = draft
        for mark in marks:
            draft.add(*mark.parts)
        draft.add(words)

    def _end_text(self) -> bool:
        """Read the pending marks as the last ones; return whether an end closes the text."""
        self._release_span()
        marks, self._marks = self._marks, []
        draft = self._draft
        if draft is None:
            return False
        if not marks or draft.end is not None:
            closed = draft.end is not None and draft.worded
            self._finish(marks)
            return closed
        last = marks[-1].stamp
        if len(marks) > 1 and _is_boundary(marks[-2].stamp, last):
            self._finish(marks[:-1])  # the last one starts a turn that never came
            return False
        if not last.precise and last.value < draft.floor_s:
            for mark in marks:
                draft.add(*mark.parts)
            self._finish([])
            return False
        draft.end = last.value
        self._finish(marks[:-1])
        return True

    def _finish(self, marks: "list[_Mark]", shared: float | None = None) -> None:
        """Hand out the draft.

        Args:
            marks: the stamps before the boundary. The last one is the end unless that is known
                already; the others are duplicates of it or spoken numbers.
            shared: the start of the next turn where it ends this one too.
        """
        draft, self._draft = self._draft, None
        if draft is None:
            return
        end = draft.end
        if end is None and not draft.preamble:
            if shared is not None:
                end = shared
            elif marks:
                *marks, last = marks
                end = last.stamp.value
        for mark in marks:
            if mark.stamp.value != end and not (draft.preamble and mark.stamp.precise):
                draft.add(*mark.parts)
        if draft.worded:
            self._done.append(draft.segment(end, closing=True))


@dataclass(slots=True)
class _Mark:
    """A stamp that waits for what follows it, with its bracket and the blanks after it."""

    stamp: Stamp
    parts: list[str]
    span_end: Stamp | None = None


@dataclass(slots=True)
class _Draft:
    """The segment being written."""

    start: Stamp | None
    speaker: str | None = None
    end: float | None = None
    preamble: bool = False
    worded: bool = False
    replaced: bool = False
    parts: list[str] = field(default_factory=list)

    @property
    def floor_s(self) -> float:
        """The earliest end that makes sense."""
        return 0.0 if self.start is None else max(0.0, self.start.value)

    def add(self, *words: str) -> None:
        self.parts.extend(words)
        self.worded = True

    def relabel(self, label: str) -> None:
        self.replaced = self.replaced or self.speaker != label
        self.speaker = label

    def says(self, number: Stamp, following: Stamp) -> bool:
        """Tell whether a whole number among precise stamps is out of order, hence spoken."""
        return (
            self.start is not None
            and self.start.precise
            and following.precise
            and not number.precise
            and not self.floor_s <= number.value <= following.value
        )

    def segment(self, end: float | None, *, closing: bool = False) -> Segment:
        """Return what is written so far; flags that need the end come with `closing`."""
        self.parts = ["".join(self.parts)]
        start = None if self.start is None else self.floor_s
        flags = []
        if self.preamble:
            flags.append(SegmentFlag.PREAMBLE)
        if self.start is not None and self.start.value < 0:
            flags.append(SegmentFlag.NEGATIVE_START)
        if self.replaced:
            flags.append(SegmentFlag.LABEL_REPLACED)
        if end is not None and end < self.floor_s:
            flags.append(SegmentFlag.END_BEFORE_START)
            end = self.floor_s
        elif closing and end is None and not self.preamble:
            flags.append(SegmentFlag.OPEN_END)
        return Segment(start, end, self.speaker, self.parts[0].strip(), tuple(flags))


def _is_boundary(first: Stamp, second: Stamp) -> bool:
    """Tell whether two stamps in a row are more than two spoken numbers."""
    return first.value == second.value or (first.precise and second.precise)


def _last_boundary(marks: list[_Mark], floor_s: float) -> int | None:
    """Return where an end is followed by a start that does not run backwards, if anywhere."""
    stamps = [mark.stamp for mark in marks]
    for index in range(len(stamps) - 2, -1, -1):
        first, second = stamps[index], stamps[index + 1]
        forward = first.value <= second.value and (
            first.value == second.value or second.value >= floor_s
        )
        if forward and _is_boundary(first, second):
            return index
    return None
