"""The built-in set of the app's evaluation: twenty held-out conversations, ready to be played.

The first clips of the model card's rows, so that the set is a fixed part of what the card reports.
Knows clips and files; knows nothing of what evaluates them.
"""

import json
from pathlib import Path

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.heldout import write_opus
from moss_demo.tiny.rows import ROWS, build_clips
from moss_demo.tiny.samples import raw_transcript

CLIPS = {"known": 5, "classic": 3, "unheard": 5, "long": 2, "meetings": 5}
"""Clips by row."""

COMPRESSION = 0.85
"""About 44 kbit/s in libsndfile's scale: a clip transcribes as it does uncompressed."""


def write_builtin(folder: Path) -> None:
    """Write every clip as Opus and a manifest with their references."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for row in (row for row in ROWS if row.name in CLIPS):
        for number, clip in enumerate(build_clips(row, CLIPS[row.name]), 1):
            name = f"{row.name}-{number}.opus"
            write_opus(folder / name, clip.samples, COMPRESSION)
            reference = raw_transcript(clip.utterances)
            entry = {"audio": name, "reference": reference, "group": row.name, "language": "en"}
            lines.append(json.dumps(entry) + "\n")
            print(f"{name}: {len(clip.samples) / SAMPLE_RATE_HZ:.1f} s")
    (folder / "manifest.jsonl").write_text("".join(lines), encoding="utf-8")
