"""Two reports side by side: the same case in both, with the ratio of their medians. Pure.

The two were not measured in turns, so no interval is given: a ratio here is a hint where to look.
"""

from statistics import median

from moss_demo.bench.derived import primary
from moss_demo.bench.report import PRIMARY, Plan, Report
from moss_demo.bench.tables import Table, mode_name, number, variant_name, work_name


def compare_reports(first: Report, second: Report) -> Table:
    """Return the cases that both have, then how many only one has."""
    rows = []
    for case in first.cases:
        other = second.case(case.name)
        if other is None or not primary(case) or not primary(other):
            continue
        a, b = median(primary(case)), median(primary(other))
        what = mode_name(case) if case.plan is Plan.ENCODER else variant_name(case)
        size = f"batch {case.work.batch}" if case.plan is Plan.BATCH else work_name(case)
        unit = PRIMARY[case.plan].value.rsplit("_", 1)[-1]
        ratio = f"{a / b:.2f}×" if b else "n/a"
        remark = "" if case.work == other.work else "other work"
        rows.append(
            (
                case.plan.value,
                size,
                what,
                f"{number(a)} {unit}",
                f"{number(b)} {unit}",
                ratio,
                remark,
            )
        )
    only = len({case.name for case in first.cases} ^ {case.name for case in second.cases})
    notes = [_origin("A", first), _origin("B", second)]
    if only:
        notes.append(f"{only} cases are in one of the two only.")
    return Table(
        "Two reports",
        ("Plan", "Work", "Variant", "A", "B", "A / B", ""),
        tuple(rows),
        tuple(notes),
    )


def report_title(report: Report) -> str:
    """Name a report in a list: when, where, what."""
    found = report.environment
    parts = [", ".join(plan.value for plan in report.plans)]
    if found is not None:
        when = found.started_at.replace("T", " ").removesuffix("+00:00")
        parts = [when, found.hardware, found.checkpoint, *parts]
    if report.quick:
        parts.append("quick")
    if report.seconds is None:
        parts.append("cut short")
    return " · ".join(parts)


def _origin(letter: str, report: Report) -> str:
    return f"{letter}: {report_title(report)}"
