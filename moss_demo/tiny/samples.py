"""Writes the sample conversations of the page: scripts, natural voices, reference transcripts.

The sentences were written for this purpose, so no checkpoint has learned them. Knows scripts and
how turns are laid on a time line; knows nothing of the page that plays them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile as sf  # type: ignore[import-untyped]  # the package ships no type information
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.scripts import Conversation

Speak = Callable[[str, str, float], NDArray[np.float32]]
"""(text, voice, speed) to mono samples at 16 kHz, trimmed to the speech."""

_NOISE_DBFS = -66.0
_SPEECH_RMS = 0.1
_LEAD_S = 0.3
_TAIL_S = 0.4


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn on the time line.

    Attributes:
        start: seconds.
        end: seconds.
        speaker: number in order of first appearance, from 1.
        text: the words as the model writes them.
    """

    start: float
    end: float
    speaker: int
    text: str


def bare_words(text: str) -> str:
    """Return the words as the embedded checkpoint writes them: lower case, no punctuation."""
    return " ".join(re.sub(r"[^a-z' ]", " ", text.lower()).split())


def raw_transcript(utterances: tuple[Utterance, ...]) -> str:
    """Return the model's own markup, stamps on its grid of 0.02 s."""
    return "".join(
        f"[{_on_grid(u.start):.2f}][S{u.speaker:02d}]{u.text}[{_on_grid(u.end):.2f}]"
        for u in utterances
    )


def _on_grid(seconds: float) -> float:
    return round(seconds / 0.02) * 0.02


def render(
    conversation: Conversation, speak: Speak
) -> tuple[NDArray[np.float32], tuple[Utterance, ...]]:
    """Lay the turns of a conversation on a time line.

    Levels and paces differ by speaker, drawn from the conversation's seed.

    Returns:
        Mono samples at 16 kHz and the utterances in order of their start.
    """
    draw = np.random.default_rng(conversation.seed)
    gain = {name: 10 ** (draw.uniform(-4, 0) / 20) for name, _ in conversation.voices}
    pace = {name: draw.uniform(0.95, 1.1) for name, _ in conversation.voices}
    voices = dict(conversation.voices)
    numbers: dict[str, int] = {}
    placed: list[tuple[int, NDArray[np.float32]]] = []
    utterances: list[Utterance] = []
    end = _LEAD_S
    for turn in conversation.turns:
        sound = speak(turn.text, voices[turn.speaker], pace[turn.speaker])
        sound = sound * (_SPEECH_RMS * gain[turn.speaker] / np.sqrt(np.mean(sound**2)))
        at = max(0, round((end + turn.gap_s) * SAMPLE_RATE_HZ))
        start, end = at / SAMPLE_RATE_HZ, (at + len(sound)) / SAMPLE_RATE_HZ
        number = numbers.setdefault(turn.speaker, len(numbers) + 1)
        utterances.append(Utterance(start, end, number, bare_words(turn.text)))
        placed.append((at, sound.astype(np.float32)))
    last = max(at + len(sound) for at, sound in placed)
    mix = draw.normal(0, 10 ** (_NOISE_DBFS / 20), last + round(_TAIL_S * SAMPLE_RATE_HZ))
    for at, sound in placed:
        mix[at : at + len(sound)] += sound
    mix *= min(1.0, 0.95 / np.abs(mix).max())
    return mix.astype(np.float32), tuple(utterances)


def write_sample(folder: Path, conversation: Conversation, speak: Speak) -> Path:
    """Write NAME.flac and NAME.txt (the reference in the model's raw form) and return the first."""
    samples, utterances = render(conversation, speak)
    folder.mkdir(parents=True, exist_ok=True)
    audio = folder / f"{conversation.name}.flac"
    sf.write(audio, samples, SAMPLE_RATE_HZ, subtype="PCM_16")
    text = raw_transcript(utterances)
    audio.with_suffix(".txt").write_text(text + "\n", encoding="utf-8")
    return audio
