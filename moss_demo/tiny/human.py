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
from random import Random

import numpy as np

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.sentences import held_out
from moss_demo.tiny.utterances import Samples, Spoken, trimmed

HELD_OUT_SHARE = 12
"""One person in twelve is kept for the checks during training."""

MIN_PAUSE_S = 0.22
MIN_PIECE_S = 0.8
MAX_PIECE_S = 15.0
MIN_RUN, MAX_RUN, MAX_RUNS = 2, 6, 5
"""Words of a run, and most runs of a spliced utterance."""

_FRAME = 160
_FADE = 80
_RISE = np.linspace(0, 1, _FADE, dtype=np.float32)
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


def spliced(
    speaker: str, sound: Samples, words: Sequence[Word], count: int, draw: Random
) -> Iterator[tuple[Samples, Spoken]]:
    """Yield new utterances of a person: short runs of words in another order.

    A decoder knows an hour of people by heart after a few minutes and then need not listen to them;
    what they never said it must hear. Cuts are at the quietest moment near the border of two words.

    Args:
        speaker: name of the person.
        sound: the whole file, int16 at 16 kHz.
        words: its words in order.
        count: utterances to make; fewer come where words are few.
        draw: source of all choices.
    """
    if len(words) < 2 * MAX_RUN:
        return
    borders = [_quietest(sound, *pair) for pair in pairwise((None, *words, None))]
    for _ in range(count):
        parts: list[Samples] = []
        said: list[str] = []
        for _ in range(draw.randint(2, MAX_RUNS)):
            first = draw.randrange(len(words) - MAX_RUN)
            last = first + draw.randint(MIN_RUN, MAX_RUN)
            part = sound[borders[first] : borders[last]].astype(np.float32)
            if len(part) > 2 * _FADE:
                part[:_FADE] *= _RISE
                part[-_FADE:] *= _RISE[::-1]
                parts.append(part.astype(np.int16))
                said += [word.text.strip() for word in words[first:last]]
        text = plain_words(" ".join(said))
        cut = trimmed(np.concatenate(parts)) if parts else None
        if text and cut is not None and len(cut) <= MAX_PIECE_S * SAMPLE_RATE_HZ:
            yield cut, Spoken(speaker, text, len(cut))


def _quietest(sound: Samples, before: Word | None, after: Word | None) -> int:
    """Return the quietest sample near the border of two words, or the file's own border."""
    if before is None or after is None:
        return 0 if before is None else len(sound)
    middle = round((before.end + after.start) / 2 * SAMPLE_RATE_HZ)
    reach = max(6 * _FRAME, round((after.start - before.end) / 2 * SAMPLE_RATE_HZ))
    start = max(0, middle - reach)
    span = sound[start : middle + reach].astype(np.float32)
    frames = span[: len(span) // _FRAME * _FRAME].reshape(-1, _FRAME)
    if not len(frames):
        return min(middle, len(sound))
    return start + int((frames**2).mean(1).argmin()) * _FRAME + _FRAME // 2


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
