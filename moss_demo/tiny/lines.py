"""The list of what the natural voices are to say, prepared once, spoken on the GPU.

A file of lines holds texts, phonemes, voices and paces, so the machine that speaks needs neither a
lexicon nor the sentences' sources. Knows the file; knows nothing of sound.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np

from moss_demo.tiny.grammar import DIGITS
from moss_demo.tiny.kokoro import Line
from moss_demo.tiny.natural import HELD_OUT_VOICES, Narrator, Styles, Voice, plain
from moss_demo.tiny.sentences import TestText, Text
from moss_demo.tiny.voices import natural_voices

SLOWEST, QUICKEST = 0.85, 1.3
PLAIN_SHARE = 0.4
"""Of lines by unblended voices: there are 49 of them among 369."""


@dataclass(frozen=True, slots=True)
class Script:
    """A line before its style is looked up.

    Attributes:
        text: words as the checkpoint shall write them.
        voice: who says it.
        speed: 1 is the voice's own pace.
        phonemes: ids.
    """

    text: str
    voice: Voice
    speed: float
    phonemes: tuple[int, ...]

    def line(self, styles: Styles) -> Line:
        """Return the line with its style."""
        return Line(self.phonemes, styles.row(self.voice, len(self.phonemes)), self.speed)


def training_scripts(narrator: Narrator, text: Text, count: int, seed: int) -> Iterator[Script]:
    """Yield `count` sentences, each by a random voice at a random pace."""
    draw = Random(seed)
    voices = natural_voices(narrator.styles.names)
    plain_voices = [voice for voice in voices if len(voice.parts) == 1]
    for _ in range(count):
        voice = draw.choice(plain_voices if draw.random() < PLAIN_SHARE else voices)
        yield from _script(narrator, text.sentence(draw), voice, draw.uniform(SLOWEST, QUICKEST))


def digit_scripts(narrator: Narrator, seed: int, each: int = 2) -> Iterator[Script]:
    """Yield every voice's single digits, voice by voice.

    Digits said alone are joined to strings later: read out one by one, numbers sound like this.
    """
    draw = Random(seed)
    for voice in natural_voices(narrator.styles.names):
        for digit in DIGITS:
            for _ in range(each):
                yield from _script(narrator, digit, voice, draw.uniform(0.8, QUICKEST))


def test_scripts(
    narrator: Narrator, text: TestText, count: int, seed: int, heard: bool
) -> Iterator[Script]:
    """Yield `count` held-out sentences, by plain training voices or by voices never heard."""
    draw = Random(seed)
    known = [voice for voice in natural_voices(narrator.styles.names, 0) if voice.name[8] in "ab"]
    unheard = [Voice(f"unheard:{name}", plain(name).parts) for name in HELD_OUT_VOICES]
    for _ in range(count):
        voice = draw.choice(known if heard else unheard)
        yield from _script(narrator, text.sentence(draw), voice, draw.uniform(0.95, 1.15))


def _script(narrator: Narrator, text: str, voice: Voice, speed: float) -> Iterator[Script]:
    line = narrator.line(text, voice, speed)
    if line is not None:
        yield Script(text, voice, round(speed, 2), line.phonemes)


def write_scripts(path: Path, scripts: Sequence[Script]) -> None:
    """Write scripts as one compressed `.npz`, about 40 bytes each."""
    voices = list(dict.fromkeys(script.voice for script in scripts))
    number = {voice: place for place, voice in enumerate(voices)}
    head = {
        "voices": [[voice.name, voice.parts] for voice in voices],
        "texts": "\n".join(script.text for script in scripts),
    }
    np.savez_compressed(
        path,
        head=np.frombuffer(json.dumps(head).encode(), np.uint8),
        voice=np.array([number[script.voice] for script in scripts], np.uint16),
        speed=np.array([round(100 * script.speed) for script in scripts], np.uint8),
        counts=np.array([len(script.phonemes) for script in scripts], np.uint16),
        phonemes=np.array([p for script in scripts for p in script.phonemes], np.uint8),
    )


def read_scripts(path: Path) -> tuple[Script, ...]:
    """Read what `write_scripts` wrote."""
    with np.load(path) as stored:
        head = json.loads(stored["head"].tobytes())
        voices = [
            Voice(name, tuple((table, share) for table, share in parts))
            for name, parts in head["voices"]
        ]
        phonemes = np.split(stored["phonemes"], np.cumsum(stored["counts"])[:-1])
        rows = zip(
            head["texts"].split("\n"), stored["voice"], stored["speed"], phonemes, strict=True
        )
        return tuple(
            Script(text, voices[voice], float(speed) / 100, tuple(ids.tolist()))
            for text, voice, speed, ids in rows
        )
