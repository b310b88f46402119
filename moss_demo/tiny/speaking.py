"""Fills a folder with shards of utterances: natural voices on a GPU, classic ones on every core.

Both run beside the training, which takes shards in as they appear. Knows who is to say what and
where shards go; knows no windows and no model to be trained.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.classic import ClassicVoice, Espeak, Flite, espeak_voices, flite_voices
from moss_demo.tiny.grammar import DIGITS
from moss_demo.tiny.kokoro import Kokoro
from moss_demo.tiny.lines import Script
from moss_demo.tiny.natural import Styles
from moss_demo.tiny.sentences import Text
from moss_demo.tiny.utterances import Samples, Spoken, trimmed, write_shard

LINES_A_SHARD = 4_096
LONGEST_S = 12.0
FLITE_SHARE = 0.45
DIGIT_STRINGS_A_VOICE = 14

Utterance = tuple[Samples, Spoken]


def speak_scripts(
    kokoro: Kokoro,
    styles: Styles,
    scripts: Sequence[Script],
    folder: Path,
    *,
    name: str = "natural",
    seconds: float = 1e9,
    report: Callable[[str], None] = print,
) -> float:
    """Speak scripts into shards until all are said or the time is up.

    Args:
        kokoro: the voices, on the device that shall speak.
        styles: their style tables.
        scripts: said in this order, `LINES_A_SHARD` a shard.
        folder: gets NAME-NUMBER.npy and .json.
        name: of the shards.
        seconds: time to spend; the shard in work is finished.
        report: takes a line of progress.

    Returns:
        Hours of speech made.
    """
    begun, pending = time.monotonic(), list[Future[float]]()
    with ThreadPoolExecutor(2) as writers:
        for number, at in enumerate(range(0, len(scripts), LINES_A_SHARD)):
            if time.monotonic() - begun > seconds:
                break
            some = scripts[at : at + LINES_A_SHARD]
            said = list(kokoro.say([script.line(styles) for script in some]))
            spoken = [(some[index], sound) for index, sound in said]
            pending.append(writers.submit(_write_natural, folder / f"{name}-{number}", spoken))
            report(f"{name} {at + len(some)} lines {time.monotonic() - begun:.0f} s")
        return sum(future.result() for future in pending)


def _write_natural(path: Path, spoken: Sequence[tuple[Script, Samples]]) -> float:
    """Write one shard, single digits joined to strings; return its hours."""
    draw = Random(len(spoken))
    digits: dict[str, dict[str, list[Samples]]] = defaultdict(lambda: defaultdict(list))
    kept: list[Utterance] = []
    for script, sound in spoken:
        cut = trimmed(sound)
        if cut is None or len(cut) > LONGEST_S * SAMPLE_RATE_HZ:
            continue
        if script.text in DIGITS:
            digits[script.voice.name][script.text].append(cut)
        kept.append((cut, Spoken(script.voice.name, script.text, len(cut))))
    for voice, said in digits.items():
        if len(said) >= 3:
            kept += digit_strings(voice, said, DIGIT_STRINGS_A_VOICE, draw)
    write_shard(path, [cut for cut, _ in kept], [row for _, row in kept])
    return sum(row.samples for _, row in kept) / SAMPLE_RATE_HZ / 3600


def digit_strings(
    voice: str, said: dict[str, list[Samples]], count: int, draw: Random
) -> Iterator[Utterance]:
    """Yield strings of one to seven digits joined from recordings of single ones."""
    words = sorted(said)
    for _ in range(count):
        chosen = [draw.choice(words) for _ in range(draw.choice((1, 2, 3, 3, 4, 5, 6, 7)))]
        parts: list[Samples] = []
        for word in chosen:
            pause = np.zeros(int(draw.uniform(0.01, 0.25) * SAMPLE_RATE_HZ), np.int16)
            parts += [draw.choice(said[word]), pause]
        sound = np.concatenate(parts[:-1])
        yield sound, Spoken(voice, " ".join(chosen), len(sound))


@dataclass(frozen=True, slots=True)
class ClassicJob:
    """What one process of classic voices needs.

    Attributes:
        libraries: folder of the shared libraries.
        data: folder that holds `espeak-ng-data`.
        text: makes the source of sentences; called in the process, for it is slow to send.
        folder: where shards go.
        seed: of this process alone.
        seconds: time to spend.
        first_shard_s: time of the first shard, short so that training can begin.
        shard_s: time of each further shard.
    """

    libraries: Path
    data: Path
    text: Callable[[], Text]
    folder: Path
    seed: int
    seconds: float
    first_shard_s: float = 4.0
    shard_s: float = 12.0


def speak_classic(job: ClassicJob) -> None:
    """Speak random sentences by random flite and espeak-ng voices until the time is up."""
    draw = Random(job.seed)
    flite, espeak = Flite(job.libraries), Espeak(job.libraries, job.data)
    kinds, text = (flite_voices(), espeak_voices()), job.text()
    begun, number = time.monotonic(), 0
    while time.monotonic() - begun < job.seconds:
        until = time.monotonic() + (job.shard_s if number else job.first_shard_s)
        kept: list[Utterance] = []
        while time.monotonic() < until:
            voice = draw.choice(kinds[draw.random() > FLITE_SHARE])
            utterance = classic_utterance(flite, espeak, voice, text.sentence(draw), draw)
            if utterance is not None:
                kept.append(utterance)
        path = job.folder / f"classic-{job.seed}-{number}"
        write_shard(path, [cut for cut, _ in kept], [row for _, row in kept])
        number += 1


def classic_utterance(
    flite: Flite, espeak: Espeak, voice: ClassicVoice, text: str, draw: Random
) -> Utterance | None:
    """Let one classic voice say a text; None when nothing was heard or it went on too long."""
    sound: NDArray[np.float32] | None
    if voice.name.startswith("flite:"):
        sound = flite.say(text, voice, draw.uniform(0.75, 1.15))
    else:
        sound = espeak.say(text, voice, draw.randint(140, 215), draw.randint(30, 70))
    if sound is None:
        return None
    peak = float(np.abs(sound).max(initial=0.0))
    if peak < 1e-3:
        return None
    cut = trimmed((sound * (0.7 * 32767 / peak)).astype(np.int16))
    if cut is None or len(cut) > LONGEST_S * SAMPLE_RATE_HZ:
        return None
    return cut, Spoken(voice.name, text, len(cut))
