"""The Benchmark tab without a browser: orders, snapshots, reports on the shelf, figures."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import plotly.graph_objects as go
import pytest
import soundfile

from moss_demo.bench.events import Progress
from moss_demo.bench.history import History
from moss_demo.bench.report import Plan, Report
from moss_demo.bench.report_json import report_json
from moss_demo.errors import NotOfferedError, ReportError, RequestError
from moss_demo.serving.context import AppContext, build_context
from moss_demo.settings import Settings
from moss_demo.ui import bench_figures
from moss_demo.ui.benchmarking import Wishes, make_order, measure
from moss_demo.ui.present_benchmark import bar_state, ended_line, failure_rows, running_line
from moss_demo.ui.report_shelf import MAX_IN_SESSION, Session, Shelf, with_report
from moss_demo.ui.samples import list_samples

from ..bench.reports import encoder_case, full_report

SHORTEST = list_samples()[0]
WISHES = Wishes(["memory"], [SHORTEST.label], [], "tiny")


@pytest.fixture(scope="module")
def context() -> AppContext:
    """A host that changed nothing."""
    return build_context(Settings(), "cpu")


@pytest.fixture(scope="module")
def upload(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The first four seconds of a sample, as a visitor's own file."""
    samples, rate = soundfile.read(SHORTEST.path)
    path = tmp_path_factory.mktemp("own") / "mine.wav"
    soundfile.write(path, samples[: 4 * rate], rate)
    return str(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"plans": []}, "at least one"),
        ({"samples": []}, "choose a sample"),
        ({"uploads": ["a.wav"] * 4}, "at most 4"),
    ],
)
def test_incomplete_orders_say_what_is_missing(
    context: AppContext, change: dict[str, list[str]], message: str
) -> None:
    """Nothing is loaded for an order that cannot be met."""
    with pytest.raises(RequestError, match=message):
        make_order(replace(WISHES, **change), context)
    assert context.pool.resident is None


def test_a_public_host_runs_quick_orders_only(context: AppContext) -> None:
    """What a visitor's browser sends is no permission; random weights are not offered either."""
    strict = build_context(Settings(full_benchmark=False), "cpu")
    assert make_order(replace(WISHES, quick=False), strict).quick
    assert not make_order(replace(WISHES, quick=False), context).quick
    with pytest.raises(NotOfferedError):
        make_order(replace(WISHES, checkpoint="synthetic-0.9b"), strict)


def test_a_measurement_streams_and_stays_private(context: AppContext, upload: str) -> None:
    """Snapshots grow; a report on a visitor's own recording is marked as such."""
    *_, last = states = list(measure(replace(WISHES, samples=[], uploads=[upload]), context))
    assert states[0].report.cases == ()
    assert [len(s.report.cases) for s in states] == sorted(len(s.report.cases) for s in states)
    assert {case.variant.decode for case in last.report.cases} == {"reference", "fast"}
    assert last.report.seconds is not None
    assert all(state.is_private for state in states)


def test_reports_are_found_by_keys_and_nothing_else(tmp_path: Path) -> None:
    """The session's own come first, then the kept ones, then those that ship."""
    shipped = tmp_path / "shipped"
    shipped.mkdir()
    report = full_report()
    (shipped / "h200.json").write_text(report_json(report), encoding="utf-8")
    shelf = Shelf(History(tmp_path / "kept"), shipped)
    kept = shelf.keep(report)
    session, own = with_report((), Report((Plan.E2E,)))
    titles = [title for title, _ in shelf.choices(session)]
    assert [key for _, key in shelf.choices(session)] == [own, kept, "shipped:h200.json"]
    assert titles[0].startswith("This session: e2e")
    assert titles[2].startswith("Reference report: ")
    assert "NVIDIA H200" in titles[2]
    assert shelf.load(own, session) == Report((Plan.E2E,))
    assert shelf.load(kept, ()) == shelf.load("shipped:h200.json", ()) == report
    for key in ("session:7", "session:x", "kept:../h200.json", "shipped:../kept", "", "nothing"):
        with pytest.raises(ReportError):
            shelf.load(key, session)


def test_a_session_keeps_its_last_few_reports(tmp_path: Path) -> None:
    """Memory of a visitor who measures all day is bounded."""
    session: Session = ()
    keys: list[str] = []
    for number in range(MAX_IN_SESSION + 3):
        session, key = with_report(session, Report((Plan.E2E,), seconds=float(number)))
        keys.append(key)
    assert len(session) == MAX_IN_SESSION
    assert len(set(keys)) == len(keys)  # a key means one report for good
    shelf = Shelf(History(tmp_path))
    assert [shelf.load(key, session) for key in keys[-MAX_IN_SESSION:]] == [r for _, r in session]
    with pytest.raises(ReportError):
        shelf.load(keys[0], session)


def test_progress_and_ends_are_said_in_a_line() -> None:
    """How far, how long, what failed; a stop is no failure."""
    assert bar_state(Progress(0.5, "e2e: talk", 60.0, 61.0))["left"] == "about 60 s left"
    assert bar_state(Progress(0.5, "e2e: talk", 60.0, 200.0))["left"] == "about 3 min left"
    assert bar_state(Progress(0.0, "e2e: talk", 0.0, None))["left"] == ""
    report = full_report()
    assert running_line(replace(report, cases=report.cases[:1])).startswith("Measuring · 1 row so")
    assert ended_line(report) == "Measured 9 rows in 5:00 · 1 part failed"
    assert ended_line(replace(report, seconds=None)).startswith("Stopped: 9 rows")
    assert failure_rows(report)[0]["message"].startswith("batch 128: cuda:0 ran out of memory")


FIGURES = (
    bench_figures.latency_figure,
    bench_figures.speedup_figure,
    bench_figures.split_figure,
    bench_figures.batch_figure,
    bench_figures.memory_figure,
)


@pytest.mark.parametrize("draw", FIGURES, ids=lambda draw: draw.__name__)
def test_every_plan_has_its_figure(draw: Callable[[Report], go.Figure | None]) -> None:
    """A report draws itself; one without such cases draws nothing."""
    figure = draw(full_report())
    assert figure is not None
    assert len(figure.data) > 0
    assert draw(Report((Plan.E2E,))) is None


def test_every_value_is_a_point_and_no_name_is_markup() -> None:
    """Ten calls are ten points beside their median; a file's name stays text."""
    times = (10.0, 11.0, 10.5, 10.2, 10.1) * 2
    figure = bench_figures.latency_figure(Report((), cases=(encoder_case("off", times),)))
    assert figure is not None
    bar, points = figure.data
    assert bar.x == (10.2,)
    assert points.x == times
    case = full_report().cases[2]
    evil = replace(case, work=replace(case.work, clip="<img src=x>"))
    shown = bench_figures.latency_figure(Report((), cases=(evil,)))
    assert shown is not None
    assert "<img" not in shown.to_json()


def test_published_ratios_stand_apart_from_measured_ones() -> None:
    """Measured rows have intervals; published ones are hollow, labelled and without."""
    figure = bench_figures.speedup_figure(full_report())
    assert figure is not None
    measured = [trace for trace in figure.data if trace.marker.symbol is None]
    published = [trace for trace in figure.data if trace.marker.symbol == "diamond-open"]
    assert all(trace.error_x.array is not None for trace in measured)
    assert all(trace.error_x.array is None for trace in published)
    labels = [note.text for note in figure.layout.annotations]
    assert sum("published by others" in label for label in labels) == len(published)
