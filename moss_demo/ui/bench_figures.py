"""Plotly figures of a benchmark report. Pure: a report in, figures out.

Words stand above their bars instead of beside them, so that a phone has room for both. Every single
value is drawn as a point: a bar alone would hide how far the values scatter.
"""

from statistics import median

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types
from plotly.subplots import make_subplots  # type: ignore[import-untyped]

from moss_demo.bench.derived import PHASES, primary, speedup_of, sweet_spots, typical
from moss_demo.bench.published import PUBLISHED
from moss_demo.bench.report import PRIMARY, Case, Plan, Quantity, Report
from moss_demo.bench.statistics import Claim
from moss_demo.bench.tables import PHASE_NAMES, mode_name, number, variant_name, work_name
from moss_demo.engine.config import EncoderCompile, Precision
from moss_demo.ui.bench_frame import ROW_PX, framed, label, titled, with_legend, words
from moss_demo.ui.figures import GRID, INK, SPEAKER_COLOURS, UNLABELLED_COLOUR

PHASE_COLOURS = ("#9a7d10", "#14897d", "#5771f3", "#8a68d8")
ENCODER_COLOURS = {
    EncoderCompile.MAX_AUTOTUNE.value: "#14897d",
    EncoderCompile.DEFAULT.value: "#8a68d8",
    EncoderCompile.REDUCE_OVERHEAD.value: "#9a7d10",
}
CLAIM_COLOURS = {
    Claim.FASTER: "#5771f3",
    Claim.SLOWER: "#df5d16",
    Claim.NO_DIFFERENCE: UNLABELLED_COLOUR,
    Claim.TOO_FEW: UNLABELLED_COLOUR,
}
_TIMED = (Plan.ENCODER, Plan.E2E, Plan.PRECISION)


def latency_figure(report: Report) -> go.Figure | None:
    """Draw the median of each case as a bar and all its values as points, by work.

    Returns:
        The figure, or None when nothing of the kind was measured.
    """
    groups: dict[str, list[Case]] = {}
    for case in sorted(report.cases, key=lambda case: [*Plan].index(case.plan)):
        if case.plan in _TIMED and primary(case):
            groups.setdefault(_group_name(case), []).append(case)
    if not groups:
        return None
    figure = make_subplots(
        rows=len(groups),
        cols=1,
        row_heights=[len(cases) for cases in groups.values()],
        vertical_spacing=min(0.12, 0.5 / len(groups)),
        subplot_titles=[words(name) for name in groups],
    )
    for row, cases in enumerate(groups.values(), start=1):
        for place, case in enumerate(cases):
            _add_times(figure, case, place, row)
        figure.update_yaxes(range=[len(cases) - 0.4, -0.75], visible=False, row=row, col=1)
        figure.update_xaxes(rangemode="tozero", gridcolor=GRID, row=row, col=1)
    rows = sum(len(cases) for cases in groups.values())
    figure.update_annotations(
        selector={"xanchor": "center"}, font={"size": 13}, x=0, xanchor="left"
    )
    return framed(figure, ROW_PX * rows + 62 * len(groups) + 16)


def speedup_figure(report: Report) -> go.Figure | None:
    """Draw each ratio with its 95 % interval, and below them what others have published.

    Returns:
        The figure, or None when nothing was compared.
    """
    found = [(case, gain) for case in report.cases if (gain := speedup_of(report, case))]
    if not found:
        return None
    figure = go.Figure()
    for place, (case, gain) in enumerate(found):
        colour = CLAIM_COLOURS[gain.claim]
        figure.add_trace(
            go.Scatter(
                x=[gain.ratio],
                y=[place],
                mode="markers",
                marker={"color": colour, "size": 11},
                error_x={
                    "type": "data",
                    "symmetric": False,
                    "array": [gain.high - gain.ratio],
                    "arrayminus": [gain.ratio - gain.low],
                    "color": colour,
                    "thickness": 2,
                    "width": 6,
                },
                hovertemplate=f"{gain.ratio:.3g}× [{gain.low:.3g}, {gain.high:.3g}], "
                f"{gain.pairs} pairs<extra></extra>",
            )
        )
        label(figure, f"{number(gain.ratio)}× · {gain.claim.value} · {_short_name(case)}", place)
    published = [row for row in PUBLISHED if row.ratio is not None and row.plan in report.plans]
    for place, row in enumerate(published, start=len(found)):
        figure.add_trace(
            go.Scatter(
                x=[row.ratio],
                y=[place],
                mode="markers",
                marker={"color": INK, "size": 11, "symbol": "diamond-open"},
                hovertemplate=f"{words(row.source)}: {row.ratio:g}×<extra></extra>",
            )
        )
        label(figure, f"{row.ratio:g}× · published by others · {row.what}", place)
    count = len(found) + len(published)
    figure.add_vline(x=1, line={"color": INK, "dash": "dot"}, opacity=0.5, layer="below")
    figure.update_yaxes(range=[count - 0.4, -0.75], visible=False)
    figure.update_xaxes(type="log", gridcolor=GRID, ticksuffix="×", nticks=6)
    return titled(framed(figure, ROW_PX * count + 76), "Times as fast as the baseline")


def split_figure(report: Report) -> go.Figure | None:
    """Draw where the median request spends its time, as shares of the whole.

    Returns:
        The figure, or None when no request was measured.
    """
    cases = [case for case in report.cases if case.plan is Plan.E2E and primary(case)]
    if not cases:
        return None
    figure = go.Figure()
    totals = [sum(typical(case, q) or 0.0 for q in PHASES) or 1.0 for case in cases]
    for name, quantity, colour in zip(PHASE_NAMES, PHASES, PHASE_COLOURS, strict=True):
        values = [typical(case, quantity) or 0.0 for case in cases]
        shares = [100 * value / total for value, total in zip(values, totals, strict=True)]
        figure.add_trace(
            go.Bar(
                orientation="h",
                name=name,
                y=list(range(len(cases))),
                x=shares,
                width=0.42,
                marker={"color": colour, "line": {"width": 0}},
                customdata=[1e3 * value for value in values],
                hovertemplate=f"{name}: %{{customdata:,.4g}} ms, %{{x:.1f}} %<extra></extra>",
            )
        )
    for place, case in enumerate(cases):
        label(figure, f"{number(median(primary(case)))} s · {_short_name(case)}", place)
    figure.update_layout(barmode="stack", showlegend=True)
    figure.update_yaxes(range=[len(cases) - 0.4, -0.75], visible=False)
    figure.update_xaxes(range=[0, 100], ticksuffix=" %", gridcolor=GRID)
    framed(figure, ROW_PX * len(cases) + 112).update_layout(
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"}
    )
    return titled(figure, "Where the time of a request goes", margin=68)


def memory_figure(report: Report) -> go.Figure | None:
    """Draw the memory of the process over time, one line a trial.

    Returns:
        The figure, or None when no memory was sampled.
    """
    cases = [case for case in report.cases if case.raw.get(Quantity.SAMPLED_BYTES)]
    if not cases:
        return None
    figure = go.Figure()
    for case, colour in zip(cases, SPEAKER_COLOURS * len(cases), strict=False):
        figure.add_trace(
            go.Scatter(
                x=list(case.raw[Quantity.SAMPLED_AT_S]),
                y=[used / 2**20 for used in case.raw[Quantity.SAMPLED_BYTES]],
                mode="lines",
                name=words(f"{_short_name(case)}, {case.labels.get('memory_source', '')}"),
                line={"color": colour, "width": 2, "shape": "hv"},
                hovertemplate="%{x:.2f} s: %{y:,.0f} MiB<extra></extra>",
            )
        )
    figure.update_xaxes(title="Seconds since the trial began", gridcolor=GRID)
    figure.update_yaxes(title="MiB", gridcolor=GRID, rangemode="tozero", tickformat=",.0f")
    return with_legend(figure, 300, len(cases), "Memory of the process over time")


def batch_figure(report: Report) -> go.Figure | None:
    """Draw seconds a clip by batch size, every run as a point, the sweet spot as a star.

    Returns:
        The figure, or None when no batch was measured.
    """
    cases = [case for case in report.cases if case.plan is Plan.BATCH and primary(case)]
    if not cases:
        return None
    best = set(sweet_spots(cases).values())
    ways: dict[str, list[Case]] = {}
    for case in cases:
        ways.setdefault(variant_name(case), []).append(case)
    figure = go.Figure()
    for name, sizes in ways.items():
        colour = _way_colour(sizes[0])
        ordered = sorted(sizes, key=lambda case: case.work.batch)
        points = [(case.work.batch, value) for case in ordered for value in primary(case)]
        figure.add_trace(
            go.Scatter(
                x=[size for size, _ in points],
                y=[value for _, value in points],
                mode="markers",
                marker={"color": colour, "size": 6, "opacity": 0.6},
                hoverinfo="skip",
                showlegend=False,
            )
        )
        figure.add_trace(
            go.Scatter(
                x=[case.work.batch for case in ordered],
                y=[median(primary(case)) for case in ordered],
                mode="lines+markers",
                name=words(name),
                line={"color": colour, "width": 2},
                marker={
                    "size": [17 if case.name in best else 9 for case in ordered],
                    "symbol": ["star" if case.name in best else "circle" for case in ordered],
                },
                hovertemplate="batch %{x}: %{y:.4g} s a clip<extra></extra>",
            )
        )
    sizes_shown = sorted({case.work.batch for case in cases})
    figure.update_xaxes(
        type="log", tickvals=sizes_shown, gridcolor=GRID, title="Clips a batch (★ sweet spot)"
    )
    figure.update_yaxes(type="log", gridcolor=GRID, title="Seconds a clip")
    return with_legend(figure, 320, len(ways), "Seconds a clip by batch size")


def _add_times(figure: go.Figure, case: Case, place: int, row: int) -> None:
    values = primary(case)
    unit = PRIMARY[case.plan].value.rsplit("_", 1)[-1]
    colour = _colour(case)
    figure.add_trace(
        go.Bar(
            orientation="h",
            y=[place],
            x=[median(values)],
            width=0.42,
            marker={"color": colour, "opacity": 0.45, "line": {"width": 0}},
            hovertemplate=f"median of {len(values)}: %{{x:.4g}} {unit}<extra></extra>",
        ),
        row=row,
        col=1,
    )
    figure.add_trace(
        go.Scatter(
            x=list(values),
            y=[place + 0.3 * (n / max(1, len(values) - 1) - 0.5) for n in range(len(values))],
            mode="markers",
            marker={"color": colour, "size": 6, "line": {"width": 1, "color": "white"}},
            hovertemplate=f"%{{x:.4g}} {unit}<extra></extra>",
        ),
        row=row,
        col=1,
    )
    name = mode_name(case) if case.plan is Plan.ENCODER else variant_name(case)
    label(
        figure,
        f"{number(median(values))} {unit} · {name}",
        place,
        axis="" if row == 1 else f"{row}",
    )


def _group_name(case: Case) -> str:
    if case.plan is Plan.ENCODER:
        windows = "1 window" if case.work.chunks == 1 else f"{case.work.chunks} windows"
        return f"Encoder alone, {windows} of 30 s"
    plan = "Requests" if case.plan is Plan.E2E else "Precisions"
    return f"{plan}, {work_name(case)}"


def _short_name(case: Case) -> str:
    if case.plan is Plan.ENCODER:
        return f"{mode_name(case)} · {case.work.chunks} × 30 s"
    if case.plan is Plan.BATCH:
        return f"{variant_name(case)} · batch {case.work.batch}"
    return f"{variant_name(case)} · {case.work.audio_s:.0f} s"


def _way_colour(case: Case) -> str:
    """Give the plainest way of running batches a quiet colour, and unbatched fp32 its own."""
    if case.baseline is None:
        return UNLABELLED_COLOUR
    return SPEAKER_COLOURS[5 if case.variant.precision == Precision.FP32 else 0]


def _colour(case: Case) -> str:
    """Give what is compared with a quiet colour, and each way of computing its own."""
    if case.baseline is None:
        return UNLABELLED_COLOUR
    if case.plan is Plan.PRECISION:
        return SPEAKER_COLOURS[[*Precision].index(Precision(case.variant.precision))]
    return ENCODER_COLOURS.get(case.variant.encoder, SPEAKER_COLOURS[0])
