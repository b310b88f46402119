"""The Transcribe tab: handlers that only translate, and their wiring."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

import gradio as gr

from moss_demo.domain.events import Run
from moss_demo.domain.figures import run_figures
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.pool import Waiting
from moss_demo.errors import MossDemoError
from moss_demo.ui import offer, present
from moss_demo.ui.context import AppContext, Sample
from moss_demo.ui.figures import talk_time_figure, timeline_figure
from moss_demo.ui.files import write_charts, write_exports
from moss_demo.ui.lanes import with_name
from moss_demo.ui.recording import Recording, open_recording
from moss_demo.ui.timeline import TimelineStatus, timeline_update
from moss_demo.ui.transcribe_layout import (
    CUSTOM_PROMPT,
    Inputs,
    Results,
    lay_out_inputs,
    lay_out_results,
    waveform_options,
)
from moss_demo.ui.transcription import Snapshot, Wishes, prompt_text, transcribe
from moss_demo.ui.wiring import HELPER, ON_DEVICE, Updates, ended, started


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the session keeps of its last run: values only, no samples and no model.

    Attributes:
        run: finished, stopped or still running.
        engine: what ran, or None when the run ended before that was known.
        load_s: seconds of loading, or None when the engine was resident.
        clip_warnings: what the decoder had to say.
        number: counts the session's runs, so that the view knows when to start over.
        compile_s: seconds of compiling, or None when nothing was to compile.
    """

    run: Run
    engine: EngineInfo | None
    load_s: float | None
    clip_warnings: tuple[str, ...]
    number: int
    compile_s: float | None


def build(context: AppContext) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it."""
    source, outcome = gr.State(None), gr.State(None)
    names = gr.State({})
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            inputs = lay_out_inputs(context)
            with inputs.offer_slot:
                offer.build(context, inputs.checkpoint, inputs.notice)
        with gr.Column(scale=8, min_width=320):
            results = lay_out_results()
    _wire_recording(context, inputs, results, source)
    _wire_settings(inputs)
    _wire_run(context, inputs, results, source, outcome, names)


def _wire_recording(
    context: AppContext, inputs: Inputs, results: Results, source: gr.State
) -> None:
    """Everything that brings a recording into the player."""

    def open_file(path: str | None, before: Recording | None) -> Updates:
        if not path:
            return {source: None, results.status: present.IDLE}
        try:
            recording = open_recording(path, context.settings.max_duration_s)
        except MossDemoError as error:
            gr.Warning(str(error))
            return {
                inputs.player: None if before is None else before.player,
                results.status: present.failed_line(str(error)),
            }
        updates: Updates = {
            source: recording,
            results.status: present.ready_line(recording.duration_s, recording.warnings),
        }
        options = waveform_options(drawn=recording.has_waveform)
        if recording.player != path:
            updates[inputs.player] = gr.Audio(recording.player, waveform_options=options)
        elif not recording.has_waveform:
            updates[inputs.player] = gr.Audio(waveform_options=options)
        return updates

    def open_other(path: str, before: Recording | None) -> Updates:
        return {inputs.player: path} | open_file(path, before)

    def open_sample(sample: Sample) -> Updates:
        return open_other(str(sample.path), None)

    outputs = [source, results.status, inputs.player]
    inputs.player.input(open_file, [inputs.player, source], outputs, **HELPER)
    inputs.other_file.upload(open_other, [inputs.other_file, source], outputs, **HELPER)
    for sample, button in inputs.samples:
        button.click(lambda s=sample: open_sample(s), None, outputs, **HELPER)


def _wire_settings(inputs: Inputs) -> None:
    inputs.prompt.change(
        lambda preset: gr.Textbox(visible=preset == CUSTOM_PROMPT),
        inputs.prompt,
        inputs.custom_prompt,
        api_visibility="private",
        queue=False,
    )
    inputs.checkpoint.change(
        present.checkpoint_notice,
        inputs.checkpoint,
        inputs.notice,
        api_visibility="private",
        queue=False,
    )


def _wire_run(
    context: AppContext,
    inputs: Inputs,
    results: Results,
    source: gr.State,
    outcome: gr.State,
    names: gr.State,
) -> None:
    """Start, stream, stop, finish and rename."""

    def begin() -> Updates:
        return started(inputs.start, inputs.stop) | {results.status: present.STARTING}

    def end() -> Updates:
        return ended(inputs.start, inputs.stop)

    def stream(values: Updates) -> Iterator[Updates]:
        number = values[outcome].number + 1 if values[outcome] else 1
        kept: Outcome | None = None
        yield {names: {}}  # once: names given while the text streams are kept
        try:
            with closing(transcribe(_wishes(inputs, source, values), context)) as snapshots:
                for snapshot in snapshots:
                    if isinstance(snapshot, Waiting):
                        yield {results.status: present.waiting_line(snapshot.place)}
                        continue
                    kept = Outcome(
                        snapshot.run,
                        snapshot.engine,
                        snapshot.load_s,
                        snapshot.clip_warnings,
                        number,
                        snapshot.compile_s,
                    )
                    yield {outcome: kept} | _streaming(results, snapshot, number)
        except MossDemoError as error:
            partial = {} if kept is None else _finished(results, kept, {})
            yield partial | {results.status: present.failed_line(str(error))}
            raise gr.Error(str(error), print_exception=False) from error

    def finish(values: Updates) -> Updates:
        kept: Outcome | None = values[outcome]
        if kept is None or kept.run.started is None:
            return {results.status: present.NOT_STARTED}
        return _finished(results, kept, values[names])

    def rename(values: Updates, event: gr.EventData) -> Updates:
        renamed = with_name(values[names], event.speaker, event.name)
        kept: Outcome | None = values[outcome]
        updates = {} if kept is None else _named(results, kept, renamed)
        return {names: renamed} | updates

    buttons = [inputs.start, inputs.stop]
    shown = [
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
    asked = {
        outcome,
        source,
        inputs.player,
        inputs.checkpoint,
        inputs.precision,
        inputs.ways.decode,
        inputs.ways.encoder,
        inputs.prompt,
        inputs.custom_prompt,
        inputs.hotwords,
        inputs.max_new_tokens,
        inputs.speech_gate,
    }
    begun = inputs.start.click(begin, None, [*buttons, results.status], queue=False, **HELPER)
    job = begun.then(
        stream,
        asked,
        [outcome, names, *shown],
        **HELPER,
        **ON_DEVICE,
    )
    job.then(finish, {outcome, names}, shown, **HELPER).then(
        end, None, buttons, queue=False, **HELPER
    )
    job.failure(end, None, buttons, queue=False, **HELPER)
    inputs.stop.click(None, None, None, cancels=[job], api_visibility="private")
    results.timeline.rename(rename, {outcome, names}, [names, *shown], **HELPER)


def _recording_path(player: str | None, recording: Recording | None) -> str | None:
    """Return the file to transcribe: the visitor's own one behind what the player holds."""
    if player is None or recording is None:
        return player
    return recording.source


def _wishes(inputs: Inputs, source: gr.State, values: Updates) -> Wishes:
    return Wishes(
        path=_recording_path(values[inputs.player], values[source]),
        checkpoint=values[inputs.checkpoint],
        precision=values[inputs.precision],
        decode=values[inputs.ways.decode],
        encoder_compile=values[inputs.ways.encoder],
        prompt=prompt_text(values[inputs.prompt], values[inputs.custom_prompt] or ""),
        hotwords=values[inputs.hotwords] or "",
        max_new_tokens=values[inputs.max_new_tokens] or "",
        speech_gate=values[inputs.speech_gate],
        duration_s=None if values[source] is None else values[source].duration_s,
    )


def _streaming(results: Results, snapshot: Snapshot, number: int) -> Updates:
    """Show a run in progress: transcript and figures, nothing that is costly to draw."""
    run = snapshot.run
    return {
        results.status: snapshot.status,
        results.engine: "" if snapshot.engine is None else present.engine_line(snapshot.engine),
        results.timeline: timeline_update(run, number=number, names={}),
        results.notices: gr.HTML(visible=False),
        results.figures: list(run_figures(run, snapshot.load_s, snapshot.compile_s)),
    }


def _finished(results: Results, kept: Outcome, names: dict[str, str]) -> Updates:
    """Show everything about a run that ended by itself or by a stop."""
    run = kept.run
    warnings = present.warning_rows(run, kept.clip_warnings, kept.engine)
    status = present.stopped_line(run) if run.finished is None else present.status_line(run)
    return {
        results.status: status,
        results.notices: gr.HTML(value=warnings, visible=bool(warnings)),
        results.figures: list(run_figures(run, kept.load_s, kept.compile_s)),
        results.raw: run.raw,
    } | _named(results, kept, names)


def _named(results: Results, kept: Outcome, names: dict[str, str]) -> Updates:
    """Show and write everything that carries a speaker's name."""
    run = kept.run
    files = write_exports(run, names, {} if kept.engine is None else kept.engine.record())
    status = TimelineStatus.STOPPED if run.finished is None else None
    charts = (
        timeline_figure(run.transcript, run.duration_s, names),
        talk_time_figure(run.transcript, run.duration_s, names),
    )
    return {
        results.timeline: timeline_update(run, number=kept.number, names=names, status=status),
        results.download_notes: present.download_notes(run, names),
        results.timeline_plot: charts[0],
        results.talk_time_plot: charts[1],
        results.charts_file: gr.DownloadButton(
            value=write_charts(run.clip_name, charts), interactive=True
        ),
    } | {
        button: gr.DownloadButton(value=files[fmt], interactive=True)
        for fmt, button in results.downloads
    }
