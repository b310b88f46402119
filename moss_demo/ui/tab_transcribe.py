"""The Transcribe tab: handlers that only translate, and their wiring."""

from collections.abc import Generator
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
from moss_demo.ui.recording import Recording, open_recording, recording_of
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
    Job,
    Phase,
    Switch,
    Updates,
    in_toast,
    wire_run,
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
        """Open what the player holds, if it is not what was opened last."""
        if not path:
            return unchanged if before is None else {source: None, results.status: present.IDLE}
        if recording_of(path, before) is not None:
            return unchanged
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

    unchanged: Updates = {results.status: gr.skip()}
    outputs = [source, results.status, inputs.player]
    # Every change of the player, a trim as well, and the last one in the end.
    inputs.player.change(open_file, [inputs.player, source], outputs, **HELPER)
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

    def stream(values: Updates) -> Generator[Updates, None, None]:
        number = values[states.begun] + 1
        kept: Outcome | None = None
        yield {states.begun: number}
        source = recording_of(values[inputs.player], values[states.source])
        # Once: names given while the text streams are kept.
        fresh = show_begun(results) | {states.names: {}}
        try:
            with closing(transcribe(_wishes(inputs, source, values), context)) as snapshots:
                for snapshot in snapshots:
                    if isinstance(snapshot, Waiting):
                        yield {results.status: present.waiting_line(snapshot.place)}
                        continue
                    if snapshot.run.started is None:  # the run before stays in view until then
                        yield {results.status: snapshot.status}
                        continue
                    kept = outcome_of(snapshot, number, source)
                    yield {states.outcome: kept} | fresh | show_streaming(results, snapshot, number)
                    fresh = {}
        except MossDemoError as error:
            if kept is not None:
                yield {states.outcome: replace(kept, failure=str(error))}
            raise

    def settle(values: Updates) -> Updates:
        kept: Outcome | None = values[states.outcome]
        if kept is not None and kept.number == values[states.begun] and kept.revisions is None:
            kept = over(kept, values[states.names], datetime.now(UTC))
            charts = draw_charts(kept)
            kept = with_files(kept, charts)
            return remembered(states, results, values, kept) | show_ended(results, kept, charts)
        is_told = values[states.phase] is Phase.BROKEN
        return {results.status: gr.skip() if is_told else present.NOT_STARTED}

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
    streamed = [states.outcome, states.names, states.begun, *outputs(results)]
    settled = [states.outcome, states.history, results.history, *outputs(results)]
    job = Job(stream, asked, streamed, settle, states.of_results, settled, IN_TURN)
    switch = Switch(inputs.start, inputs.stop, results.status, states.phase)
    wire_run(switch, [inputs.start.click], job)


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


def _wishes(inputs: Inputs, source: Recording | None, values: Updates) -> Wishes:
    return Wishes(
        path=values[inputs.player] if source is None else source.source,
        checkpoint=values[inputs.checkpoint],
        precision=values[inputs.precision],
        decode=values[inputs.ways.decode],
        encoder_compile=values[inputs.ways.encoder],
        prompt=prompt_text(values[inputs.prompt], values[inputs.custom_prompt] or ""),
        hotwords=values[inputs.hotwords] or "",
        max_new_tokens=values[inputs.max_new_tokens] or "",
        speech_gate=values[inputs.speech_gate],
        duration_s=None if source is None else source.duration_s,
    )
