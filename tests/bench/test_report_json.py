"""Reports as JSON: nothing is lost, statistics stand beside raw values, other files are refused."""

import json
from pathlib import Path
from typing import Any

import pytest

from moss_demo.bench.report import Plan, Report
from moss_demo.bench.report_json import read_report, report_dict, report_json
from moss_demo.bench.tables import tables
from moss_demo.errors import ReportError

FOLDERS = ("tests/data/reports", "assets/reports")
GOLDEN = sorted(
    path for folder in FOLDERS for path in (Path(__file__).parents[2] / folder).glob("*.json")
)


def test_a_report_survives_the_way_to_disk_and_back(report: Report) -> None:
    """Every value of every part comes back equal, in one line or in many."""
    assert read_report(report_json(report)) == report
    assert read_report(report_json(report, indent=None)) == report
    assert "\n" not in report_json(report, indent=None)


def test_a_report_that_was_cut_short_is_one_too() -> None:
    """A run that was stopped before the first engine still gives a file."""
    bare = Report((Plan.E2E,))
    assert read_report(report_json(bare)) == bare
    assert report_dict(bare)["complete"] is False


def test_statistics_stand_beside_the_raw_values(report: Report) -> None:
    """Whoever reads the file gets medians and intervals, and the numbers they come from."""
    values = report_dict(report)
    case = next(c for c in values["cases"] if c["name"] == "e2e/b")
    assert case["statistics"]["by_quantity"]["request_s"]["median"] == 0.5
    assert case["statistics"]["by_quantity"]["request_s"]["p95"] is None
    assert case["statistics"]["speedup"]["ratio"] == pytest.approx(4.0, rel=0.02)
    assert case["raw"]["request_s"] == (0.5, 0.51, 0.52, 0.5, 0.49)
    assert (values["schema"], values["environment"]["hardware"]) == (1, "NVIDIA H200")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"schema": 1}',
        "null",
        "[0.00][S01]hello[1.00]",
        '{"schema": 1, "cases": 3}',
        "[" * 100_000,
    ],
)
def test_other_files_are_refused_with_a_remedy(text: str) -> None:
    """A transcript, an empty file or half a report is no report."""
    with pytest.raises(ReportError, match="benchmark --json"):
        read_report(text)


def test_reports_of_another_schema_say_so(report: Report) -> None:
    """A newer report names its schema instead of being read wrongly."""
    values = report_dict(report) | {"schema": 99}
    with pytest.raises(ReportError, match="schema 99"):
        read_report(json.dumps(values))


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("environment", "hardware"), ["<img>"]),
        (("environment", "hardware"), 7),
        (("environment", "threads"), "many"),
        (("environment", "memory_bytes"), 10**400),
        (("seconds",), float("nan")),
        (("seconds",), True),
        (("cases", 0, "raw"), {}),
        (("cases", 0, "work", "batch"), 0),
        (("cases", 0, "work", "audio_s"), "long"),
        (("cases", 0, "raw", "call_ms"), []),
        (("cases", 0, "raw", "call_ms"), [1.0, -1.0]),
        (("cases", 0, "raw", "call_ms"), [1.0, 1e308]),
        (("cases", 0, "figures", "first_call_s"), float("inf")),
    ],
)
def test_wrong_kinds_inside_are_refused(
    report: Report, place: tuple[str | int, ...], value: object
) -> None:
    """A file edited by hand cannot smuggle in what no table or figure can show."""
    values: Any = json.loads(report_json(report))
    part = values
    for step in place[:-1]:
        part = part[step]
    part[place[-1]] = value
    with pytest.raises(ReportError):
        read_report(json.dumps(values))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_reports_are_read_by_this_version(path: Path) -> None:
    """A report measured before keeps every raw value, and has its tables and figures."""
    text = path.read_text(encoding="utf-8")
    found = read_report(text)
    kept = {case["name"]: case["raw"] for case in json.loads(text)["cases"]}
    assert {c.name: {q: [*v] for q, v in c.raw.items()} for c in found.cases} == kept
    assert read_report(report_json(found)) == found
    assert {table.title for table in tables(found)}


def test_statistics_of_the_golden_report_do_not_change() -> None:
    """What this version derives from raw values of a whole run is what was derived then."""
    text = (Path(__file__).parents[2] / FOLDERS[0] / "cpu.json").read_text(encoding="utf-8")
    assert json.loads(report_json(read_report(text))) == json.loads(text)
    assert len(tables(read_report(text))) == 6
