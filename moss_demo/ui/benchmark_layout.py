"""Components of the Benchmark tab and where they stand. No handler lives here."""

from dataclasses import dataclass

import gradio as gr

from moss_demo.bench.report import Plan
from moss_demo.engine.checkpoints import SYNTHETIC
from moss_demo.serving.context import AppContext
from moss_demo.ui import present_benchmark
from moss_demo.ui.data_panels import ProgressBar, Tables
from moss_demo.ui.panels import Notices, Status
from moss_demo.ui.samples import list_samples
from moss_demo.ui.ways import lay_out_model

PLOTS = ("latency", "speedup", "split", "batch", "memory")
DOWNLOADS = ("JSON", "Markdown", "CSV", "Charts")


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a visitor sets."""

    plans: gr.CheckboxGroup
    samples: gr.CheckboxGroup
    uploads: gr.File
    checkpoint: gr.Dropdown
    precision: gr.Dropdown
    quick: gr.Checkbox
    start: gr.Button
    stop: gr.Button


@dataclass(frozen=True, slots=True)
class Results:
    """What a visitor sees."""

    status: Status
    bar: ProgressBar
    notices: Notices
    choice: gr.Dropdown
    opened: gr.UploadButton
    tables: Tables
    plots: tuple[gr.Plot, ...]
    other: gr.Dropdown
    comparison: Tables
    origin: Tables
    downloads: tuple[gr.DownloadButton, ...]


def lay_out_inputs(context: AppContext) -> Inputs:
    """Lay out the left column."""
    full = context.settings.full_benchmark
    plans = gr.CheckboxGroup(
        list(present_benchmark.PLAN_CHOICES),
        value=[Plan.ENCODER.value, Plan.E2E.value],
        label="Plans",
        elem_id="bench-plans",
    )
    labels = [sample.label for sample in list_samples()]
    samples = gr.CheckboxGroup(labels, value=labels[:1], label="Recordings")
    uploads = gr.File(
        label="Your own, for this session alone",
        file_count="multiple",
        height=150,
        elem_id="bench-uploads",
    )
    checkpoint, precision = lay_out_model(context, others=(SYNTHETIC,) if full else ())
    quick = gr.Checkbox(
        value=True,
        label="Quick run",
        info="Few repetitions, to see that it works." if full else present_benchmark.QUICK_ONLY,
        interactive=full,
    )
    with gr.Row():
        start = gr.Button("Measure", variant="primary", elem_id="bench-start", min_width=120)
        stop = gr.Button("Stop", elem_id="bench-stop", interactive=False, min_width=90)
    return Inputs(plans, samples, uploads, checkpoint, precision, quick, start, stop)


def lay_out_results() -> Results:
    """Lay out the right column."""
    status = Status(present_benchmark.IDLE, elem_id="bench-status")
    bar = ProgressBar(elem_id="bench-progress", visible=False)
    notices = Notices(elem_id="bench-notices", visible=False)
    choice = gr.Dropdown([], label="Report", elem_id="bench-report")
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("Tables", id="bench-tables"):
            tables = Tables(elem_id="bench-tables-panel")
        with gr.Tab("Charts", id="bench-charts", render_children=True):
            plots = tuple(
                gr.Plot(show_label=False, visible=False, elem_id=f"bench-{name}") for name in PLOTS
            )
        with gr.Tab("Side by side", id="bench-compare"):
            other = gr.Dropdown([], label="Compare with", elem_id="bench-other")
            opened = gr.UploadButton("Open a saved report", size="sm", file_types=[".json"])
            comparison = Tables(elem_id="bench-comparison")
        with gr.Tab("Origin", id="bench-origin"):
            origin = Tables(elem_id="bench-origin-panel")
        with gr.Tab("Downloads", id="bench-downloads"), gr.Row(elem_classes="downloads"):
            downloads = tuple(
                gr.DownloadButton(
                    name,
                    size="sm",
                    interactive=False,
                    min_width=110,
                    elem_id=f"bench-{name.lower()}",
                )
                for name in DOWNLOADS
            )
    return Results(
        status, bar, notices, choice, opened, tables, plots, other, comparison, origin, downloads
    )
