"""What people read of a report: tables, Markdown, CSV, two reports, published figures."""

import csv
import io
from dataclasses import replace

import pytest

from moss_demo.bench.comparing import compare_reports, report_title
from moss_demo.bench.published import published_table
from moss_demo.bench.report import Plan, Report
from moss_demo.bench.tables import number, speedup_text, tables
from moss_demo.bench.text_exports import environment_rows, report_csv, report_markdown

from .reports import request_case


def _cell(report: Report, title: str, row: int, header: str) -> str:
    table = next(table for table in tables(report) if table.title == title)
    return table.rows[row][table.headers.index(header)]


def test_every_plan_has_its_table(report: Report) -> None:
    """Rows are as long as the headers, and end-to-end runs have a second table for their phases."""
    found = tables(report)
    assert [table.title for table in found] == [
        "Encoder alone",
        "End to end",
        "Where the time goes",
        "Precision",
        "Batches",
        "Memory",
    ]
    assert all(len(row) == len(table.headers) for table in found for row in table.rows)
    assert tables(Report((Plan.E2E,))) == ()


def test_figures_follow_from_the_raw_values(report: Report) -> None:
    """Rates, shares and ratios are those a person would work out."""
    assert _cell(report, "Encoder alone", 1, "TFLOP/s") == "196"  # 1 TFLOP in 5.1 ms
    assert _cell(report, "Encoder alone", 1, "Of peak") == "26%"
    assert _cell(report, "Encoder alone", 0, "Speedup") == "baseline"
    assert _cell(report, "Encoder alone", 1, "Speedup").startswith("2.00× [")
    assert _cell(report, "End to end", 1, "RTF") == "0.0179"
    assert _cell(report, "End to end", 1, "p95 s") == "n/a"
    assert _cell(report, "End to end", 1, "Success") == "5/5"
    assert _cell(report, "Where the time goes", 1, "Decode") == "400 (80%)"
    assert _cell(report, "Batches", 1, "") == "sweet spot"
    assert _cell(report, "Batches", 2, "Peak MiB") == "4,096"
    assert _cell(report, "Memory", 0, "Process MiB") == "3,072"
    assert _cell(report, "Memory", 0, "Measured by") == "process (NVML)"


def test_equal_times_are_no_difference(report: Report) -> None:
    """An interval that holds 1 is said in words."""
    times = (2.0, 2.1, 1.9, 2.0, 2.05)
    twins = (
        request_case("a", "reference", times, None),
        request_case("b", "fast", times[::-1], "a"),
    )
    cell = _cell(replace(report, cases=twins), "End to end", 1, "Speedup")
    assert cell.endswith("no difference shown")


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, "n/a"), (0.0, "0"), (0.00012, "1.2e-04"), (0.01786, "0.0179"), (0.5, "0.500"),
     (12.345, "12.3"), (1234.5, "1,234")],
)  # fmt: skip
def test_numbers_have_three_digits(value: float | None, text: str) -> None:
    """Small values keep their digits, large ones lose their fractions."""
    assert number(value) == text


def test_markdown_holds_everything_and_no_markup_of_others(report: Report) -> None:
    """Origin, tables and failures are there; a message cannot break the table it stands in."""
    text = report_markdown(report)
    for words in ("NVIDIA H200", "## End to end", "## Not measured", "1980 MHz", "synthetic-0.9b"):
        assert words in text
    assert "<b>" not in text
    widths = {}
    for line in text.splitlines():
        if line.startswith("|"):
            widths.setdefault(line.count("|") - line.count("\\|"), line)
    assert len(widths) <= 7


def test_csv_has_one_line_for_each_raw_value(report: Report) -> None:
    """Other programs get every number with what it depends on; a name is never a formula."""
    rows = list(csv.DictReader(io.StringIO(report_csv(report))))
    assert len(rows) == sum(len(v) for case in report.cases for v in case.raw.values())
    first = next(row for row in rows if row["case"] == "e2e/b")
    assert (first["quantity"], first["value"], first["decode"]) == ("request_s", "0.5", "fast")
    evil = replace(report.cases[2], work=replace(report.cases[2].work, clip="=cmd()"))
    rows = list(csv.DictReader(io.StringIO(report_csv(replace(report, cases=(evil,))))))
    assert rows[0]["clip"] == "'=cmd()"


def test_two_reports_are_compared_case_by_case(report: Report) -> None:
    """Equal cases stand side by side; what only one has is counted."""
    faster = replace(
        report, cases=(request_case("e2e/b", "fast", (0.25,) * 5, "e2e/a"), report.cases[0])
    )
    table = compare_reports(report, faster)
    assert table.rows[1][-2:] == ("2.00×", "")
    assert len(table.rows) == 2
    assert any("cases are in one of the two only" in note for note in table.notes)


def test_a_title_says_what_a_report_lacks(report: Report) -> None:
    """Its parts stand apart, as the page's Chinese looks them up one by one."""
    whole = report_title(replace(report, plans=(Plan.ENCODER, Plan.E2E)))
    assert whole.endswith(" · NVIDIA H200 · synthetic-0.9b · encoder, e2e")
    broken = replace(report, plans=(Plan.E2E,), quick=True, seconds=None)
    assert report_title(broken).endswith(" · e2e · quick · cut short")
    assert report_title(replace(broken, environment=None)) == "e2e · quick · cut short"


def test_a_changed_recording_is_remarked(report: Report) -> None:
    """The same name with other sound is not the same work."""
    case = report.cases[2]
    other = replace(report, cases=(replace(case, work=replace(case.work, digest="other")),))
    assert compare_reports(report, other).rows[0][-1] == "other work"


def test_published_figures_stand_apart_with_their_hardware() -> None:
    """Each has its source; only ratios are said to compare."""
    table = published_table((Plan.ENCODER,))
    assert [row[-1] for row in table.rows] == ["baseline", "1.345×"]
    assert all("H800" in row[1] for row in table.rows)
    assert {row[0] for row in published_table(tuple(Plan)).rows} == {plan.value for plan in Plan}


def test_the_environment_is_told_in_full(report: Report) -> None:
    """GPU, driver, clocks before and after, versions, weights and code."""
    told = dict(environment_rows(report))
    assert {"Device", "Driver, CUDA", "Checkpoint", "Code", "GPU before", "GPU after"} <= set(told)
    assert "41 °C" in told["GPU before"]
    assert "700 W limit" in told["GPU after"]


def test_a_row_whose_baseline_is_missing_is_no_baseline(report: Report) -> None:
    """What it was to be compared with failed: there is nothing to say of its speed."""
    case = replace(report.cases[3], baseline="e2e/gone")
    alone = replace(report, cases=(case,))
    assert speedup_text(alone, case) == "n/a"
    assert speedup_text(alone, replace(case, baseline=None)) == "baseline"


def test_a_report_has_nothing_that_it_lacks_itself(report: Report) -> None:
    """Cases that are not compared, as those of memory, are in both all the same."""
    assert not any(
        "in one of the two only" in note for note in compare_reports(report, report).notes
    )


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_breaks_no_table(value: float) -> None:
    """Outputs that are not finite have no drift to speak of."""
    assert number(value) == "n/a"
