"""The Transcribe tab: handlers that only translate, and their wiring."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import gradio as gr

from moss_demo.engine.pool import Waiting
from moss_demo.errors import EditError, MossDemoError
from moss_demo.serving.context import AppContext
from moss_demo.ui import offer, present
from moss_demo.ui.lanes import with_name
from moss_demo.ui.outcome import Outcome, outcome_of, over
from moss_demo.ui.recording import Recording, open_recording
from moss_demo.ui.revising import carry_out
from moss_demo.ui.samples import Sample
from moss_demo.ui.transcribe_layout import (
    CUSTOM_PROMPT,
    Inputs,
    Results,
    lay_out_inputs,
    lay_out_results,
    waveform_options,
)
from moss_demo.ui.transcribe_results import (
    outputs,
    show_ended,
    show_streaming,
    show_transcript,
    show_view,
    with_files,
)
from moss_demo.ui.transcription import Wishes, prompt_text, transcribe
from moss_demo.ui.wiring import HELPER, ON_DEVICE, Updates, ended, started


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
    """Start, stream, stop, finish, rename and edit."""
    begun_number = gr.State(0)
    nothing: Updates = {results.status: gr.skip()}

    def begin() -> Updates:
        return started(inputs.start, inputs.stop) | {results.status: present.STARTING}

    def end() -> Updates:
        return ended(inputs.start, inputs.stop)

    def stream(values: Updates) -> Iterator[Updates]:
        number = values[begun_number] + 1
        kept: Outcome | None = None
        yield {names: {}, begun_number: number}  # once: names given while the text streams are kept
        try:
            with closing(transcribe(_wishes(inputs, source, values), context)) as snapshots:
                for snapshot in snapshots:
                    if isinstance(snapshot, Waiting):
                        yield {results.status: present.waiting_line(snapshot.place)}
                        continue
                    kept = outcome_of(snapshot, number)
                    yield {outcome: kept} | show_streaming(results, snapshot, number)
        except MossDemoError as error:
            failed = {} if kept is None else {outcome: replace(kept, failure=str(error))}
            yield failed | {results.status: present.failed_line(str(error))}
            raise gr.Error(str(error), print_exception=False) from error

    def finish(values: Updates) -> Updates:
        kept: Outcome | None = values[outcome]
        if kept is None or kept.number != values[begun_number] or kept.run.started is None:
            return {results.status: present.NOT_STARTED}
        kept = with_files(over(kept), values[names])
        return {outcome: kept} | show_ended(results, kept, values[names])

    def fail(values: Updates) -> Updates:
        kept: Outcome | None = values[outcome]
        if kept is None or not kept.failure or kept.revisions is not None:
            return nothing  # stopped, or over before it began
        return finish(values)

    def rename(values: Updates, event: gr.EventData) -> Updates:
        renamed = with_name(values[names], event.speaker, event.name)
        kept: Outcome | None = values[outcome]
        if kept is None or kept.revisions is None:
            return {names: renamed}
        kept = with_files(kept, renamed)
        return {names: renamed, outcome: kept} | show_transcript(results, kept, renamed)

    def revise(values: Updates, event: gr.EventData) -> Updates:
        kept: Outcome | None = values[outcome]
        if kept is None or kept.revisions is None:
            return nothing
        try:
            revisions = carry_out(kept.revisions, event.asked, kept.run.duration_s)
        except EditError as error:
            return {results.timeline: show_view(kept, values[names], str(error))}
        kept = with_files(replace(kept, revisions=revisions), values[names])
        return {outcome: kept} | show_transcript(results, kept, values[names])

    buttons = [inputs.start, inputs.stop]
    shown = [outcome, *outputs(results)]
    asked = {
        begun_number,
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
    job = begun.then(stream, asked, [names, begun_number, *shown], **HELPER, **ON_DEVICE)
    known = {outcome, names, begun_number}
    for event, handler in ((job.then, finish), (job.failure, fail)):
        settled = event(handler, known, shown, **HELPER)
        for either in (settled.then, settled.failure):
            either(end, None, buttons, queue=False, **HELPER)
    inputs.stop.click(None, None, None, cancels=[job], api_visibility="private")
    results.timeline.rename(rename, known, [names, *shown], **HELPER)
    results.timeline.revise(revise, known, shown, **HELPER)


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
