"""The Benchmark tab: handlers that only translate, and their wiring."""

from collections.abc import Generator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr

from moss_demo.bench.history import open_history
from moss_demo.bench.report import Report
from moss_demo.bench.report_json import MAX_REPORT_BYTES, read_report
from moss_demo.errors import MossDemoError, ReportError
from moss_demo.serving.context import AppContext
from moss_demo.ui import present_benchmark
from moss_demo.ui.benchmark_layout import Inputs, Results, lay_out_inputs, lay_out_results
from moss_demo.ui.benchmark_results import (
    compared,
    emptied,
    hidden,
    measuring,
    outputs,
    shown,
)
from moss_demo.ui.benchmarking import Wishes, measure
from moss_demo.ui.report_shelf import Session, Shelf, with_report
from moss_demo.ui.wiring import HELPER, Job, Phase, Switch, Updates, as_toast, wire_run


@dataclass(frozen=True, slots=True)
class Visit:
    """The states of a visit.

    Attributes:
        session: reports that nobody else sees.
        outcome: the `Outcome` of the benchmark that runs or ran last.
        phase: how far it is, a `Phase`.
    """

    session: gr.State
    outcome: gr.State
    phase: gr.State


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the session keeps of the benchmark that runs or ran last.

    Attributes:
        report: what was measured so far.
        is_private: whether recordings of the visitor's own are in it.
    """

    report: Report
    is_private: bool


def build(context: AppContext, tab: gr.Tab) -> None:
    """Lay the tab out inside the current `gr.Blocks` and wire it."""
    shelf = Shelf(open_history(context.settings.cache))
    visit = Visit(gr.State(()), gr.State(None), gr.State(Phase.IDLE))
    with gr.Row(equal_height=False):
        with gr.Column(scale=4, min_width=320):
            inputs = lay_out_inputs(context)
        with gr.Column(scale=8, min_width=320):
            results = lay_out_results()
    _wire_reports(shelf, results, visit, tab)
    _wire_run(context, shelf, inputs, results, visit)


def _wire_reports(shelf: Shelf, results: Results, visit: Visit, tab: gr.Tab) -> None:
    """Everything that shows a report that is there already."""
    session = visit.session

    def list_reports(values: Updates) -> Updates:
        choices = shelf.choices(values[session])
        if values[visit.phase] is not Phase.IDLE:  # what is being measured stays in view
            return {results.choice: gr.Dropdown(choices), results.other: gr.Dropdown(choices)}
        keys = [key for _, key in choices]
        chosen = values[results.choice] if values[results.choice] in keys else None
        idle = present_benchmark.IDLE if keys else present_benchmark.NOTHING_KEPT
        first = chosen or (keys[0] if keys else None)
        return {
            results.choice: gr.Dropdown(choices, value=first),
            results.other: gr.Dropdown(choices),
        } | ({} if chosen else {results.status: idle})

    def show(values: Updates) -> Updates:
        if not values[results.choice]:
            return {results.tables: gr.skip()}
        try:
            return shown(results, shelf.load(values[results.choice], values[session]))
        except MossDemoError as error:
            raise as_toast(error) from error

    def open_file(path: str, values: Session) -> Updates:
        try:
            report = _read_file(Path(path))
        except ReportError as error:
            raise as_toast(error) from error
        grown, key = with_report(values, report)
        choices = shelf.choices(grown)
        return {
            session: grown,
            results.choice: gr.Dropdown(choices, value=key),
            results.other: gr.Dropdown(choices),
        }

    asked: set[Any] = {results.choice, results.other, session}
    lists = [results.choice, results.other]
    tab.select(list_reports, asked | {visit.phase}, [*lists, results.status], queue=False, **HELPER)
    results.choice.change(show, asked, outputs(results), **HELPER)
    gr.on(
        [results.choice.change, results.other.change],
        lambda values: compared(shelf, results, values, session),
        asked,
        results.comparison,
        trigger_mode="always_last",
        **HELPER,
    )
    results.opened.upload(open_file, [results.opened, session], [session, *lists], **HELPER)


def _wire_run(
    context: AppContext,
    shelf: Shelf,
    inputs: Inputs,
    results: Results,
    visit: Visit,
) -> None:
    """Start, measure, stop and finish."""
    session, outcome = visit.session, visit.outcome

    def stream(values: Updates) -> Generator[Updates, None, None]:
        fresh = emptied(results) | {results.choice: gr.Dropdown(value=None)}
        with closing(measure(_wishes(inputs, values), context)) as snapshots:
            for snapshot in snapshots:
                kept = Outcome(snapshot.report, snapshot.is_private)
                yield {outcome: kept} | fresh | measuring(results, snapshot)
                fresh = {}

    def settle(values: Updates) -> Updates:
        kept: Outcome | None = values[outcome]
        is_broken = values[visit.phase] is Phase.BROKEN
        idle: Updates = {results.bar: hidden(), outcome: None}
        if kept is None or not (kept.report.cases or kept.report.failures):
            status = gr.skip() if is_broken else present_benchmark.STOPPED_EARLY
            return idle | {results.status: status}
        grown, key, remark = _put_away(shelf, kept, values[session])
        choices = shelf.choices(grown)
        status = present_benchmark.ended_line(kept.report)
        if is_broken:
            status = gr.skip()
        elif remark:
            status = f"{status}. {remark}"
        return idle | {
            session: grown,
            results.status: status,
            results.choice: gr.Dropdown(choices, value=key),
            results.other: gr.Dropdown(choices),
        }

    asked = {
        inputs.plans,
        inputs.samples,
        inputs.uploads,
        inputs.checkpoint,
        inputs.precision,
        inputs.quick,
    }
    lists = [results.choice, results.other]
    streamed = [outcome, results.bar, results.choice, *outputs(results)]
    settled = [outcome, session, *lists, results.status, results.bar]
    job = Job(stream, asked, streamed, settle, {outcome, session}, settled)
    locked = (results.choice, results.opened)
    switch = Switch(inputs.start, inputs.stop, results.status, visit.phase, locked)
    wire_run(switch, [inputs.start.click], job)


def _wishes(inputs: Inputs, values: Updates) -> Wishes:
    return Wishes(
        plans=values[inputs.plans],
        samples=values[inputs.samples],
        uploads=values[inputs.uploads] or (),
        checkpoint=values[inputs.checkpoint],
        precision=values[inputs.precision],
        quick=values[inputs.quick],
    )


def _put_away(shelf: Shelf, kept: Outcome, session: Session) -> tuple[Session, str, str]:
    """Keep a report for everybody where it may be; returns session, key and what to say."""
    if not kept.is_private:
        try:
            return session, shelf.keep(kept.report), ""
        except ReportError as error:
            return *with_report(session, kept.report), str(error)
    return *with_report(session, kept.report), present_benchmark.NOT_SHARED


def _read_file(path: Path) -> Report:
    try:
        if path.stat().st_size > MAX_REPORT_BYTES:
            raise ReportError("The file is too large for a benchmark report; load a JSON report.")
        return read_report(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ReportError(
            "The file cannot be read; open a report that was saved as JSON."
        ) from error
