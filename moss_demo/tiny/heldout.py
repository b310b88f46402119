"""Held-out utterances and the test clips mixed from them with a fixed seed.

`assets/heldout` holds the utterances of synthetic voices as Opus with a table each; recordings of
people lie elsewhere, with a table of the same form. Knows sounds and references; knows no model and
no scores.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import soundfile as sf  # type: ignore[import-untyped]  # the package ships no type information
import torch
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.errors import MossDemoError
from moss_demo.tiny import nonspeech
from moss_demo.tiny.classic import resampled
from moss_demo.tiny.grammar import DIGITS
from moss_demo.tiny.samples import Utterance
from moss_demo.tiny.speaking import digit_strings
from moss_demo.tiny.utterances import Samples, Spoken, trimmed
from moss_demo.tiny.windows import Conversations, Entry, Size

SEED = 2027
LEVEL_DBFS = -22.0
NOISE_DBFS = -62.0
OPUS_COMPRESSION = 0.95
"""About 18 kbit/s; libsndfile's scale runs from 256 to 6 kbit/s."""

_OPUS_BLOCK_S = 30

Recorded = tuple[Samples, Spoken]


@dataclass(frozen=True, slots=True, eq=False)
class Clip:
    """A test clip with its reference; without utterances it holds no speech."""

    samples: NDArray[np.float32]
    utterances: tuple[Utterance, ...]


def write_pack(folder: Path, name: str, recorded: Sequence[Recorded]) -> None:
    """Write NAME.opus with all utterances back to back, and their rows to NAME.json."""
    folder.mkdir(parents=True, exist_ok=True)
    sound = np.concatenate([samples for samples, _ in recorded])
    write_opus(folder / f"{name}.opus", sound, OPUS_COMPRESSION)
    rows = [[row.speaker, row.text, row.samples] for _, row in recorded]
    (folder / f"{name}.json").write_text(json.dumps(rows, indent=0), encoding="utf-8")


def write_opus(path: Path, sound: NDArray[Any], compression: float) -> None:
    """Write mono sound at 16 kHz as Opus.

    Args:
        path: the file.
        sound: int16 or float32.
        compression: libsndfile's scale, 0 for the best sound to 1 for the smallest file.
    """
    with sf.SoundFile(
        path,
        "w",
        SAMPLE_RATE_HZ,
        1,
        format="OGG",
        subtype="OPUS",
        compression_level=compression,
    ) as stream:
        # libsndfile's Opus writer overflows its stack on very long blocks.
        for at in range(0, len(sound), _OPUS_BLOCK_S * SAMPLE_RATE_HZ):
            stream.write(sound[at : at + _OPUS_BLOCK_S * SAMPLE_RATE_HZ])


def read_pack(folder: Path, name: str) -> list[Recorded]:
    """Read what `write_pack` wrote.

    Raises:
        MossDemoError: the pack is not there.
    """
    path = folder / f"{name}.opus"
    if not path.exists():
        raise MossDemoError(f"{path} is missing; it comes with the project's assets.")
    sound, rate_hz = sf.read(path, dtype="float32")
    samples = (resampled(sound, rate_hz) * 32767).clip(-32768, 32767).astype(np.int16)
    recorded: list[Recorded] = []
    at = 0
    for row in json.loads(path.with_suffix(".json").read_text(encoding="utf-8")):
        spoken = Spoken(*row)
        part = samples[at : at + spoken.samples]
        if spoken.text:  # nothing can spell an invented name: such lines carry no text
            recorded.append((np.pad(part, (0, spoken.samples - len(part))), spoken))
        at += spoken.samples
    return recorded


def read_recordings(folder: Path, table: str) -> list[Recorded]:
    """Read recordings of people named by TABLE.json: rows of file, speaker, text."""
    path = folder / f"{table}.json"
    if not path.exists():
        raise MossDemoError(f"{path} is missing; rows of people need their recordings (--human).")
    recorded: list[Recorded] = []
    for name, speaker, text in json.loads(path.read_text(encoding="utf-8")):
        sound, rate_hz = sf.read(folder / name, dtype="float32")
        if sound.ndim > 1:
            sound = sound[:, 0]
        at_16_khz = resampled(sound, rate_hz)
        peak = max(1e-3, float(np.abs(at_16_khz).max()))
        cut = trimmed((at_16_khz / peak * 0.7 * 32767).astype(np.int16))
        if cut is not None:
            recorded.append((cut, Spoken(speaker, text, len(cut))))
    return recorded


def joined_digits(recorded: Sequence[Recorded], each: int = 40) -> list[Recorded]:
    """Join single recorded digits of each speaker to strings of one to seven."""
    draw = Random(SEED)
    speakers: dict[str, dict[str, list[Samples]]] = {}
    for sound, row in recorded:
        if row.text in DIGITS:
            speakers.setdefault(row.speaker, {}).setdefault(row.text, []).append(sound)
    strings: list[Recorded] = []
    for speaker, said in sorted(speakers.items()):
        strings += digit_strings(speaker, said, each, draw)
    return strings


def mixed_clips(recorded: Sequence[Recorded], size: Size, count: int, seed: int) -> list[Clip]:
    """Mix conversations of two to four voices, levels apart by up to 9 dB, some turns overlapping.

    No resampling, no room: what is tested is what the voices and the turns ask for.
    """
    draw = Random(seed)
    kinds = {row.speaker.partition(":")[0]: 1.0 for _, row in recorded}
    talk = Conversations(draw, kinds, vary=False)
    sounds: list[Samples] = []
    for sound, row in recorded:
        talk.add(row.speaker, Entry(len(sounds), len(sound), (), row.text))
        sounds.append(sound)
    talk.cast()
    noise = np.random.default_rng(seed)
    clips: list[Clip] = []
    while len(clips) < count:
        window = talk.window(size)
        if not window.placed:
            continue
        mix = np.zeros(window.samples, np.float32)
        numbers: dict[str, int] = {}
        said: list[Utterance] = []
        for item in window.placed:
            end = item.start + item.samples
            mix[item.start : end] += sounds[item.entry.offset][: item.samples] * item.gain / 32768
            number = numbers.setdefault(item.voice, len(numbers) + 1)
            start_s, end_s = item.start / SAMPLE_RATE_HZ, end / SAMPLE_RATE_HZ
            said.append(Utterance(start_s, end_s, number, item.entry.text))
        clips.append(Clip(_levelled(mix, noise), tuple(said)))
    return clips


def _levelled(mix: NDArray[np.float32], noise: np.random.Generator) -> NDArray[np.float32]:
    loud = mix * (10 ** (LEVEL_DBFS / 20) / max(1e-6, float(np.sqrt(np.mean(mix**2)))))
    hiss = noise.normal(0, 10 ** (NOISE_DBFS / 20), len(mix))
    return np.asarray((loud + hiss).clip(-1, 1), np.float32)


def empty_clips(count: int, seed: int) -> list[Clip]:
    """Make clips of 2 to 30 s without speech: silence, tones and noise in turn, -60 to -12 dBFS."""
    draw = Random(seed)
    generator = torch.Generator().manual_seed(seed)
    makers: tuple[Callable[[int], torch.Tensor], ...] = (
        lambda samples: torch.zeros(1, samples),
        lambda samples: nonspeech.tones(1, samples, generator),
        lambda samples: nonspeech.coloured_noise(
            torch.tensor([draw.choice((0.0, 0.5, 1.0))]), samples, generator
        ),
    )
    clips: list[Clip] = []
    for number in range(count):
        samples = int(draw.uniform(2, 30) * SAMPLE_RATE_HZ)
        gain = 10 ** (draw.uniform(-60, -12) / 20)
        sound = (makers[number % 3](samples)[0] * gain).clamp(-1, 1)
        clips.append(Clip(sound.numpy().astype(np.float32), ()))
    return clips
