"""What the Benchmark tab shows of a report: updates of components, nothing of how it came about."""

from typing import Any

import gradio as gr

from moss_demo.bench.comparing import compare_reports
from moss_demo.bench.published import published_table
from moss_demo.bench.report import Report
from moss_demo.bench.report_json import report_json
from moss_demo.bench.tables import tables
from moss_demo.bench.text_exports import origin_table, report_csv, report_markdown
from moss_demo.errors import ReportError
from moss_demo.ui import bench_figures, present, present_benchmark
from moss_demo.ui.benchmark_layout import Results
from moss_demo.ui.benchmarking import Snapshot
from moss_demo.ui.data_panels import table_rows
from moss_demo.ui.files import write_charts, write_text
from moss_demo.ui.report_shelf import Shelf
from moss_demo.ui.wiring import Updates, as_toast, withdrawn


def hidden() -> Any:
    """Return an update that hides a panel."""
    return gr.HTML(visible=False)


def outputs(results: Results) -> list[gr.components.Component]:
    """List what `shown` and `emptied` change."""
    return [
        results.tables,
        results.notices,
        results.origin,
        *results.plots,
        *results.downloads,
    ]


def emptied(results: Results) -> Updates:
    """Show no report, and offer none: what was shown before is not what comes next."""
    return {
        results.tables: [],
        results.notices: gr.HTML(value=[], visible=False),
        results.origin: [],
    } | withdrawn(results.plots, results.downloads)


def measuring(results: Results, snapshot: Snapshot) -> Updates:
    """Show a benchmark in progress: what is cheap to draw."""
    report, progress = snapshot.report, snapshot.progress
    failures = present_benchmark.failure_rows(report)
    return {
        results.status: present_benchmark.running_line(report)
        if snapshot.waiting is None
        else present.waiting_line(snapshot.waiting),
        results.bar: hidden()
        if progress is None
        else gr.HTML(value=present_benchmark.bar_state(progress), visible=True),
        results.tables: table_rows(tables(report)),
        results.notices: gr.HTML(value=failures, visible=bool(failures)),
    }


def shown(results: Results, report: Report) -> Updates:
    """Show everything about a report and write its files."""
    failures = present_benchmark.failure_rows(report)
    figures = [
        bench_figures.latency_figure(report),
        bench_figures.speedup_figure(report),
        bench_figures.split_figure(report),
        bench_figures.batch_figure(report),
        bench_figures.memory_figure(report),
    ]
    files = [
        write_text("benchmark.json", report_json(report)),
        write_text("benchmark.md", report_markdown(report)),
        write_text("benchmark.csv", report_csv(report)),
        write_charts("benchmark", [figure for figure in figures if figure is not None]),
    ]
    return (
        {
            results.tables: table_rows(tables(report)),
            results.notices: gr.HTML(value=failures, visible=bool(failures)),
            results.origin: table_rows((origin_table(report),)),
        }
        | {
            plot: gr.Plot(value=figure, visible=figure is not None)
            for plot, figure in zip(results.plots, figures, strict=True)
        }
        | {
            button: gr.DownloadButton(value=path, interactive=True)
            for button, path in zip(results.downloads, files, strict=True)
        }
    )


def compared(shelf: Shelf, results: Results, values: Updates, session: gr.State) -> Updates:
    """Show two reports side by side, and below them what others have published."""
    if not values[results.choice]:
        return {results.comparison: []}
    try:
        first = shelf.load(values[results.choice], values[session])
        found = [published_table(first.plans)]
        if values[results.other]:
            second = shelf.load(values[results.other], values[session])
            found.insert(0, compare_reports(first, second))
    except ReportError as error:
        raise as_toast(error) from error
    return {results.comparison: table_rows(tuple(found))}
