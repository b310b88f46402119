"""How the Transcribe tab shows a run: while it goes on, once it has ended or was changed."""

from dataclasses import replace
from typing import Any

import gradio as gr
import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.domain.figures import run_figures
from moss_demo.errors import DiskError
from moss_demo.ui import present
from moss_demo.ui.figures import talk_time_figure, timeline_figure
from moss_demo.ui.files import discard, write_downloads
from moss_demo.ui.outcome import Outcome
from moss_demo.ui.timeline import TimelineStatus, empty_update, timeline_update
from moss_demo.ui.transcribe_layout import Results
from moss_demo.ui.transcription import Snapshot
from moss_demo.ui.wiring import Updates, in_toast, withdrawn

Charts = tuple[go.Figure, go.Figure]
"""Timeline and talk time of a run, drawn once for the page and for the file."""


def outputs(results: Results) -> list[Any]:
    """List every component that a run changes."""
    return [
        results.status,
        results.engine,
        results.timeline,
        results.notices,
        results.figures,
        results.download_notes,
        results.timeline_plot,
        results.talk_time_plot,
        results.charts_file,
        results.raw,
        *(button for _, button in results.downloads),
    ]


def show_streaming(results: Results, snapshot: Snapshot, number: int) -> Updates:
    """Show a run in progress: transcript and figures, nothing that is costly to draw."""
    run = snapshot.run
    return {
        results.status: snapshot.status,
        results.engine: "" if snapshot.engine is None else present.engine_line(snapshot.engine),
        results.timeline: timeline_update(run, number=number, names={}),
        results.notices: gr.HTML(visible=False),
        results.figures: list(run_figures(run, snapshot.load_s, snapshot.compile_s)),
    }


def show_begun(results: Results) -> Updates:
    """Take away what was drawn, written and offered of the run before."""
    plots = results.timeline_plot, results.talk_time_plot
    return {
        results.download_notes: f"{present.DOWNLOADS}.",
        results.raw: "",
    } | withdrawn(plots, _files(results))


def draw_charts(kept: Outcome) -> Charts:
    """Draw a run as it stands now."""
    run = kept.shown
    return (
        timeline_figure(run.transcript, run.duration_s, kept.names),
        talk_time_figure(run.transcript, run.duration_s, kept.names),
    )


def show_ended(results: Results, kept: Outcome, charts: Charts) -> Updates:
    """Show everything about a run that ended by itself, by a stop or by an error."""
    return {
        results.status: _status_line(kept),
        results.engine: "" if kept.engine is None else present.engine_line(kept.engine),
        results.figures: list(run_figures(kept.run, kept.load_s, kept.compile_s)),
        results.raw: kept.run.raw,
    } | show_transcript(results, kept, charts)


def show_transcript(results: Results, kept: Outcome, charts: Charts) -> Updates:
    """Show everything that changes with a speaker's name or an edited segment."""
    run, files = kept.shown, kept.files
    warnings = present.warning_rows(run, kept.clip_warnings, kept.engine)
    updates: Updates = {
        results.timeline: show_view(kept),
        results.notices: gr.HTML(value=warnings, visible=bool(warnings)),
        results.download_notes: present.download_notes(run, kept.names),
        results.timeline_plot: gr.Plot(charts[0], visible=True),
        results.talk_time_plot: gr.Plot(charts[1], visible=True),
    }
    if files is None:
        updates |= withdrawn((), _files(results))
    else:
        updates[results.charts_file] = gr.DownloadButton(value=files.charts, interactive=True)
        for fmt, button in results.downloads:
            updates[button] = gr.DownloadButton(value=files.exports[fmt], interactive=True)
    return updates


def show_nothing(results: Results) -> Updates:
    """Show what a visitor sees before the first run."""
    return {
        results.status: present.IDLE,
        results.engine: "",
        results.timeline: empty_update(),
        results.notices: gr.HTML(value=[], visible=False),
        results.figures: [],
    } | show_begun(results)


def show_view(kept: Outcome, problem: str = "") -> dict[str, Any]:
    """Return the update of the view; a problem says why a change was refused."""
    status = TimelineStatus.FAILED if kept.failure else TimelineStatus.STOPPED
    return timeline_update(
        kept.shown,
        number=kept.number,
        names=kept.names,
        status=status if kept.run.finished is None else None,
        revisions=kept.revisions,
        problem=problem,
    )


def with_files(kept: Outcome, charts: Charts) -> Outcome:
    """Write what can be downloaded anew and drop what was written before.

    A full disk costs the downloads and nothing else.
    """
    figures = {} if kept.engine is None else kept.engine.record()
    files = None
    try:
        files = write_downloads(kept.shown, kept.names, figures, charts)
    except DiskError as error:
        gr.Warning(in_toast(error))
    discard(kept.files)
    return replace(kept, files=files)


def _files(results: Results) -> list[gr.DownloadButton]:
    return [results.charts_file, *(button for _, button in results.downloads)]


def _status_line(kept: Outcome) -> str:
    if kept.failure:
        return present.failed_line(kept.failure)
    if kept.run.finished is None:
        return present.stopped_line(kept.run)
    return present.status_line(kept.run)
