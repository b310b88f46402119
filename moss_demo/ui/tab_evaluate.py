"""The Evaluate tab: handlers that only translate, and their wiring."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import replace

import gradio as gr

from moss_demo.errors import MossDemoError, RequestError
from moss_demo.serving.context import AppContext
from moss_demo.ui import present, present_evaluation
from moss_demo.ui.data_panels import table_rows
from moss_demo.ui.evaluate_layout import BUILTIN, Inputs, Results, lay_out_inputs, lay_out_results
from moss_demo.ui.evaluation import Snapshot, Wishes, evaluate_uploads, write_files
from moss_demo.ui.evaluation_figures import error_figure, length_figure, speakers_figure
from moss_demo.ui.handover import hand_over
from moss_demo.ui.wiring import (
    HELPER,
    Job,
    Phase,
    Switch,
    Updates,
    in_toast,
    wire_run,
    withdrawn,
)


def build(context: AppContext, handed: gr.State) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it.

    Args:
        context: the server's.
        handed: takes the `ComparisonFiles` of a row that is clicked.
    """
    kept = gr.State(None)
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            inputs = lay_out_inputs(context)
        with gr.Column(scale=8, min_width=320):
            results = lay_out_results()
    inputs.what.change(
        lambda what: gr.File(visible=what != BUILTIN), inputs.what, inputs.uploads, **HELPER
    )
    _wire_run(context, inputs, results, kept)
    _wire_rows(context, results, kept, handed)


def _wire_run(context: AppContext, inputs: Inputs, results: Results, kept: gr.State) -> None:
    """Start, evaluate, stop and finish; what was shown before stays until the device is taken."""

    def stream(values: Updates) -> Generator[Updates, None, None]:
        fresh = withdrawn(results.plots, results.downloads.values()) | {results.tables: []}
        snapshot: Snapshot | None = None
        try:
            with closing(evaluate_uploads(_wishes(inputs, values), context)) as snapshots:
                for each in snapshots:
                    if each.bar is None and each.report is None:
                        yield {results.status: each.status}
                        continue
                    snapshot = each
                    yield {kept: snapshot} | fresh | _running(results, snapshot)
                    fresh = {}
        except MossDemoError as error:
            if snapshot is not None:
                yield {kept: replace(snapshot, failure=str(error))}
            raise

    def settle(values: Updates) -> Updates:
        snapshot: Snapshot | None = values[kept]
        if snapshot is not None and snapshot.clips and not snapshot.is_over:
            return _finished(results, snapshot) | {kept: replace(snapshot, is_over=True)}
        is_told = values[switch.phase] is Phase.BROKEN
        status = gr.skip() if is_told else present_evaluation.STOPPED_EARLY
        return {results.bar: _hidden(), results.status: status}

    live = [results.status, results.bar, results.notices, results.table]
    changed = [kept, *live, results.tables, *results.plots, *results.downloads.values()]
    asked = {inputs.what, inputs.uploads, inputs.checkpoint, inputs.precision, inputs.level}
    switch = Switch(inputs.start, inputs.stop, results.status, gr.State(Phase.IDLE))
    wire_run(switch, [inputs.start.click], Job(stream, asked, changed, settle, {kept}, changed))


def _wire_rows(context: AppContext, results: Results, kept: gr.State, handed: gr.State) -> None:
    """A click on a row opens it in the Compare tab."""

    def open_row(snapshot: Snapshot | None, event: gr.SelectData) -> Updates:
        if snapshot is None or snapshot.sources is None:
            return {handed: gr.skip()}
        line = int(event.row_value[0])
        row = next(row for row in snapshot.clips if row.line == line)
        entry = next(entry for entry in snapshot.entries if entry.line == line)
        try:
            longest_s = context.settings.max_duration_s
            return {handed: hand_over(entry, row, snapshot.sources, longest_s)}
        except MossDemoError as error:
            gr.Info(in_toast(error))
            return {handed: gr.skip()}

    results.table.select(open_row, kept, handed, trigger_mode="multiple", **HELPER)


def _wishes(inputs: Inputs, values: Updates) -> Wishes:
    builtin = values[inputs.what] == BUILTIN
    if not builtin and not values[inputs.uploads]:
        raise RequestError(present_evaluation.NOTHING)
    return Wishes(
        uploads=() if builtin else values[inputs.uploads],
        checkpoint=values[inputs.checkpoint],
        precision=values[inputs.precision],
        level=values[inputs.level],
    )


def _running(results: Results, snapshot: Snapshot) -> Updates:
    """Show an evaluation in progress: what is cheap to draw."""
    notes = [{"kind": "manifest", "message": note} for note in snapshot.notes]
    bar = snapshot.bar
    return {
        results.status: snapshot.status,
        results.bar: _hidden() if bar is None else gr.HTML(value=bar, visible=True),
        results.notices: gr.HTML(value=notes, visible=bool(notes)),
        results.table: present_evaluation.clip_rows(snapshot.clips),
    }


def _finished(results: Results, snapshot: Snapshot) -> Updates:
    """Show everything about an evaluation that ended, was stopped or failed; offer its files."""
    rows = present_evaluation.worst_first(snapshot.clips)
    figures = (error_figure(rows), length_figure(rows), speakers_figure(rows))
    report, folder = write_files(snapshot)
    status = snapshot.status if snapshot.report else present_evaluation.stopped_line(report)
    return (
        {
            results.bar: _hidden(),
            results.status: present.failed_line(snapshot.failure) if snapshot.failure else status,
            results.table: present_evaluation.clip_rows(rows),
            results.tables: table_rows(present_evaluation.summary_tables(report)),
        }
        | {
            plot: gr.Plot(value=figure, visible=figure is not None)
            for plot, figure in zip(results.plots, figures, strict=True)
        }
        | {
            button: gr.DownloadButton(value=str(folder / name), interactive=True)
            for name, button in results.downloads.items()
        }
    )


def _hidden() -> gr.HTML:
    return gr.HTML(visible=False)
