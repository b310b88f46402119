"""What every tab shares: the server's context and the built-in samples."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.serving.context import ASSETS as ASSETS
from moss_demo.serving.context import AppContext as AppContext
from moss_demo.serving.context import build_context as build_context


@dataclass(frozen=True, slots=True)
class Sample:
    """A recording that ships with the project.

    Attributes:
        label: text of its button.
        path: the audio file.
    """

    label: str
    path: Path


def list_samples(folder: Path = ASSETS / "samples") -> tuple[Sample, ...]:
    """List the built-in recordings, the shortest first; labels are derived from file names."""
    files = sorted(folder.glob("*.flac"), key=lambda path: path.stat().st_size)
    return tuple(Sample(p.stem.replace("-", " ").capitalize(), p) for p in files)
