"""`benchmark`: measure encoder, requests, precisions, batches and memory, as tables and as JSON."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from tqdm import tqdm

from moss_demo.bench.events import Event, Progress, advance
from moss_demo.bench.order import Order, choose_recordings
from moss_demo.bench.precisions import Judge
from moss_demo.bench.report import Plan, Report
from moss_demo.bench.report_json import report_json
from moss_demo.bench.runner import run_benchmark
from moss_demo.bench.tables import Table, tables
from moss_demo.bench.text_exports import environment_rows
from moss_demo.commands.output import check_output, write_output
from moss_demo.domain.audio import AudioClip
from moss_demo.engine.checkpoints import KNOWN, SYNTHETIC
from moss_demo.engine.config import EngineConfig, Precision, choose_device, choose_precision
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from moss_demo.settings import Settings, from_environment

ALL = "all"
FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of the command."""
    parser.add_argument(
        "plans",
        nargs="+",
        choices=[*Plan, ALL],
        metavar="PLAN",
        help=f"one or more of {', '.join(Plan)}, or {ALL}",
    )
    parser.add_argument(
        "--model",
        metavar="NAME|DIR",
        help=f"{', '.join(KNOWN)}, or a checkpoint folder; {SYNTHETIC} needs no download and "
        "measures time alone",
    )
    parser.add_argument(
        "--clips", nargs="+", type=Path, metavar="FILE", help="recordings (default: samples)"
    )
    parser.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU when there is one)")
    parser.add_argument("--precision", choices=[*Precision], help="number format")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there as well")
    parser.add_argument("--quick", action="store_true", help="a smoke run: few of everything")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print the tables, and the report as the last line."""
    check_output(arguments.json)
    order = _order(arguments, from_environment())
    with closing(run_benchmark(order, EnginePool(), _judge(order))) as events:
        report = _follow(Report(order.plans, order.quick), events)
    wait_for_workers()
    _print(report)
    print(report_json(report, indent=None), flush=True)
    if arguments.json:
        write_output(report_json(report) + "\n", arguments.json)
    return FAILED if report.failures or report.seconds is None else 0


def _order(arguments: argparse.Namespace, settings: Settings) -> Order:
    device = choose_device(arguments.device)
    config = EngineConfig(
        arguments.model or settings.model, device, choose_precision(arguments.precision, device)
    )
    plans = tuple(Plan) if ALL in arguments.plans else tuple(dict.fromkeys(arguments.plans))
    recordings = choose_recordings(
        config, _clips(arguments, config, settings), quick=arguments.quick
    )
    return Order(tuple(Plan(plan) for plan in plans), config, recordings, arguments.quick)


def _clips(
    arguments: argparse.Namespace, config: EngineConfig, settings: Settings
) -> Sequence[AudioClip]:
    """Read the recordings, or the samples that suit the device."""
    if config.checkpoint == SYNTHETIC:
        if arguments.clips:
            raise RequestError(
                f"{SYNTHETIC} has random weights and is measured on noise; leave out --clips."
            )
        return ()
    # PyAV is not needed, and not always there, where only noise is measured.
    from moss_demo.bench.clips import default_clips, read_clips

    if arguments.clips:
        return read_clips(arguments.clips, settings.max_duration_s)
    return default_clips(config.device, settings.max_duration_s)


def _judge(order: Order) -> Judge:
    """Return what compares transcripts; random weights write none."""
    if order.config.checkpoint == SYNTHETIC:
        return lambda _reference, _candidate: "n/a"
    from moss_demo.bench.judging import judge  # likewise rapidfuzz

    return judge


def _follow(report: Report, events: Iterator[Event]) -> Report:
    """Fold the events, with a bar on a terminal; an interrupt keeps what was measured."""
    form = "{percentage:3.0f}%|{bar}| {desc} [{elapsed}{postfix}]"
    hidden = not sys.stderr.isatty()
    try:
        with tqdm(total=1.0, disable=hidden, leave=False, bar_format=form) as bar:
            for event in events:
                report = advance(report, event)
                if isinstance(event, Progress):
                    _show(bar, event)
    except KeyboardInterrupt:
        print("stopped; what was measured until now follows", file=sys.stderr)
    return report


def _show(bar: Any, event: Progress) -> None:
    left = "" if event.left_s is None else f"about {event.left_s:.0f} s left"
    bar.set_description_str(event.doing, refresh=False)
    bar.set_postfix_str(left, refresh=False)
    bar.update(max(0.0, event.done - bar.n))
    bar.refresh()


def _print(report: Report) -> None:
    width = max((len(label) for label, _ in environment_rows(report)), default=0)
    for label, value in environment_rows(report):
        print(f"{label:<{width}}  {value}")
    for table in tables(report):
        print(f"\n{table.title}")
        for line in _lines(table):
            print(line)
        for note in table.notes:
            print(note)
    for failure in report.failures:
        print(f"not measured: {failure.plan.value}, {failure.what}: {failure.message}")


def _lines(table: Table) -> list[str]:
    """Set a table in columns: words to the left, figures to the right."""
    widths = [
        max(len(cells[n]) for cells in (table.headers, *table.rows))
        for n in range(len(table.headers))
    ]
    lines = []
    for cells in (table.headers, *table.rows):
        padded = [
            cell.ljust(width) if n < 2 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines
