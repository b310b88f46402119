"""Recordings of people, cut at pauses into utterances with their words.

The recordings come with a transcript a file or get one from Whisper tiny.en; either way Whisper's
word times say where a pause may be cut, and its quietest moment is where it is cut. Whole files
alone would teach that people never say less than twelve seconds. Knows nothing of licences: which
folders may be trained on is for the caller to say.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.sentences import held_out
from moss_demo.tiny.utterances import Samples, Spoken, trimmed

HELD_OUT_SHARE = 12
"""One person in twelve is kept for the checks during training."""

MIN_PAUSE_S = 0.22
MIN_PIECE_S = 0.8
MAX_PIECE_S = 15.0
_FRAME = 160
_IN_FULL = {"mr": "mister", "mrs": "missus", "dr": "doctor", "st": "saint", "ok": "okay"}


@dataclass(frozen=True, slots=True)
class Word:
    """One recognised word.

    Attributes:
        text: as written by the recogniser, punctuation included.
        start: seconds.
        end: seconds.
    """

    text: str
    start: float
    end: float


def held_out_person(speaker: str) -> bool:
    """Decide by the digest of the name whether a person is not trained on."""
    return held_out(speaker, HELD_OUT_SHARE)


def plain_words(text: str) -> str | None:
    """Return lower-case words without punctuation, or None when figures or symbols remain."""
    text = text.lower().replace("’", "'").replace("-", " ")
    words = re.sub(r"[.,!?;:\"()“”]", " ", text).split()
    bare = " ".join(_IN_FULL.get(word, word) for word in words)
    return bare if re.fullmatch(r"[a-z' ]+", bare) else None


def pieces(speaker: str, sound: Samples, words: Sequence[Word]) -> Iterator[tuple[Samples, Spoken]]:
    """Yield every run of phrases between two pauses that lasts 0.8 to 15 s.

    Runs overlap: of a file with phrases a, b and c they are a, ab, abc, b, bc and c, so the same
    recording is heard at many lengths.

    Args:
        speaker: name of the person.
        sound: the whole file, int16 at 16 kHz.
        words: its words in order.
    """
    borders = [0, *_cuts(sound, words), len(sound)]
    phrases = _phrases(words, borders)
    for first in range(len(phrases)):
        for last in range(first, len(phrases)):
            start, end = borders[first], borders[last + 1]
            if end - start > MAX_PIECE_S * SAMPLE_RATE_HZ:
                break
            text = plain_words(" ".join(phrases[first : last + 1]))
            part = trimmed(sound[start:end])
            if text and part is not None and len(part) >= MIN_PIECE_S * SAMPLE_RATE_HZ:
                yield part, Spoken(speaker, text, len(part))


def _cuts(sound: Samples, words: Sequence[Word]) -> list[int]:
    """Return the quietest sample of every pause between words."""
    cuts: list[int] = []
    for before, after in pairwise(words):
        if after.start - before.end >= MIN_PAUSE_S:
            start = round(before.end * SAMPLE_RATE_HZ)
            span = sound[start : round(after.start * SAMPLE_RATE_HZ)].astype(np.float32)
            frames = span[: len(span) // _FRAME * _FRAME].reshape(-1, _FRAME)
            if len(frames) > 4:
                smooth = np.convolve((frames**2).mean(1), np.ones(5) / 5, "valid")
                cuts.append(start + (int(smooth.argmin()) + 2) * _FRAME + _FRAME // 2)
    return cuts


def _phrases(words: Sequence[Word], borders: Sequence[int]) -> list[str]:
    """Join the words between two borders, a word belongs where its middle lies."""
    phrases = [""] * (len(borders) - 1)
    for word in words:
        middle = (word.start + word.end) / 2 * SAMPLE_RATE_HZ
        place = int(np.searchsorted(borders, middle, side="right")) - 1
        phrases[min(max(place, 0), len(phrases) - 1)] += " " + word.text.strip()
    return [phrase.strip() for phrase in phrases]
