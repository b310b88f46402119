"""Short recordings with references, cut from the samples at the turns of one speaker."""

import json
import zipfile
from pathlib import Path

import soundfile

from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


def cut_turns(folder: Path, count: int) -> list[dict[str, str]]:
    """Write the first turns of the shortest sample as recordings of their own; return their rows.

    The reference is raw model text, the group the speaker; the last one comes as two takes.
    """
    sample = SAMPLES / "two-speakers.flac"
    sound, rate = soundfile.read(sample, dtype="float32")
    turns = parse(sample.with_suffix(".txt").read_text(encoding="utf-8")).segments
    rows = []
    for number, turn in enumerate(turns[:count]):
        assert turn.start is not None
        assert turn.end is not None
        cut = sound[int(turn.start * rate) : int(turn.end * rate) + 1]
        name = f"{number:02}.flac"
        soundfile.write(folder / name, cut, rate)
        own = Segment(0.0, len(cut) / rate, turn.speaker, turn.text)
        rows.append({"audio": name, "reference": own.marked(), "group": f"{turn.speaker}"})
    take = {**rows[-1], "group": "takes"}
    return [*rows[:-1], take, take]


def write_manifest(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Write rows as JSON lines; returns the path."""
    path = folder / "manifest.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def write_archive(folder: Path, rows: list[dict[str, str]]) -> Path:
    """Pack a manifest of the rows and all recordings of the folder into a zip; returns the path."""
    path = folder / "set.zip"
    with zipfile.ZipFile(path, "w") as packed:
        for file in (write_manifest(folder, rows), *sorted(folder.glob("*.flac"))):
            packed.write(file, f"set/{file.name}")
    return path
