"""A report as tables of words: what the command line, the page and Markdown show. Pure."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

from moss_demo.bench.derived import (
    PHASES,
    achieved_tflops,
    primary,
    requests_per_s,
    rtf,
    speedup_of,
    sweet_spots,
    typical,
)
from moss_demo.bench.report import Case, Plan, Quantity, Report
from moss_demo.bench.statistics import Claim, Summary, summarize
from moss_demo.domain.figures import NOT_AVAILABLE

BASELINE = "baseline"
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of words under headers.

    Attributes:
        title: what the table is about.
        headers: one a column.
        rows: as many words as there are headers.
        notes: sentences below it.
    """

    title: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()


Column = tuple[str, Callable[[Case], str]]


def tables(report: Report) -> tuple[Table, ...]:
    """Return the tables of every plan that has a case, in the order of the plans."""
    makers = {
        Plan.ENCODER: _encoder,
        Plan.E2E: _requests,
        Plan.PRECISION: _precision,
        Plan.BATCH: _batch,
        Plan.MEMORY: _memory,
    }
    found: list[Table] = []
    for plan, make in makers.items():
        cases = [case for case in report.cases if case.plan is plan]
        if cases:
            found += make(report, cases)
    return tuple(found)


def variant_name(case: Case) -> str:
    """Name the way of computing in a few words."""
    variant = case.variant
    encoder = "" if variant.encoder == "off" else f"encoder {variant.encoder}"
    parts = (variant.precision, variant.decode, encoder)
    return " · ".join(part for part in parts if part)


def mode_name(case: Case) -> str:
    """Name the way the encoder runs."""
    name = "eager" if case.variant.encoder == "off" else f"compile: {case.variant.encoder}"
    return f"{name} ({case.labels['process']})" if "process" in case.labels else name


def work_name(case: Case) -> str:
    """Name the work with its sizes."""
    work = case.work
    tokens = "" if work.tokens is None else f", {work.tokens:,} tokens"
    return f"{work.clip} ({work.audio_s:.1f} s{tokens})"


def speedup_text(report: Report, case: Case) -> str:
    """Write the ratio to the baseline with its interval, or what may be said instead."""
    found = speedup_of(report, case)
    if found is None:
        return BASELINE if case.baseline is None else NOT_AVAILABLE
    if found.pairs < 2:
        return f"{number(found.ratio)}× (one pair)"
    interval = f"{number(found.ratio)}× [{number(found.low)}, {number(found.high)}]"
    claims = {Claim.NO_DIFFERENCE: "no difference shown", Claim.TOO_FEW: f"{found.pairs} pairs"}
    remark = claims.get(found.claim)
    return interval if remark is None else f"{interval} {remark}"


def number(value: float | None, digits: int = 3) -> str:
    """Write a value with `digits` significant digits, or that there is none; NaN is none."""
    if value is None or not isfinite(value):
        return NOT_AVAILABLE
    if value == 0:
        return "0"
    if abs(value) < 1e-3:
        return f"{value:.1e}"
    return f"{value:,.{max(0, digits - 1 - floor(log10(abs(value))))}f}"


def _encoder(report: Report, cases: Sequence[Case]) -> list[Table]:
    def share(case: Case) -> str:
        rate, peak = achieved_tflops(case), report.peak_tflops.get(case.variant.precision)
        return NOT_AVAILABLE if rate is None or not peak else f"{rate / peak:.0%}"

    columns: list[Column] = [
        ("Encoder", mode_name),
        ("Chunks", lambda case: f"{case.work.chunks}"),
        ("n", lambda case: f"{len(primary(case))}"),
        ("Mean ms", lambda case: _of(case, lambda s: s.mean)),
        ("p50 ms", lambda case: _of(case, lambda s: s.median)),
        ("p95 ms", lambda case: _of(case, lambda s: s.p95)),
        ("Range ms", _range),
        ("Speedup", lambda case: speedup_text(report, case)),
        ("First call s", lambda case: number(case.figures.get("first_call_s"))),
        ("Drift, relative", lambda case: number(case.figures.get("drift_relative"), 2)),
        ("TFLOP/s", lambda case: number(achieved_tflops(case))),
        ("Of peak", share),
    ]
    peaks = "; ".join(f"{name} {rate:,.3g} TFLOP/s" for name, rate in report.peak_tflops.items())
    notes = [
        "Speedup: ratio of paired calls with its 95 % interval. The first call compiles, or takes "
        "what torch has compiled before from its cache on disk.",
    ]
    if peaks:
        notes.append(f"Peak: a large matrix product measured here, {peaks}.")
    return [_table("Encoder alone", columns, cases, notes)]


def _requests(report: Report, cases: Sequence[Case]) -> list[Table]:
    columns: list[Column] = [
        ("Recording", work_name),
        ("Variant", variant_name),
        ("Success", _success),
        ("Requests/s", lambda case: number(requests_per_s(case))),
        ("Mean s", lambda case: _of(case, lambda s: s.mean)),
        ("p50 s", lambda case: _of(case, lambda s: s.median)),
        ("p95 s", lambda case: _of(case, lambda s: s.p95)),
        ("Range s", _range),
        ("Wall s", lambda case: number(sum(primary(case)))),
        ("RTF", lambda case: number(rtf(case))),
        ("First token ms", lambda case: number(_ms(case, Quantity.FIRST_TOKEN_S))),
        ("Tokens", lambda case: _tokens(case)),
        ("ms/token", lambda case: number(typical(case, Quantity.TOKEN_MS))),
        ("Cold s", lambda case: number(case.figures.get("cold_s"))),
        ("Load s", lambda case: number(case.figures.get("load_s"))),
        ("Compile s", lambda case: number(case.figures.get("compile_s"))),
        ("Speedup", lambda case: speedup_text(report, case)),
        ("Transcripts", lambda case: ", ".join(case.labels.values())),
    ]
    phases: list[Column] = [
        ("Recording", work_name),
        ("Variant", variant_name),
        *((name, _phase(q)) for name, q in zip(PHASE_NAMES, PHASES, strict=True)),
    ]
    notes = [
        "Warm requests one at a time, variants in turn (A B B A); loading and compiling are apart.",
        "p95 is given from 20 requests on.",
    ]
    return [
        _table("End to end", columns, cases, notes),
        _table("Where the time goes", phases, cases, ["Median milliseconds and share."]),
    ]


PHASE_NAMES = ("Spectrogram", "Encoder", "Prefill", "Decode")


def _precision(report: Report, cases: Sequence[Case]) -> list[Table]:
    columns: list[Column] = [
        ("Recording", work_name),
        ("Precision", lambda case: case.variant.precision),
        ("n", lambda case: f"{len(primary(case))}"),
        ("Warm median s", lambda case: _of(case, lambda s: s.median)),
        ("Range s", _range),
        ("RTF", lambda case: number(rtf(case))),
        ("Tokens", lambda case: _tokens(case)),
        ("ms/token", lambda case: number(typical(case, Quantity.TOKEN_MS))),
        ("Parity with fp32", lambda case: case.labels.get("parity", NOT_AVAILABLE)),
        ("Peak MiB", lambda case: _mib(case, Quantity.ALLOCATED_BYTES)),
        (
            "Speed against fp32",
            lambda case: case.labels.get("speed", speedup_text(report, case)),
        ),
    ]
    notes = [
        "Precisions are visited forward and backward, since one is loaded at a time; those that "
        "only reproduce numerics compute in bf16 and are visited once.",
        "End to end, not an equal-token comparison: read ms/token beside the seconds.",
    ]
    return [_table("Precision", columns, cases, notes)]


def _batch(report: Report, cases: Sequence[Case]) -> list[Table]:
    best = set(sweet_spots(cases).values())
    columns: list[Column] = [
        ("Variant", variant_name),
        ("Batch", lambda case: f"{case.work.batch}"),
        ("n", lambda case: f"{len(primary(case))}"),
        ("s/clip", lambda case: _of(case, lambda s: s.median)),
        ("Audio s/s", _audio_rate),
        ("Peak MiB", lambda case: _mib(case, Quantity.ALLOCATED_BYTES)),
        ("Speedup", lambda case: speedup_text(report, case)),
        ("", lambda case: "sweet spot" if case.name in best else ""),
    ]
    notes = ["Sweet spot: the smallest batch within 5 % of the best time a clip."]
    return [_table("Batches", columns, cases, notes)]


def _memory(_report: Report, cases: Sequence[Case]) -> list[Table]:
    columns: list[Column] = [
        ("Recording", work_name),
        ("Variant", variant_name),
        ("Allocated MiB", lambda case: _mib(case, Quantity.ALLOCATED_BYTES)),
        ("Reserved MiB", lambda case: _mib(case, Quantity.RESERVED_BYTES)),
        ("Process MiB", lambda case: _mib(case, Quantity.SAMPLED_BYTES)),
        ("Measured by", lambda case: case.labels.get("memory_source", NOT_AVAILABLE)),
        ("Samples", lambda case: f"{len(case.raw.get(Quantity.SAMPLED_BYTES, ()))}"),
        ("Weights MiB", lambda case: _figure_mib(case, "weights_bytes")),
        ("KV cache MiB", lambda case: _figure_mib(case, "kv_bytes")),
    ]
    notes = [
        "Allocated and reserved are peaks of the allocator, without context and libraries; the "
        "process is sampled every 50 ms from outside. The two are different measurements.",
        "Weights and KV cache are arithmetic: the least that the allocator's peak can be.",
    ]
    return [_table("Memory", columns, cases, notes)]


def _table(
    title: str, columns: Sequence[Column], cases: Sequence[Case], notes: Sequence[str]
) -> Table:
    rows = tuple(tuple(read(case) for _, read in columns) for case in cases)
    wide = [case for case in cases if (s := summarize(primary(case))) is not None and s.is_wide]
    remarks = list(notes)
    if wide:
        rows_text = "1 row" if len(wide) == 1 else f"{len(wide)} rows"
        remarks.append(f"In {rows_text} the values scatter by more than 10 %: the host was busy.")
    return Table(title, tuple(header for header, _ in columns), rows, tuple(remarks))


def _of(case: Case, read: Callable[[Summary], float | None]) -> str:
    summary = summarize(primary(case))
    return NOT_AVAILABLE if summary is None else number(read(summary))


def _range(case: Case) -> str:
    summary = summarize(primary(case))
    if summary is None:
        return NOT_AVAILABLE
    return f"{number(summary.lowest)}–{number(summary.highest)}"


def _ms(case: Case, quantity: Quantity) -> float | None:
    value_s = typical(case, quantity)
    return None if value_s is None else 1e3 * value_s


def _phase(quantity: Quantity) -> Callable[[Case], str]:
    def read(case: Case) -> str:
        total_s = sum(typical(case, q) or 0.0 for q in PHASES)
        value_ms = _ms(case, quantity)
        if value_ms is None or not total_s:
            return NOT_AVAILABLE
        return f"{number(value_ms)} ({value_ms / 1e3 / total_s:.0%})"

    return read


def _tokens(case: Case) -> str:
    tokens = typical(case, Quantity.TOKENS)
    return NOT_AVAILABLE if tokens is None else f"{tokens:,.0f}"


def _success(case: Case) -> str:
    done = len(primary(case))
    return f"{done}/{int(case.figures.get('asked', done))}"


def _audio_rate(case: Case) -> str:
    clip_s = typical(case, Quantity.CLIP_S)
    return number(None if not clip_s else case.work.audio_s / case.work.batch / clip_s)


def _mib(case: Case, quantity: Quantity) -> str:
    values = case.raw.get(quantity)
    return NOT_AVAILABLE if not values else f"{max(values) / MIB:,.0f}"


def _figure_mib(case: Case, name: str) -> str:
    value = case.figures.get(name)
    return NOT_AVAILABLE if value is None else f"{value / MIB:,.0f}"
