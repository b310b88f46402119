"""The rows of the model card's table: what each tests, its target and its clips.

Knows where held-out sound lies; judges nothing.
"""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.tiny.heldout import (
    SEED,
    Clip,
    Recorded,
    empty_clips,
    joined_digits,
    mixed_clips,
    read_pack,
    read_recordings,
)
from moss_demo.tiny.windows import Size

PACKS = Path(__file__).parents[2] / "assets" / "heldout"

_SHORT = Size(30, 1, 0, 40, 0, 15.0)
_LONG = Size(90, 1, 0, 120, 0, 60.0)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the table.

    Attributes:
        name: for the command line.
        label: what it tests.
        target: what the recipe is to reach, in words.
        human: needs recordings of people.
    """

    name: str
    label: str
    target: str
    human: bool = False


ROWS = (
    Row("known", "natural voices of the training, 15-30 s", "WER 4, speaker 98, stamps 0.06 s"),
    Row("classic", "flite and espeak-ng voices, 15-30 s", "WER 4, speaker 98, stamps 0.06 s"),
    Row("unheard", "natural voices never heard, 15-30 s", "WER 5, speaker 95"),
    Row("long", "natural voices of the training, 60-90 s", "WER 5, speaker 95"),
    Row("meetings", "sentences of real meetings, natural voices, 15-30 s", "WER 12"),
    Row("read", "people reading, never heard, 15-30 s", "WER 30", human=True),
    Row("digits", "people saying digits, never heard, 15-30 s", "WER 15", human=True),
    Row("empty", "silence, tones and noise", "empty 95"),
)


def build_clips(row: Row, count: int, packs: Path = PACKS, human: Path | None = None) -> list[Clip]:
    """Make the clips of a row; the same count gives the same clips everywhere.

    Raises:
        MossDemoError: the recordings of a human row are not there.
    """
    place = ROWS.index(row)
    if row.name == "empty":
        return empty_clips(count, SEED + place)
    recorded: list[Recorded]
    if row.human:
        folder = human or packs
        recorded = read_recordings(folder, row.name)
        recorded = joined_digits(recorded) if row.name == "digits" else recorded
    else:
        recorded = read_pack(packs, "known" if row.name == "long" else row.name)
    return mixed_clips(recorded, _LONG if row.name == "long" else _SHORT, count, SEED + place)
