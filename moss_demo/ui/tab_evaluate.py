"""The Evaluate tab: handlers that only translate, and their wiring."""

from collections.abc import Iterator
from contextlib import closing

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
    ON_DEVICE,
    Updates,
    as_toast,
    ended,
    in_toast,
    started,
    withdrawn,
)


def build(context: AppContext, handed: gr.State) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it.

    Args:
        context: the server's.
        handed: takes the `ComparisonFiles` of a row that is clicked.
    """
    kept, begun = gr.State(None), gr.State(False)
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            inputs = lay_out_inputs(context)
        with gr.Column(scale=8, min_width=320):
            results = lay_out_results()
    inputs.what.change(
        lambda what: gr.File(visible=what != BUILTIN), inputs.what, inputs.uploads, **HELPER
    )
    _wire_run(context, inputs, results, kept, begun)
    _wire_rows(context, results, kept, handed)


def _wire_run(
    context: AppContext, inputs: Inputs, results: Results, kept: gr.State, begun: gr.State
) -> None:
    """Start, evaluate, stop and finish.

    What was shown before stays until there is something to evaluate: `begun` says that there was.
    """

    def begin() -> Updates:
        return started(inputs.start, inputs.stop) | {begun: False, results.status: present.STARTING}

    def run(values: Updates) -> Iterator[Updates]:
        try:
            with closing(evaluate_uploads(_wishes(inputs, values), context)) as snapshots:
                fresh = withdrawn(results.plots, results.downloads.values())
                fresh |= {results.tables: [], begun: True}
                for snapshot in snapshots:
                    if not snapshot.entries:
                        yield {results.status: snapshot.status}
                        continue
                    yield {kept: snapshot} | fresh | _running(results, snapshot)
                    fresh = {}
        except MossDemoError as error:
            yield {results.status: present.failed_line(str(error)), results.bar: _hidden()}
            raise as_toast(error) from error

    def finish(values: Updates) -> Updates:
        snapshot: Snapshot | None = values[kept]
        idle: Updates = {results.bar: _hidden()}
        if snapshot is None or not values[begun] or not snapshot.clips:
            return idle | {results.status: present_evaluation.STOPPED_EARLY}
        return idle | _finished(results, snapshot)

    def end() -> Updates:
        return ended(inputs.start, inputs.stop)

    buttons = [inputs.start, inputs.stop]
    live = [results.status, results.bar, results.notices, results.table]
    all_results = [*live, results.tables, *results.plots, *results.downloads.values()]
    streamed = [kept, begun, *all_results]
    asked = {inputs.what, inputs.uploads, inputs.checkpoint, inputs.precision, inputs.level}
    pressed = inputs.start.click(
        begin, None, [*buttons, begun, results.status], queue=False, **HELPER
    )
    job = pressed.then(run, asked, streamed, **HELPER, **ON_DEVICE)
    job.then(finish, {kept, begun}, all_results, **HELPER).then(
        end, None, buttons, queue=False, **HELPER
    )
    job.failure(end, None, buttons, queue=False, **HELPER)
    inputs.stop.click(None, None, None, cancels=[job], api_visibility="private")


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

    results.table.select(open_row, kept, handed, **HELPER)


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
    """Show everything about an evaluation that ended or was stopped, and offer its files."""
    rows = present_evaluation.worst_first(snapshot.clips)
    figures = (error_figure(rows), length_figure(rows), speakers_figure(rows))
    report, folder = write_files(snapshot)
    status = snapshot.status if snapshot.report else present_evaluation.stopped_line(report)
    return (
        {
            results.status: status,
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
