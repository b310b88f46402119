"""The runs of a visit on the Transcribe tab: open one again, delete one, compare two."""

from pathlib import Path

import gradio as gr

from moss_demo.domain.events import Run
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.errors import MossDemoError, RequestError
from moss_demo.ui import present
from moss_demo.ui.files import discard, safe_stem, write_text
from moss_demo.ui.handover import ComparisonFiles
from moss_demo.ui.outcome import Outcome
from moss_demo.ui.recording import Recording
from moss_demo.ui.session import history_rows, run_numbered, side_chosen, without
from moss_demo.ui.transcribe_layout import Inputs, Results, waveform_options
from moss_demo.ui.transcribe_results import (
    draw_charts,
    outputs,
    show_ended,
    show_nothing,
    with_files,
)
from moss_demo.ui.transcribe_states import States, remembered
from moss_demo.ui.wiring import HELPER, IN_TURN, Phase, Updates, in_toast


def wire_history(inputs: Inputs, results: Results, states: States, handed: gr.State) -> None:
    """Wire the list of runs.

    Args:
        inputs: the player takes the recording of a run that is opened again.
        results: where the run is shown.
        states: of this visit.
        handed: takes the two sides of a comparison.
    """
    nothing: Updates = {results.status: gr.skip()}

    def reopen(values: Updates, event: gr.EventData) -> Updates:
        if values[states.phase] is not Phase.IDLE:
            gr.Info(present.BUSY)
            return nothing
        try:
            kept = run_numbered(values[states.history], event.number)
        except RequestError as error:
            gr.Warning(in_toast(error))
            return nothing
        charts = draw_charts(kept)
        if kept.files is None or not Path(kept.files.folder).is_dir():
            kept = with_files(kept, charts)  # an idle visit's files are cleared away
        recording = _still_there(kept.recording)
        if recording is None:
            gr.Info(present.SOUND_GONE)
        return (
            remembered(states, results, values, kept)
            | {states.names: dict(kept.names), states.source: recording}
            | {inputs.player: _player(recording)}
            | show_ended(results, kept, charts)
        )

    def forget(values: Updates, event: gr.EventData) -> Updates:
        view: Outcome | None = values[states.outcome]
        number = None if view is None else view.number
        if values[states.phase] is not Phase.IDLE and number == event.number:
            gr.Info(present.BUSY)
            return nothing
        for kept in values[states.history]:
            if kept.number == event.number:
                discard(kept.files)
        history = without(values[states.history], event.number)
        updates = {states.history: history, results.history: history_rows(history, number)}
        if number != event.number:
            return updates
        return updates | {states.outcome: None, states.names: {}} | show_nothing(results)

    def contrast(values: Updates, event: gr.EventData) -> Updates:
        try:
            first, second = (
                side_chosen(values[states.history], choice)
                for choice in (event.first, event.second)
            )
            recording = _still_there(first[0].recording)
            player = None if recording is None else recording.player
            return {handed: ComparisonFiles(player, _saved(*first), _saved(*second))}
        except MossDemoError as error:
            gr.Warning(in_toast(error))
            return {handed: gr.skip()}

    shown = [
        states.outcome,
        states.names,
        states.source,
        states.history,
        results.history,
        inputs.player,
        *outputs(results),
    ]
    results.history.reopen(reopen, states.of_results, shown, **HELPER, **IN_TURN)
    results.history.forget(forget, states.of_results, shown, **HELPER, **IN_TURN)
    results.history.contrast(contrast, states.of_results, handed, **HELPER)


def _still_there(recording: Recording | None) -> Recording | None:
    if recording is None or not Path(recording.player).is_file():
        return None
    return recording if Path(recording.source).is_file() else None


def _player(recording: Recording | None) -> gr.Audio:
    if recording is None:
        return gr.Audio(None)
    options = waveform_options(drawn=recording.has_waveform)
    return gr.Audio(recording.player, waveform_options=options)


def _saved(outcome: Outcome, run: Run) -> str:
    """Write one side: a run of this visit, as written or as edited."""
    stem = safe_stem(run.clip_name)
    figures = {} if outcome.engine is None else outcome.engine.record()
    text = export(
        run.transcript,
        ExportFormat.JSON,
        name=stem,
        duration_s=run.duration_s,
        run=run,
        figures=figures,
    )
    version = "edited" if run.transcript != outcome.run.transcript else "run"
    return write_text(f"{stem}.{version}-{outcome.number}.json", text)
