"""Files a visitor can download, in a folder nobody else can guess."""

import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.domain.events import Run
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.ui.visitor import new_folder, writing

MAX_STEM_BYTES = 80


@dataclass(frozen=True, slots=True)
class Downloads:
    """What can be downloaded of one run.

    Attributes:
        folder: holds all of it and nothing else.
        exports: the transcript, a path by format.
        charts: the figures as one web page.
    """

    folder: str
    exports: Mapping[ExportFormat, str]
    charts: str


def write_downloads(
    run: Run,
    names: Mapping[str, str],
    figures: Mapping[str, object],
    charts: Iterable[go.Figure],
) -> Downloads:
    """Write the transcript in every format, and its charts.

    Args:
        run: finished or stopped.
        names: speaker names by label, as renamed in the view.
        figures: what the project's JSON keeps about how the run went.
        charts: drawn already.

    Raises:
        DiskError: they cannot be written.
    """
    stem = safe_stem(run.clip_name)
    with writing():
        folder, paths = new_folder(), {}
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
        page = folder / f"{stem}.charts.html"
        page.write_text(_charts_page(charts), encoding="utf-8")
    return Downloads(str(folder), paths, str(page))


def discard(downloads: Downloads | None) -> None:
    """Delete what was written, if anything was; what is gone already is no error."""
    if downloads is not None:
        shutil.rmtree(downloads.folder, ignore_errors=True)


def write_text(name: str, text: str) -> str:
    """Write one file into a folder of its own; returns its path.

    Raises:
        DiskError: it cannot be written.
    """
    with writing():
        path = new_folder() / name
        path.write_text(text, encoding="utf-8")
    return str(path)


def write_charts(name: str, figures: Iterable[go.Figure]) -> str:
    """Write figures as one web page that needs no network; returns its path."""
    return write_text(f"{safe_stem(name)}.charts.html", _charts_page(figures))


def safe_stem(name: str) -> str:
    """Make a file name of a recording's name: any letters, no path, at most 80 bytes."""
    stem = re.sub(r"[^\w.-]+", "_", Path(name).stem).strip("._-")
    while len(stem.encode()) > MAX_STEM_BYTES:
        stem = stem[:-1]
    return stem or "transcript"


def _charts_page(figures: Iterable[go.Figure]) -> str:
    """Return figures as one web page that needs no network."""
    parts = [
        figure.to_html(full_html=False, include_plotlyjs=number == 0)
        for number, figure in enumerate(figures)
    ]
    return "\n".join(['<!doctype html><meta charset="utf-8"><title>Charts</title>', *parts])
