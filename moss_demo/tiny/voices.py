"""Who speaks in the corpus: the names of all voices and their classes for the speaker losses.

A name starts with its kind and a colon; what follows an `@` tells variants of one voice apart, and
two variants never meet in one conversation. Knows names only; synthesizes nothing.
"""

from collections.abc import Iterable, Sequence
from random import Random

from moss_demo.tiny.classic import espeak_voices, flite_voices
from moss_demo.tiny.natural import HELD_OUT_VOICES, Voice

BLENDS = 320
_WHISPERED = "af_nicole"
_TRIES_A_BLEND = 10


def natural_voices(tables: Sequence[str], blends: int = BLENDS, seed: int = 5) -> tuple[Voice, ...]:
    """Return the training voices of Kokoro: every plain table and blends of two.

    Held-out voices and the whispered one take no part. The larger half of a blend is an English
    voice or any other, so that accents of other languages are heard too.
    """
    draw = Random(seed)
    usable = [t for t in tables if t not in HELD_OUT_VOICES and t != _WHISPERED]
    english = [table for table in usable if table[0] in "ab"]
    voices = {table: Voice(f"natural:{table}", ((table, 1.0),)) for table in usable}
    for _ in range(_TRIES_A_BLEND * blends):  # few tables have few blends
        if len(voices) == len(usable) + blends:
            break
        first, second = draw.choice(usable), draw.choice(english)
        share = draw.choice((0.35, 0.5, 0.65))
        name = f"{first}+{second}@{share:.2f}"
        if first != second:
            voices[name] = Voice(f"natural:{name}", ((first, share), (second, 1 - share)))
    return tuple(voices.values())


def speaker_classes(tables: Sequence[str], people: Iterable[str]) -> dict[str, int]:
    """Number every training voice; `people` are the names of recorded speakers."""
    names = [voice.name for voice in natural_voices(tables)]
    names += [voice.name for voice in (*flite_voices(), *espeak_voices())]
    return {name: number for number, name in enumerate([*names, *sorted(people)])}
