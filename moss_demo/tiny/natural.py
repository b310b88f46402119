"""Turns written sentences into lines for the natural voices: spelling, phonemes, style.

Styles come as one table a voice, 510 rows of 256 numbers, one row a phoneme count; blending two
tables gives a speaker of its own. Knows where the downloaded parts lie; knows nothing of mixing.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from moss_demo.tiny.kokoro import STYLE_SIZE, Line, read_vocabulary

HELD_OUT_VOICES = ("af_nova", "am_eric", "bf_lily", "bm_lewis")
"""Never trained on, alone or in a blend: the rows of voices never heard are spoken by these."""

MAX_PHONEMES = 300
"""Longer lines start to mumble; sentences of a meeting have 60."""

_QUESTIONS = frozenset(
    (
        *("is", "are", "am", "was", "were", "do", "does", "did", "can", "could", "will", "would"),
        *("should", "have", "has", "who", "what", "why", "how", "when", "where", "which", "any"),
    )
)


class Phonemizer(Protocol):
    """Text to phoneme letters, as `hibari.g2p.G2P` does it."""

    def __call__(self, text: str) -> str:
        """Return the phonemes of one sentence."""


def spoken_form(text: str) -> str:
    """Give a bare sentence the capital, the pronoun I and the mark that shape its tune."""
    if any(mark in text for mark in ".?!,"):
        return text
    words = ["I" + word[1:] if word == "i" or word[:2] == "i'" else word for word in text.split()]
    mark = "?" if words[0] in _QUESTIONS else "."
    sentence = " ".join(words)
    return sentence[0].upper() + sentence[1:] + mark


@dataclass(frozen=True, slots=True)
class Voice:
    """A speaker: one style table, or a blend of two.

    Attributes:
        name: unique; blends are called `first+second@share`.
        parts: (style table's name, share) pairs whose shares add up to 1.
    """

    name: str
    parts: tuple[tuple[str, float], ...]

    @property
    def british(self) -> bool:
        """Whether the larger part of the voice speaks British English."""
        return max(self.parts, key=lambda part: part[1])[0].startswith("b")


def plain(name: str) -> Voice:
    """Return the voice of one style table."""
    return Voice(name, ((name, 1.0),))


class Styles:
    """All style tables of a folder."""

    def __init__(self, folder: Path) -> None:
        """Map the `.bin` files of the npm package `kokoro-js`, float32 or float16 by their size."""
        self._tables: dict[str, NDArray[np.floating]] = {}
        for path in sorted(folder.glob("*.bin")):
            rows = np.fromfile(path, np.float32)
            self._tables[path.stem] = rows.reshape(-1, STYLE_SIZE)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all tables, sorted."""
        return tuple(self._tables)

    def row(self, voice: Voice, phonemes: int) -> NDArray[np.float32]:
        """Return the style of a voice for a line of that many phonemes, shape (256,)."""
        row = np.zeros(STYLE_SIZE, np.float32)
        for name, share in voice.parts:
            table = self._tables[name]
            row += np.float32(share) * table[min(phonemes, len(table)) - 1]
        return row


class Narrator:
    """Makes lines out of sentences and voices."""

    def __init__(self, vocabulary: Path, styles: Styles, american: Phonemizer, british: Phonemizer):
        """Keep the two readings of English apart: a British voice reads British phonemes."""
        self._ids = read_vocabulary(vocabulary)
        self.styles = styles
        self._read = {False: american, True: british}

    def phonemes(self, text: str, british: bool) -> tuple[int, ...]:
        """Return phoneme ids; letters that Kokoro does not know are left out."""
        letters = self._read[british](spoken_form(text))
        return tuple(self._ids[letter] for letter in letters if letter in self._ids)

    def line(self, text: str, voice: Voice, speed: float = 1.0) -> Line | None:
        """Return the line, or None when the text has no phonemes or too many of them."""
        ids = self.phonemes(text, voice.british)
        if not 0 < len(ids) <= MAX_PHONEMES:
            return None
        return Line(ids, self.styles.row(voice, len(ids)), speed)
