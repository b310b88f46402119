"""Components of the Compare tab and where they stand. No handler lives here."""

from dataclasses import dataclass

import gradio as gr

from moss_demo.serving.context import AppContext
from moss_demo.ui import present, present_comparison
from moss_demo.ui.data_panels import Tables
from moss_demo.ui.panels import Diff, Notices, Status, Tiles
from moss_demo.ui.present_numbers import TENSORS_IDLE
from moss_demo.ui.samples import Sample, lay_out_samples
from moss_demo.ui.timeline import Timeline
from moss_demo.ui.transcribe_layout import lay_out_player
from moss_demo.ui.ways import Ways, explain_ways, lay_out_model, lay_out_ways

PLAYER_ID = "compare-recording"


@dataclass(frozen=True, slots=True)
class SideInputs:
    """What makes one side: an engine, or a saved transcript that replaces it."""

    checkpoint: gr.Dropdown
    precision: gr.Dropdown
    ways: Ways
    saved: gr.File


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a visitor sets."""

    player: gr.Audio
    samples: tuple[tuple[Sample, gr.Button], ...]
    sides: tuple[SideInputs, SideInputs]
    start: gr.Button
    stop: gr.Button


@dataclass(frozen=True, slots=True)
class Numbers:
    """What lies behind the transcripts: tensors when asked for, and weights in formats."""

    ask: gr.Button
    stop: gr.Button
    status: Status
    tensors: Tables
    lines: Notices
    weights: Tables


@dataclass(frozen=True, slots=True)
class Results:
    """What a visitor sees."""

    status: Status
    titles: tuple[Status, Status]
    timelines: tuple[Timeline, Timeline]
    verdict: Tiles
    notices: Notices
    diff: Diff
    axis_plot: gr.Plot
    drift_plot: gr.Plot
    figures: Tables
    numbers: Numbers
    downloads: tuple[gr.DownloadButton, gr.DownloadButton, gr.DownloadButton]


def lay_out_inputs(context: AppContext) -> Inputs:
    """Lay out the recording and the two sides."""
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            player = lay_out_player(PLAYER_ID)
            samples = lay_out_samples()
        with gr.Column(scale=4, min_width=280):
            first = _lay_out_side(context, "A", "the reference", "fp32")
        with gr.Column(scale=4, min_width=280):
            second = _lay_out_side(context, "B", "the candidate", "bf16")
    explain_ways(context)
    with gr.Row():
        start = gr.Button("Compare", variant="primary", elem_id="compare-start", min_width=120)
        stop = gr.Button("Stop", elem_id="compare-stop", interactive=False, min_width=90)
    return Inputs(player, samples, (first, second), start, stop)


def _lay_out_side(context: AppContext, letter: str, role: str, precision: str) -> SideInputs:
    gr.Markdown(f"**{letter}, {role}**")
    model = lay_out_model(context, others=context.remote_choices(), precision=precision)
    ways = lay_out_ways(context)
    saved = gr.File(
        label=f"Or a saved transcript as {letter}",
        file_count="single",
        height=160,
        elem_id=f"saved-{letter.lower()}",
    )
    return SideInputs(*model, ways, saved)


def lay_out_results() -> Results:
    """Lay out the verdict above the two transcripts and what explains it."""
    status = Status(present.COMPARE_IDLE, elem_id="compare-status")
    verdict = Tiles(elem_id="verdict")
    notices = Notices(elem_id="verdict-notices", visible=False)
    with gr.Row(equal_height=False):
        with gr.Column(min_width=320):
            first_title = Status("A", elem_id="title-a")
            first = Timeline(audio_id=PLAYER_ID, side="A", elem_id="timeline-a")
        with gr.Column(min_width=320):
            second_title = Status("B", elem_id="title-b")
            second = Timeline(audio_id=PLAYER_ID, side="B", elem_id="timeline-b")
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("Words"):
            diff = Diff(present_comparison.NO_WORDS, elem_id="diff")
        with gr.Tab("One axis"):
            axis_plot = gr.Plot(show_label=False, visible=False, elem_id="axis-plot")
            drift_plot = gr.Plot(show_label=False, visible=False, elem_id="drift-plot")
        with gr.Tab("Figures"):
            figures = Tables(present_comparison.NO_FIGURES, elem_id="compare-figures")
        with gr.Tab("Numbers"):
            numbers = _lay_out_numbers()
        with gr.Tab("Downloads"), gr.Row(elem_classes="downloads"):
            downloads = (
                gr.DownloadButton("Verdict as JSON", size="sm", interactive=False),
                gr.DownloadButton("A as JSON", size="sm", interactive=False),
                gr.DownloadButton("B as JSON", size="sm", interactive=False),
            )
    return Results(
        status,
        (first_title, second_title),
        (first, second),
        verdict,
        notices,
        diff,
        axis_plot,
        drift_plot,
        figures,
        numbers,
        downloads,
    )


def _lay_out_numbers() -> Numbers:
    with gr.Row():
        ask = gr.Button("Compare number by number", interactive=False, elem_id="tensors-start")
        stop = gr.Button("Stop", interactive=False, elem_id="tensors-stop", min_width=90)
    status = Status(TENSORS_IDLE, elem_id="tensors-status")
    tensors = Tables(elem_id="tensors")
    lines = Notices(elem_id="weight-lines", visible=False)
    weights = Tables(elem_id="weights")
    return Numbers(ask, stop, status, tensors, lines, weights)
