"""Components of the Transcribe tab and where they stand. No handler lives here."""

from dataclasses import dataclass

import gradio as gr

from moss_demo.domain.exports import ExportFormat
from moss_demo.domain.prompts import PromptPreset
from moss_demo.serving.context import AppContext
from moss_demo.ui import present
from moss_demo.ui.panels import HistoryList, Notices, Status, Tiles
from moss_demo.ui.samples import Sample, lay_out_samples
from moss_demo.ui.timeline import Timeline
from moss_demo.ui.ways import Ways, explain_ways, lay_out_model, lay_out_ways

PLAYER_ID = "recording"
CUSTOM_PROMPT = "custom"
PROMPT_CHOICES = [
    ("Checkpoint's own", PromptPreset.DEFAULT.value),
    ("Published, Chinese", PromptPreset.CHINESE.value),
    ("Published, English", PromptPreset.ENGLISH.value),
    ("Speaker labels only", PromptPreset.SPEAKERS.value),
    ("Custom", CUSTOM_PROMPT),
]


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a visitor sets."""

    player: gr.Audio
    other_file: gr.UploadButton
    samples: tuple[tuple[Sample, gr.Button], ...]
    checkpoint: gr.Dropdown
    precision: gr.Dropdown
    ways: Ways
    prompt: gr.Dropdown
    custom_prompt: gr.Textbox
    hotwords: gr.Textbox
    max_new_tokens: gr.Textbox
    speech_gate: gr.Checkbox
    start: gr.Button
    stop: gr.Button
    notice: gr.Markdown
    offer_slot: gr.Column


@dataclass(frozen=True, slots=True)
class Results:
    """What a visitor sees."""

    status: Status
    engine: Status
    timeline: Timeline
    notices: Notices
    figures: Tiles
    downloads: tuple[tuple[ExportFormat, gr.DownloadButton], ...]
    download_notes: Status
    timeline_plot: gr.Plot
    talk_time_plot: gr.Plot
    charts_file: gr.DownloadButton
    raw: gr.Textbox
    history: HistoryList


def lay_out_inputs(context: AppContext) -> Inputs:
    """Lay out the left column."""
    player = lay_out_player(PLAYER_ID)
    other_file = gr.UploadButton("Open a video or any other file", size="sm", variant="secondary")
    samples = lay_out_samples()
    checkpoint, precision = lay_out_model(context)
    notice = gr.Markdown(
        present.checkpoint_notice(context.default_checkpoint()), elem_classes="hint"
    )
    offer_slot = gr.Column(min_width=0)
    with gr.Accordion("More settings", open=False):  # what is above leaves Start in first sight
        ways = lay_out_ways(context)
        explain_ways(context)
        prompt = gr.Dropdown(PROMPT_CHOICES, value=PromptPreset.DEFAULT.value, label="Prompt")
        custom_prompt = gr.Textbox(label="Custom prompt", lines=3, visible=False)
        hotwords = gr.Textbox(
            label="Hotwords",
            placeholder="Separated by commas",
            info="Names and terms that the recording is likely to mention.",
        )
        max_new_tokens = gr.Textbox(
            label="Token budget",
            placeholder="From the duration",
            info="Leave empty to derive it from the duration.",
            max_lines=1,
        )
        speech_gate = gr.Checkbox(
            value=True,
            label="Look for speech first",
            info="Silence, tones and noise end at once instead of being transcribed.",
        )
    with gr.Row():
        start = gr.Button("Transcribe", variant="primary", elem_id="start", min_width=120)
        stop = gr.Button(
            "Stop", variant="secondary", elem_id="stop", min_width=90, interactive=False
        )
    return Inputs(
        player,
        other_file,
        samples,
        checkpoint,
        precision,
        ways,
        prompt,
        custom_prompt,
        hotwords,
        max_new_tokens,
        speech_gate,
        start,
        stop,
        notice,
        offer_slot,
    )


def lay_out_player(elem_id: str) -> gr.Audio:
    """Lay out what takes a recording and plays it."""
    return gr.Audio(
        label="Recording",
        sources=["upload", "microphone"],
        type="filepath",
        buttons=["download"],  # Share would put the recording on a public server
        elem_id=elem_id,
        interactive=True,
        waveform_options=waveform_options(drawn=True),
    )


def waveform_options(*, drawn: bool) -> gr.WaveformOptions:
    """Return the player's look; without a drawn waveform it is the browser's own player."""
    return gr.WaveformOptions(
        waveform_color="#94a3b8", waveform_progress_color="#2563eb", show_recording_waveform=drawn
    )


def lay_out_results() -> Results:
    """Lay out the right column."""
    status = Status(present.IDLE, elem_id="status")
    timeline = Timeline(audio_id=PLAYER_ID, elem_id="timeline")
    notices = Notices(elem_id="notices", visible=False)
    with gr.Tabs(overflow_behavior="wrap"):
        with gr.Tab("Figures", id="figures"):
            figures = Tiles(present.NO_FIGURES, elem_id="figures")
            engine = Status("", elem_id="engine")
        with gr.Tab("Downloads", id="downloads"):
            download_notes = Status(f"{present.DOWNLOADS}.", elem_id="download-notes")
            with gr.Row(elem_classes="downloads"):
                downloads = tuple(
                    (
                        fmt,
                        gr.DownloadButton(
                            fmt.label,
                            size="sm",
                            interactive=False,
                            min_width=110,
                            elem_id=f"download-{fmt.value}",
                        ),
                    )
                    for fmt in ExportFormat
                )
        with gr.Tab("Charts", id="charts", render_children=True):
            timeline_plot = gr.Plot(show_label=False, visible=False, elem_id="timeline-plot")
            talk_time_plot = gr.Plot(show_label=False, visible=False, elem_id="talk-time-plot")
            charts_file = gr.DownloadButton(
                "Save both charts as a web page",
                size="sm",
                interactive=False,
                elem_id="charts-file",
            )
        with gr.Tab("Raw text", id="raw"):
            raw = gr.Textbox(
                label="Text as the model wrote it",
                lines=8,
                max_lines=20,
                interactive=False,
                buttons=["copy"],
                elem_id="raw",
            )
        with gr.Tab("History", id="history", render_children=True):
            history = HistoryList(elem_id="history")
    return Results(
        status,
        engine,
        timeline,
        notices,
        figures,
        downloads,
        download_notes,
        timeline_plot,
        talk_time_plot,
        charts_file,
        raw,
        history,
    )
