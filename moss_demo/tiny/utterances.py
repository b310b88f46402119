"""Utterances on disk: many short recordings in one array, with who said what.

A shard is NAME.npy (int16, 16 kHz, utterances back to back) and NAME.json (one row an utterance).
The rows are written last, so a reader that sees them sees the sound too. Knows nothing of voices.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.int16]

_FRAME = 160
_QUIET = 0.02
"""Of the loudest frame's level: frames below it at both ends are not speech."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """One utterance within a shard.

    Attributes:
        speaker: name of the voice, unique over all shards.
        text: words as the checkpoint shall write them.
        samples: length at 16 kHz.
    """

    speaker: str
    text: str
    samples: int


def trimmed(sound: Samples) -> Samples | None:
    """Cut silence at both ends, keeping 20 and 30 ms; None when hardly anything is left.

    Stamps are right only as far as every utterance starts and ends where it can be heard.
    """
    frames = len(sound) // _FRAME
    if frames < 8:
        return None
    blocks = sound[: frames * _FRAME].reshape(frames, _FRAME).astype(np.float32)
    level = np.sqrt((blocks**2).mean(1))
    loud = np.flatnonzero(level > max(level.max() * _QUIET, 3.0))
    if len(loud) < 5:
        return None
    return sound[max(0, loud[0] - 2) * _FRAME : min(frames, loud[-1] + 4) * _FRAME]


def write_shard(path: Path, sounds: Iterable[Samples], rows: Iterable[Spoken]) -> None:
    """Write PATH.npy and PATH.json; both appear complete or not at all."""
    table = [[row.speaker, row.text, row.samples] for row in rows]
    half_done = path.with_suffix(".part.npy")
    np.save(half_done, np.concatenate(list(sounds)))
    half_done.rename(path.with_suffix(".npy"))
    half_done = path.with_suffix(".part")
    half_done.write_text(json.dumps(table), encoding="utf-8")
    half_done.rename(path.with_suffix(".json"))


def read_rows(path: Path) -> tuple[Spoken, ...]:
    """Read the rows of PATH.json."""
    return tuple(Spoken(*row) for row in json.loads(path.read_text(encoding="utf-8")))
