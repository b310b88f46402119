"""The Compare tab: handlers that only translate, and their wiring."""

import json
from collections.abc import Generator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import gradio as gr

from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.errors import RequestError
from moss_demo.scoring.report import verdict_dict
from moss_demo.scoring.tensor_parity import StageParity
from moss_demo.scoring.verdict import ParityVerdict
from moss_demo.serving.context import AppContext
from moss_demo.ui import present, present_comparison, present_numbers
from moss_demo.ui.compare_layout import Inputs, Results, lay_out_inputs, lay_out_results
from moss_demo.ui.comparison import Comparison, SideChoice, SideState, compare
from moss_demo.ui.data_panels import one_table
from moss_demo.ui.figures import axis_figure, drift_figure
from moss_demo.ui.files import safe_stem, write_text
from moss_demo.ui.handover import ComparisonFiles
from moss_demo.ui.tensor_question import TensorQuestion, answer, question_of
from moss_demo.ui.timeline import TimelineStatus, empty_update, timeline_update
from moss_demo.ui.visitor import hold
from moss_demo.ui.wiring import HELPER, Job, Phase, Switch, Updates, as_toast, wire_run, withdrawn

BROKEN_OFF = {Phase.RUNNING: TimelineStatus.STOPPED, Phase.BROKEN: TimelineStatus.FAILED}
"""What a side is whose run has no end, by how far the comparison was."""


def build(context: AppContext, handed: gr.State) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it.

    Args:
        context: the server's.
        handed: `ComparisonFiles` of another tab, shown as soon as they come.
    """
    number, question, phase = gr.State(0), gr.State(None), gr.State(Phase.IDLE)
    kept = gr.State(None)
    inputs = lay_out_inputs(context)
    results = lay_out_results()
    for sample, button in inputs.samples:
        button.click(lambda path=str(sample.path): path, None, inputs.player, **HELPER)
    numbers = _wire_numbers(context, results, question)

    def stream(values: Updates) -> Generator[Updates, None, None]:
        count = values[number] + 1
        fresh: Updates = {number: count} | _cleared(results)
        choices = _choices(context, inputs, values)
        recording = values[inputs.player]
        open_request = partial(_request, context, recording)
        with closing(compare(choices, open_request, context.pool)) as states:
            for state in states:
                if not state.sides:  # the comparison before stays in view until then
                    yield {results.status: state.status}
                    continue
                asked = question_of(choices, state, recording)
                ask = gr.Button(interactive=asked is not None)
                shown = _shown(results, state, count)
                yield fresh | shown | {kept: state, question: asked, results.numbers.ask: ask}
                fresh = {}

    def settle(values: Updates) -> Updates:
        """Show both sides once more: of updates in quick succession the page may lose the last."""
        state: Comparison | None = values[kept]
        stopped = values[phase] is Phase.RUNNING
        broken_off = BROKEN_OFF.get(values[phase])
        sides = {} if state is None else _shown_sides(results, state, values[number], broken_off)
        return sides | {results.status: present.COMPARE_STOPPED if stopped else gr.skip()}

    def take(files: ComparisonFiles, now: Phase) -> tuple[str | None, str, str]:
        if now is not Phase.IDLE:
            raise as_toast(RequestError(present.BUSY))
        return files.player, files.first, files.second

    streamed = [
        number,
        kept,
        results.status,
        *results.titles,
        *results.timelines,
        results.verdict,
        results.notices,
        results.diff,
        results.axis_plot,
        results.drift_plot,
        results.figures,
        *results.downloads,
        question,
        results.numbers.ask,
        results.numbers.status,
        results.numbers.tensors,
        results.numbers.lines,
        results.numbers.weights,
    ]
    asked = {number, inputs.player}
    for side in inputs.sides:
        ways = side.ways
        asked |= {side.checkpoint, side.precision, ways.decode, ways.encoder, side.saved}
    saved = [side.saved for side in inputs.sides]
    taken = handed.change(take, [handed, phase], [inputs.player, *saved], **HELPER)
    switch = Switch(inputs.start, inputs.stop, results.status, phase)
    settled = [results.status, *results.titles, *results.timelines]
    job = Job(stream, asked, streamed, settle, {kept, number}, settled, cancels=numbers)
    wire_run(switch, [inputs.start.click, taken.then], job)


def _wire_numbers(context: AppContext, results: Results, question: gr.State) -> list[Any]:
    """Wire the comparison number by number, which runs both engines once more."""
    numbers = results.numbers
    phase = gr.State(Phase.IDLE)

    def stream(values: Updates) -> Generator[Updates, None, None]:
        asked: TensorQuestion | None = values[question]
        if asked is None:  # a comparison has begun since
            raise RequestError(present_numbers.TENSORS_IDLE)
        with closing(answer(asked, context.pool, context.settings.max_duration_s)) as lines:
            for line, stages in lines:
                rows = {} if stages is None else {numbers.tensors: _tensors(stages)}
                yield {numbers.status: line} | rows

    def settle(values: Updates) -> Updates:
        stopped = values[phase] is Phase.RUNNING
        return {numbers.status: present_numbers.TENSORS_IDLE if stopped else gr.skip()}

    job = Job(
        stream, {question}, [numbers.status, numbers.tensors], settle, set(), [numbers.status]
    )
    switch = Switch(numbers.ask, numbers.stop, numbers.status, phase)
    return wire_run(switch, [numbers.ask.click], job)


def _tensors(stages: Sequence[StageParity]) -> list[dict[str, Any]]:
    rows = present_numbers.tensor_table(stages)
    return one_table("B against A, number by number", present_numbers.TENSOR_HEADERS, rows)


def _choices(context: AppContext, inputs: Inputs, values: Updates) -> tuple[SideChoice, SideChoice]:
    first, second = (
        Path(values[side.saved])
        if values[side.saved]
        else context.remote(values[side.checkpoint])
        or context.engine_config(
            values[side.checkpoint],
            values[side.precision],
            values[side.ways.decode],
            values[side.ways.encoder],
        )
        for side in inputs.sides
    )
    return first, second


def _request(context: AppContext, path: str | None) -> Request | None:
    """Decode the recording once; both runs get the same samples."""
    if not path:
        return None
    hold(path)
    return Request(read_audio(Path(path), max_duration_s=context.settings.max_duration_s))


def _cleared(results: Results) -> Updates:
    """Take away what belongs to the comparison before."""
    return {
        results.titles[1]: "B",
        results.timelines[1]: empty_update(),
        results.verdict: [],
        results.notices: gr.HTML(value=[], visible=False),
        results.diff: [],
        results.figures: [],
        results.numbers.ask: gr.Button(interactive=False),
        results.numbers.status: present_numbers.TENSORS_IDLE,
        results.numbers.tensors: [],
        results.numbers.lines: gr.HTML(value=[], visible=False),
        results.numbers.weights: [],
    } | withdrawn((results.axis_plot, results.drift_plot), results.downloads)


def _shown(results: Results, state: Comparison, number: int) -> Updates:
    updates = {results.status: state.status} | _shown_sides(results, state, number)
    if state.verdict is not None and len(state.sides) == 2:
        updates |= _judged(results, state.verdict, (state.sides[0], state.sides[1]))
    return updates


def _shown_sides(
    results: Results, state: Comparison, number: int, broken_off: TimelineStatus | None = None
) -> Updates:
    """Show titles and transcripts; `broken_off` says what a side is that has no end."""
    updates: Updates = {}
    for letter, title, timeline, side in zip(
        "AB", results.titles, results.timelines, state.sides, strict=False
    ):
        updates[title] = f"{letter} · {side.title}"
        status = broken_off if side.run.finished is None else TimelineStatus.DONE
        updates[timeline] = timeline_update(side.run, number=number, names={}, status=status)
    return updates


def _judged(
    results: Results, verdict: ParityVerdict, sides: tuple[SideState, SideState]
) -> Updates:
    """Show everything that needs both sides."""
    notices = present_comparison.verdict_notices(verdict, sides)
    duration_s = max(side.run.duration_s for side in sides)
    files = _files(verdict, sides)
    return {
        results.verdict: present_comparison.verdict_tiles(verdict),
        results.notices: gr.HTML(value=notices, visible=True),
        results.diff: present_comparison.diff_rows(verdict, sides),
        results.axis_plot: gr.Plot(
            axis_figure([side.transcript for side in sides], duration_s), visible=True
        ),
        results.drift_plot: gr.Plot(drift_figure(verdict.drift), visible=True),
        results.figures: one_table(
            "Both runs", present_comparison.FIGURE_HEADERS, present_comparison.figure_rows(sides)
        ),
        results.numbers.lines: gr.HTML(value=present_numbers.weight_lines(sides), visible=True),
        results.numbers.weights: one_table(
            "Weights by matrix", present_numbers.WEIGHT_HEADERS, present_numbers.weight_table(sides)
        ),
    } | {
        button: gr.DownloadButton(value=path, interactive=True)
        for button, path in zip(results.downloads, files, strict=True)
    }


def _files(verdict: ParityVerdict, sides: tuple[SideState, SideState]) -> list[str]:
    texts = {"verdict.json": json.dumps(verdict_dict(verdict), ensure_ascii=False, indent=2)}
    for letter, side in zip("ab", sides, strict=True):
        name = safe_stem(side.run.clip_name)
        texts[f"{letter}.{name}.json"] = export(
            side.transcript,
            ExportFormat.JSON,
            name=name,
            duration_s=side.run.duration_s,
            run=side.run if side.is_measured else None,
            figures={} if side.engine is None else side.engine.record(),
        )
    return [write_text(name, text) for name, text in texts.items()]
