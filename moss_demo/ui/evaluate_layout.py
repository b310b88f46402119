"""Components of the Evaluate tab and where they stand. No handler lives here."""

from dataclasses import dataclass

import gradio as gr

from moss_demo.scoring.normalize import Level
from moss_demo.serving.context import AppContext
from moss_demo.ui import present_evaluation
from moss_demo.ui.data_panels import ProgressBar, Tables
from moss_demo.ui.panels import Notices, Status
from moss_demo.ui.ways import lay_out_model

UPLOAD, BUILTIN = "upload", "builtin"
LEVELS = [
    ("By the rules of the language", Level.LANGUAGE.value),
    ("Without case and punctuation", Level.RELAXED.value),
    ("As written", Level.VERBATIM.value),
]
DOWNLOADS = {
    "clips.parquet": "Recordings as Parquet",
    "clips.csv": "Recordings as CSV",
    "summary.csv": "Summary as CSV",
    "report.json": "Everything as JSON",
    "timings.parquet": "Times as Parquet",
}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a visitor sets."""

    what: gr.Radio
    uploads: gr.File
    checkpoint: gr.Dropdown
    precision: gr.Dropdown
    level: gr.Dropdown
    start: gr.Button
    stop: gr.Button


@dataclass(frozen=True, slots=True)
class Results:
    """What a visitor sees."""

    status: Status
    bar: ProgressBar
    notices: Notices
    table: gr.Dataframe
    tables: Tables
    plots: tuple[gr.Plot, gr.Plot, gr.Plot]
    downloads: dict[str, gr.DownloadButton]


def lay_out_inputs(context: AppContext) -> Inputs:
    """Lay out the left column."""
    what = gr.Radio(
        [("My own files", UPLOAD), ("The built-in set", BUILTIN)],
        value=UPLOAD,
        label="Evaluate",
        elem_id="evaluate-what",
    )
    uploads = gr.File(
        label="Recordings and references, a manifest, or a zip",
        file_count="multiple",
        height=190,
        elem_id="evaluate-uploads",
    )
    checkpoint, precision = lay_out_model(
        context, others=context.remote_choices(), elem_id="evaluate-checkpoint"
    )
    level = gr.Dropdown(LEVELS, value=Level.LANGUAGE.value, label="Words are the same")
    with gr.Row():
        start = gr.Button("Evaluate", variant="primary", elem_id="evaluate-start", min_width=120)
        stop = gr.Button("Stop", elem_id="evaluate-stop", interactive=False, min_width=90)
    gr.Markdown(present_evaluation.HELP, elem_classes="hint")
    return Inputs(what, uploads, checkpoint, precision, level, start, stop)


def lay_out_results() -> Results:
    """Lay out the right column."""
    status = Status(present_evaluation.IDLE, elem_id="evaluate-status")
    bar = ProgressBar(elem_id="evaluate-bar", visible=False)
    notices = Notices(elem_id="evaluate-notices", visible=False)
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("Recordings"):
            table = gr.Dataframe(
                headers=present_evaluation.HEADERS,
                datatype=["str"] * len(present_evaluation.HEADERS),
                interactive=False,
                show_label=False,
                elem_id="evaluate-table",
                max_height=560,
                wrap=True,
            )
            gr.Markdown(
                "Click a row to open it in Compare, beside its reference.", elem_classes="hint"
            )
        with gr.Tab("Corpus"):
            tables = Tables(present_evaluation.NO_RATES, elem_id="evaluate-tables")
        with gr.Tab("Charts"):
            plots = (
                gr.Plot(show_label=False, elem_id="evaluate-errors"),
                gr.Plot(show_label=False, elem_id="evaluate-lengths"),
                gr.Plot(show_label=False, elem_id="evaluate-speakers"),
            )
        with gr.Tab("Downloads"), gr.Row(elem_classes="downloads"):
            downloads = {
                name: gr.DownloadButton(
                    label,
                    size="sm",
                    interactive=False,
                    min_width=160,
                    elem_id=f"evaluate-{name.replace('.', '-')}",
                )
                for name, label in DOWNLOADS.items()
            }
    return Results(status, bar, notices, table, tables, plots, downloads)
