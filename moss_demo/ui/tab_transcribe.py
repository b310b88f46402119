"""The Transcribe tab: handlers that only translate, and their wiring."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import gradio as gr

from moss_demo.engine.pool import Waiting
from moss_demo.errors import EditError, MossDemoError
from moss_demo.serving.context import AppContext
from moss_demo.ui import offer, present
from moss_demo.ui.lanes import namesake, speaker_name, with_name
from moss_demo.ui.outcome import Outcome, outcome_of, over
from moss_demo.ui.recording import Recording, open_recording
from moss_demo.ui.revising import carry_out
from moss_demo.ui.samples import Sample
from moss_demo.ui.transcribe_history import wire_history
from moss_demo.ui.transcribe_layout import (
    CUSTOM_PROMPT,
    Inputs,
    Results,
    lay_out_inputs,
    lay_out_results,
    waveform_options,
)
from moss_demo.ui.transcribe_results import (
    draw_charts,
    outputs,
    show_begun,
    show_ended,
    show_streaming,
    show_transcript,
    show_view,
    with_files,
)
from moss_demo.ui.transcribe_states import States, make_states, remembered
from moss_demo.ui.transcription import Wishes, prompt_text, transcribe
from moss_demo.ui.wiring import (
    HELPER,
    IN_TURN,
    ON_DEVICE,
    Updates,
    as_toast,
    ended,
    in_toast,
    started,
)


def build(context: AppContext, handed: gr.State) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it.

    Args:
        context: the server's.
        handed: takes the `ComparisonFiles` of two runs that are to be compared.
    """
    states = make_states()
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            inputs = lay_out_inputs(context)
            with inputs.offer_slot:
                offer.build(context, inputs.checkpoint, inputs.notice)
        with gr.Column(scale=8, min_width=320):
            results = lay_out_results()
    _wire_recording(context, inputs, results, states.source)
    _wire_settings(inputs)
    _wire_run(context, inputs, results, states)
    _wire_changes(results, states)
    wire_history(inputs, results, states, handed)


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
            gr.Warning(in_toast(error))
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


def _wire_run(context: AppContext, inputs: Inputs, results: Results, states: States) -> None:
    """Start, stream, stop and finish."""
    nothing: Updates = {results.status: gr.skip()}

    def begin() -> Updates:
        buttons = started(inputs.start, inputs.stop)
        return buttons | {results.status: present.STARTING, states.running: True}

    def end() -> Updates:
        return ended(inputs.start, inputs.stop) | {states.running: False}

    def stream(values: Updates) -> Iterator[Updates]:
        number = values[states.begun] + 1
        kept: Outcome | None = None
        # Once: names given while the text streams are kept.
        yield {states.names: {}, states.begun: number}
        try:
            with closing(transcribe(_wishes(inputs, states.source, values), context)) as snapshots:
                fresh = show_begun(results)
                for snapshot in snapshots:
                    if isinstance(snapshot, Waiting):
                        yield {results.status: present.waiting_line(snapshot.place)}
                        continue
                    kept = outcome_of(snapshot, number, values[states.source])
                    yield {states.outcome: kept} | fresh | show_streaming(results, snapshot, number)
                    fresh = {}
        except MossDemoError as error:
            failed = {} if kept is None else {states.outcome: replace(kept, failure=str(error))}
            yield failed | {results.status: present.failed_line(str(error))}
            raise as_toast(error) from error

    def finish(values: Updates) -> Updates:
        kept: Outcome | None = values[states.outcome]
        if kept is None or kept.number != values[states.begun] or kept.run.started is None:
            return {results.status: present.NOT_STARTED}
        kept = over(kept, values[states.names], datetime.now(UTC))
        charts = draw_charts(kept)
        kept = with_files(kept, charts)
        return remembered(states, results, values, kept) | show_ended(results, kept, charts)

    def fail(values: Updates) -> Updates:
        kept: Outcome | None = values[states.outcome]
        if kept is None or not kept.failure or kept.revisions is not None:
            return nothing  # stopped, or over before it began
        return finish(values)

    buttons = [inputs.start, inputs.stop]
    shown = [states.outcome, states.history, results.history, *outputs(results)]
    asked = {
        states.begun,
        states.source,
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
    begun = inputs.start.click(
        begin, None, [*buttons, results.status, states.running], queue=False, **HELPER
    )
    streamed = [states.outcome, states.names, states.begun, *outputs(results)]
    job = begun.then(stream, asked, streamed, **HELPER, **ON_DEVICE)
    for event, handler in ((job.then, finish), (job.failure, fail)):
        settled = event(handler, states.of_results, shown, **HELPER, **IN_TURN)
        for either in (settled.then, settled.failure):
            either(end, None, [*buttons, states.running], queue=False, **HELPER)
    inputs.stop.click(None, None, None, cancels=[job], api_visibility="private")


def _wire_changes(results: Results, states: States) -> None:
    """Rename speakers and edit segments."""
    nothing: Updates = {results.status: gr.skip()}

    def rename(values: Updates, event: gr.EventData) -> Updates:
        names = with_name(values[states.names], event.speaker, event.name)
        kept: Outcome | None = values[states.outcome]
        if kept is None:
            return {states.names: names}
        labels = kept.shown.transcript.speakers
        if namesake(labels, names, event.speaker) is not None:
            gr.Warning(in_toast(present.namesake_line(speaker_name(event.speaker, names))))
        if kept.revisions is None:
            return {states.names: names}
        return {states.names: names} | changed(values, replace(kept, names=names))

    def revise(values: Updates, event: gr.EventData) -> Updates:
        kept: Outcome | None = values[states.outcome]
        if kept is None or kept.revisions is None:
            return nothing
        try:
            revisions = carry_out(kept.revisions, event.asked, kept.run.duration_s)
        except EditError as error:
            return {results.timeline: show_view(kept, str(error))}
        return changed(values, replace(kept, revisions=revisions))

    def changed(values: Updates, kept: Outcome) -> Updates:
        charts = draw_charts(kept)
        kept = with_files(kept, charts)
        return remembered(states, results, values, kept) | show_transcript(results, kept, charts)

    shown = [states.outcome, states.history, results.history, *outputs(results)]
    results.timeline.rename(
        rename,
        states.of_results,
        [states.names, *shown],
        trigger_mode="multiple",  # a second name must not be lost while the first is written
        **HELPER,
        **IN_TURN,
    )
    results.timeline.revise(revise, states.of_results, shown, **HELPER, **IN_TURN)


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
