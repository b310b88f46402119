"""Files a visitor can download, in a folder nobody else can guess."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.domain.events import Run
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.ui.visitor import new_folder

MAX_STEM_BYTES = 80


def write_exports(
    run: Run, names: Mapping[str, str], figures: Mapping[str, object]
) -> dict[ExportFormat, str]:
    """Write the transcript in every format.

    Args:
        run: finished or stopped.
        names: speaker names by label, as renamed in the view.
        figures: what the project's JSON keeps about how the run went.

    Returns:
        Path by format.
    """
    folder = new_folder()
    stem = safe_stem(run.clip_name)
    paths = {}
    for fmt in ExportFormat:
        text = export(
            run.transcript,
            fmt,
            name=stem,
            duration_s=run.duration_s,
            run=run,
            names=names,
            figures=figures,
        )
        path = folder / f"{stem}.{fmt.extension}"
        path.write_text(text, encoding="utf-8", newline="")
        paths[fmt] = str(path)
    return paths


def write_text(name: str, text: str) -> str:
    """Write one file into a folder of its own; returns its path."""
    path = new_folder() / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def write_charts(clip_name: str, figures: Iterable[go.Figure]) -> str:
    """Write figures as one web page that needs no network; returns its path."""
    parts = [
        figure.to_html(full_html=False, include_plotlyjs=number == 0)
        for number, figure in enumerate(figures)
    ]
    page = ['<!doctype html><meta charset="utf-8"><title>Charts</title>', *parts]
    return write_text(f"{safe_stem(clip_name)}.charts.html", "\n".join(page))


def safe_stem(name: str) -> str:
    """Make a file name of a recording's name: any letters, no path, at most 80 bytes."""
    stem = re.sub(r"[^\w.-]+", "_", Path(name).stem).strip("._-")
    while len(stem.encode()) > MAX_STEM_BYTES:
        stem = stem[:-1]
    return stem or "transcript"
