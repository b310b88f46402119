"""Reports as JSON: raw values, and beside them the statistics that follow from them.

Statistics are written for whoever reads the file and are derived anew when it is loaded.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, TypeVar, get_args, get_type_hints

from moss_demo.bench.derived import speedup_of
from moss_demo.bench.report import (
    PRIMARY,
    SCHEMA,
    Case,
    Environment,
    Failure,
    GpuState,
    Plan,
    Quantity,
    Report,
    Series,
    Variant,
    Work,
)
from moss_demo.bench.statistics import summarize
from moss_demo.errors import ReportError

T = TypeVar("T")

_SERIES = re.compile(r"\[\n([-+.\deE,\s]+)\]")
"""A list of numbers over several lines; a string of JSON holds no line break."""

LARGEST = 1e15
"""Bytes of a petabyte; nothing else that is measured here comes near."""

MAX_REPORT_BYTES = 8 << 20
"""A full report is far smaller; more is some other file."""


def report_dict(report: Report) -> dict[str, Any]:
    """Return a report as plain values, with its schema number and its statistics."""
    return {
        "schema": SCHEMA,
        "plans": [plan.value for plan in report.plans],
        "quick": report.quick,
        "complete": report.seconds is not None and not report.failures,
        "seconds": report.seconds,
        "environment": None if report.environment is None else asdict(report.environment),
        "after": None if report.after is None else asdict(report.after),
        "peak_tflops": report.peak_tflops,
        "cases": [_case_dict(report, case) for case in report.cases],
        "failures": [asdict(failure) for failure in report.failures],
    }


def report_json(report: Report, *, indent: int | None = 1) -> str:
    """Write a report as JSON, each series on a line of its own; without `indent` all on one."""
    text = json.dumps(report_dict(report), ensure_ascii=False, indent=indent)
    return _SERIES.sub(lambda found: f"[{' '.join(found[1].split())}]", text)


def read_report(text: str) -> Report:
    """Read a report that `report_json` wrote.

    Raises:
        ReportError: the text is no report, or one of another schema.
    """
    if len(text) > MAX_REPORT_BYTES:
        raise ReportError("The file is too large for a benchmark report; load a JSON report.")
    try:
        values = json.loads(text, parse_constant=_refuse_constant)
        schema = values["schema"]
        if schema != SCHEMA:
            raise ReportError(
                f"The report has schema {schema!r}; this version reads schema {SCHEMA}. "
                "Measure again, or open it with the version that wrote it."
            )
        return _report(values)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ReportError(
            "The file is no benchmark report; load one that was saved as JSON here or by "
            "`python -m moss_demo benchmark --json`."
        ) from error


def _case_dict(report: Report, case: Case) -> dict[str, Any]:
    summaries = {quantity: summarize(values) for quantity, values in case.raw.items()}
    gain = speedup_of(report, case)
    return asdict(case) | {
        "statistics": {
            "by_quantity": {q.value: asdict(s) for q, s in summaries.items() if s is not None},
            "speedup": None if gain is None else asdict(gain),
        }
    }


def _report(values: Mapping[str, Any]) -> Report:
    environment = values["environment"]
    return Report(
        plans=tuple(Plan(plan) for plan in values["plans"]),
        quick=bool(values["quick"]),
        environment=None if environment is None else _environment(environment),
        cases=tuple(read_case(case) for case in values["cases"]),
        failures=tuple(
            Failure(Plan(f["plan"]), str(f["what"]), str(f["message"])) for f in values["failures"]
        ),
        peak_tflops={str(name): _number(rate) for name, rate in values["peak_tflops"].items()},
        after=_state(values["after"]),
        seconds=None if values["seconds"] is None else _number(values["seconds"]),
    )


def _environment(values: Mapping[str, Any]) -> Environment:
    return _make(Environment, {**values, "before": _state(values["before"])})


def _state(values: Mapping[str, Any] | None) -> GpuState | None:
    return None if values is None else _make(GpuState, values)


def read_case(values: Mapping[str, Any]) -> Case:
    """Read one case of a report."""
    plan, work = Plan(values["plan"]), _make(Work, values["work"])
    raw = {Quantity(quantity): _series(series) for quantity, series in values["raw"].items()}
    timed = raw[PRIMARY[plan]] if plan in PRIMARY else ()
    if min((*timed, work.audio_s, work.batch)) <= 0:
        raise ValueError("a time, a length or a batch is not above 0")
    return Case(
        name=str(values["name"]),
        plan=plan,
        work=work,
        variant=_make(Variant, values["variant"]),
        raw=raw,
        baseline=None if values["baseline"] is None else str(values["baseline"]),
        figures={str(name): _number(value) for name, value in values["figures"].items()},
        labels={str(name): str(value) for name, value in values["labels"].items()},
    )


def _series(values: Sequence[Any]) -> Series:
    if not values:
        raise ValueError("a series is empty")
    return tuple(map(_number, values))


def _number(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or abs(value) > LARGEST:
        raise TypeError("a value is no number, or larger than anything measured")
    return float(value)


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no number")


def _make(kind: Callable[..., T], values: Mapping[str, Any]) -> T:
    """Build a flat value of numbers and words; unknown names and other kinds are refused."""
    hints = get_type_hints(kind)
    for name, value in values.items():
        kinds = get_args(hints[name]) or (hints[name],)
        if isinstance(value, int | float) and {int, float} & {*kinds}:
            _number(value)
            kinds = (*kinds, int) if float in kinds else kinds
        if not isinstance(value, kinds):
            raise TypeError(f"{name} is a {type(value).__name__}")
    return kind(**values)
