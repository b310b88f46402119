"""The built-in recordings, as every tab offers them."""

from dataclasses import dataclass
from pathlib import Path

import gradio as gr

from moss_demo.serving.context import ASSETS


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


def lay_out_samples() -> tuple[tuple[Sample, gr.Button], ...]:
    """Lay out a button for each in one line."""
    with gr.Row(elem_classes="samples"):
        gr.HTML('<span class="samples-label">Samples</span>', apply_default_css=False, min_height=0)
        return tuple((s, gr.Button(s.label, size="sm", min_width=60)) for s in list_samples())
