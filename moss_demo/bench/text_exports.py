"""A report as Markdown for people and as CSV for other programs. Pure."""

import csv
import io

from moss_demo.bench.report import Environment, GpuState, Report
from moss_demo.bench.tables import Table, tables
from moss_demo.domain.exports.cleaning import table_cell
from moss_demo.domain.figures import NOT_AVAILABLE

CSV_HEADER = (
    "case",
    "plan",
    "clip",
    "audio_s",
    "chunks",
    "batch",
    "tokens",
    "precision",
    "decode",
    "encoder",
    "baseline",
    "quantity",
    "number",
    "value",
)


def report_markdown(report: Report) -> str:
    """Write the environment, every table with its notes, and what failed."""
    parts = ["# Benchmark", _state_line(report)]
    for table in (origin_table(report), *tables(report)):
        parts += [f"## {table.title}", _markdown(table), *(f"{note}" for note in table.notes)]
    if report.failures:
        parts.append("## Not measured")
        parts += [f"- {f.plan.value}, {_plain(f.what)}: {_plain(f.message)}" for f in
                  report.failures]  # fmt: skip
    return "\n\n".join(parts) + "\n"


def report_csv(report: Report) -> str:
    """Write every raw value on a line of its own, with what it depends on."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(CSV_HEADER)
    for case in report.cases:
        work, variant = case.work, case.variant
        for quantity, values in case.raw.items():
            for number, value in enumerate(values):
                writer.writerow(
                    (
                        table_cell(case.name),
                        case.plan.value,
                        table_cell(work.clip),
                        work.audio_s,
                        work.chunks,
                        work.batch,
                        "" if work.tokens is None else work.tokens,
                        variant.precision,
                        variant.decode,
                        variant.encoder,
                        table_cell(case.baseline or ""),
                        quantity.value,
                        number,
                        repr(value),
                    )
                )
    return out.getvalue()


def origin_table(report: Report) -> Table:
    """Return where a report comes from as a table."""
    return Table("Origin", ("What", "Here"), environment_rows(report))


def environment_rows(report: Report) -> tuple[tuple[str, str], ...]:
    """Return label and value of everything a figure depends on."""
    found = report.environment
    if found is None:
        return ()
    return (
        *_origin_rows(found),
        *_gpu_rows("before", found.before),
        *_gpu_rows("after", report.after),
    )


def _origin_rows(found: Environment) -> tuple[tuple[str, str], ...]:
    memory = NOT_AVAILABLE
    if found.memory_bytes is not None:
        memory = f"{found.memory_bytes / 2**30:,.0f} GiB"
    return (
        ("Measured", found.started_at),
        ("Device", f"{found.hardware} ({found.device}, {memory})"),
        ("Driver, CUDA", f"{found.driver}, {found.cuda}"),
        ("torch, transformers", f"{found.torch}, {found.transformers}"),
        ("Python, threads", f"{found.python}, {found.threads}"),
        ("Checkpoint", f"{found.checkpoint}, {found.revision}, {found.parameters / 1e6:,.1f} M"),
        ("Precision", found.precision),
        ("Code", found.code),
        ("Effort", found.effort or NOT_AVAILABLE),
    )


def _gpu_rows(when: str, state: GpuState | None) -> tuple[tuple[str, str], ...]:
    if state is None:
        return ()
    values = (
        (state.sm_clock_mhz, "MHz"),
        (state.memory_clock_mhz, "MHz memory"),
        (state.temperature_c, "°C"),
        (state.power_w, "W"),
        (state.power_limit_w, "W limit"),
        (state.processes, "processes"),
    )
    words = [f"{value:g} {unit}" for value, unit in values if value is not None]
    return ((f"GPU {when}", ", ".join(words) or NOT_AVAILABLE),)


def _state_line(report: Report) -> str:
    plans = ", ".join(plan.value for plan in report.plans)
    kind = "A quick run" if report.quick else "A run"
    if report.seconds is None:
        return f"{kind} of {plans}, cut short: what was measured until then."
    return f"{kind} of {plans} in {report.seconds:,.0f} s."


def _markdown(table: Table) -> str:
    lines = [table.headers, tuple("---" for _ in table.headers), *table.rows]
    return "\n".join("| " + " | ".join(_plain(cell) for cell in line) + " |" for line in lines)


def _plain(text: str) -> str:
    """Keep a name from ending a cell or becoming markup."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
