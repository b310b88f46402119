"""Recordings from files, and the samples that are measured when nobody names any."""

from collections.abc import Sequence
from pathlib import Path

from moss_demo.domain.audio import AudioClip
from moss_demo.engine.audio_files import read_audio

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
SHORT, LONG = "two-speakers.flac", "long-meeting.flac"


def read_clips(paths: Sequence[Path], max_duration_s: float) -> tuple[AudioClip, ...]:
    """Decode recordings.

    Raises:
        AudioError: one of them cannot be used.
    """
    return tuple(read_audio(path, max_duration_s=max_duration_s) for path in paths)


def default_clips(device: str, max_duration_s: float) -> tuple[AudioClip, ...]:
    """Decode a short and a long sample, on a CPU the short one only."""
    names = (SHORT,) if device == "cpu" else (SHORT, LONG)
    return read_clips([SAMPLES / name for name in names], max_duration_s)
