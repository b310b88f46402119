"""Takes off what is no part of the model's answer: byte order marks, special tokens and a lead-in.

Works on a stream and in bounded work a character. Knows nothing of stamps, labels or segments.
"""

import codecs
import re

_NAME = r"[A-Za-z0-9_.:/+\-]"
_MAX_NAME = 64
_SPECIAL_TOKEN = re.compile(rf"<\|{_NAME}{{1,{_MAX_NAME}}}\|>")
_TOKEN_FRAGMENT = re.compile(rf"<(?:\|(?:{_NAME}{{1,{_MAX_NAME}}}\|?)?)?")
_BYTE_ORDER_MARK = "\ufeff"

_ROLE = "assistant"
_THINK = "<think>"
_END_THINK = "</think>"


class Unwrapper:
    """Streams text or UTF-8 bytes and hands on what the model meant to say.

    Removed are byte order marks and `<|name|>` tokens anywhere, and at the very beginning the word
    `assistant` before a line break or a bracket and a closed `<think>` block, once each.
    """

    def __init__(self) -> None:
        """Wait for the first piece."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._mid_character = False
        self._held = ""
        self._lead = _LeadIn()

    def feed(self, chunk: str | bytes) -> str:
        """Return the text that is certain after this piece.

        Args:
            chunk: text, or UTF-8 bytes that may end inside a character; malformed bytes become
                U+FFFD.
        """
        return self._lead.feed(self._without_tokens(self._decoded(chunk)))

    def close(self) -> tuple[str, bool]:
        """Return what was held back, and whether a special token was cut off at the end."""
        rest = self._without_tokens(self._decoded(""))
        held, self._held = self._held, ""
        cut = held.startswith("<|")
        text = self._lead.feed(rest) + self._lead.feed("" if cut else held)
        return text + self._lead.close(), cut

    def _decoded(self, chunk: str | bytes) -> str:
        if isinstance(chunk, bytes):
            self._mid_character = True
            return self._decoder.decode(chunk)
        if not self._mid_character:
            return chunk
        self._mid_character = False
        return self._decoder.decode(b"", final=True) + chunk

    def _without_tokens(self, text: str) -> str:
        text = self._held + text
        self._held = ""
        kept, at = [], 0
        for found in _SPECIAL_TOKEN.finditer(text):
            kept.append(text[at : found.start()])
            at = found.end()
        last = text.rfind("<", at)  # a token that was removed joins nothing around it
        if last >= 0 and _TOKEN_FRAGMENT.fullmatch(text, last):
            text, self._held = text[:last], text[last:]
        return "".join([*kept, text[at:]]).replace(_BYTE_ORDER_MARK, "")


class _LeadIn:
    """Drops a role header and a closed thought in front of the answer, then stands aside."""

    def __init__(self) -> None:
        self._done = False
        self._removable = {_ROLE, _THINK}
        self._held = ""
        self._thought: list[str] | None = None
        self._tail = ""

    def feed(self, text: str) -> str:
        if self._done:
            return text
        if self._thought is not None:
            return self._think(text)
        self._held = (self._held + text).lstrip()
        return self._advance()

    def close(self) -> str:
        held = self._held if self._thought is None else "".join(self._thought)
        self._done, self._held, self._thought = True, "", None
        return held

    def _advance(self) -> str:
        while self._held:
            held = self._held
            if any(lead.startswith(held) for lead in self._removable):
                return ""  # may still become a role header or a thought
            if _ROLE in self._removable and re.match(rf"{_ROLE}[\r\n\[]", held):
                self._removable.discard(_ROLE)
                self._held = held[len(_ROLE) :].lstrip()
            elif _THINK in self._removable and held.startswith(_THINK):
                self._removable.discard(_THINK)
                self._held, self._thought = "", []
                return self._think(held)
            else:
                self._done, self._held = True, ""
                return held
        return ""

    def _think(self, text: str) -> str:
        assert self._thought is not None
        window = self._tail + text
        end = window.find(_END_THINK)
        if end < 0:  # an unclosed thought is no thought: all of it is kept until that is known
            self._thought.append(text)
            self._tail = window[-len(_END_THINK) + 1 :]
            return ""
        self._thought, self._tail = None, ""
        self._held = window[end + len(_END_THINK) :].lstrip()
        return self._advance()
