"""Plotly figures of an evaluation. Pure: rows in, a figure out, or None where it would be empty."""

from collections import Counter
from collections.abc import Sequence

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.batch.rows import ClipRow
from moss_demo.ui.bench_frame import framed, titled, words
from moss_demo.ui.figures import FONT, SPEAKER_COLOURS

MAX_BARS = 40
"""Clips that are drawn one by one; the worst of them say most."""

_BAR_PX = 24
_HOVER = "%{customdata[0]}<br>%{customdata[1]}<extra></extra>"


def error_figure(rows: Sequence[ClipRow]) -> go.Figure | None:
    """Draw the word error rate of each clip, the worst on top."""
    measured = [row for row in rows if row.wer is not None]
    if not measured:
        return None
    worst = sorted(measured, key=lambda row: (-(row.wer or 0.0), row.line))[:MAX_BARS]
    figure = go.Figure(
        go.Bar(
            orientation="h",
            y=list(range(len(worst))),
            x=[100 * (row.wer or 0.0) for row in worst],
            text=[f"{100 * (row.wer or 0.0):.1f}" for row in worst],
            textposition="outside",
            cliponaxis=False,
            marker={"color": SPEAKER_COLOURS[0]},
            hoverinfo="skip",
        )
    )
    framed(figure, 80 + _BAR_PX * len(worst))
    figure.update_yaxes(
        tickvals=list(range(len(worst))),
        ticktext=[f"{_name(row)}  " for row in worst],
        autorange="reversed",
        fixedrange=True,
    )
    figure.update_xaxes(visible=False, rangemode="tozero")
    few = len(worst) < len(measured)
    return titled(
        figure, f"WER % of the {len(worst)} worst recordings" if few else "WER % by recording"
    )


def length_figure(rows: Sequence[ClipRow]) -> go.Figure | None:
    """Draw the word error rate against the length of the recording."""
    measured = [row for row in rows if row.wer is not None and row.duration_s]
    if not measured:
        return None
    figure = go.Figure(
        go.Scatter(
            mode="markers",
            x=[row.duration_s for row in measured],
            y=[100 * (row.wer or 0.0) for row in measured],
            customdata=[
                [_name(row), f"{row.duration_s:.1f} s, WER {100 * (row.wer or 0.0):.1f} %"]
                for row in measured
            ],
            hovertemplate=_HOVER,
            cliponaxis=False,
            marker={"size": 9, "opacity": 0.75, "color": SPEAKER_COLOURS[2]},
        )
    )
    framed(figure, 320)
    figure.update_xaxes(title=_axis("seconds"), rangemode="tozero")
    figure.update_yaxes(title=_axis("WER %"), rangemode="tozero")
    return titled(figure, "Length against error")


def speakers_figure(rows: Sequence[ClipRow]) -> go.Figure | None:
    """Draw how many speakers were found for how many there are; right ones lie on the diagonal."""
    pairs = Counter(
        (row.reference_speakers, row.reference_speakers + row.speaker_count_error)
        for row in rows
        if row.reference_speakers is not None and row.speaker_count_error is not None
    )
    if not pairs:
        return None
    true, found = sorted({a for a, _ in pairs}), sorted({b for _, b in pairs})
    counts = [[pairs.get((a, b)) for b in found] for a in true]
    figure = go.Figure(
        go.Heatmap(
            x=[str(b) for b in found],
            y=[str(a) for a in true],
            z=counts,
            text=[[str(count or "") for count in line] for line in counts],
            texttemplate="%{text}",
            textfont={"size": 15, "color": "#0f172a", "family": FONT},
            colorscale=[[0, "#dbe4ff"], [1, "#8ea2f8"]],  # dark words are read on all of it
            showscale=False,
            xgap=2,
            ygap=2,
            hoverinfo="skip",
        )
    )
    framed(figure, 180 + 44 * len(true))
    figure.update_xaxes(title=_axis("speakers found"), type="category", showgrid=False)
    figure.update_yaxes(
        title=_axis("speakers there are"), type="category", autorange="reversed", showgrid=False
    )
    return titled(figure, "Recordings by number of speakers")


def _axis(text: str) -> dict[str, object]:
    return {"text": text, "font": {"size": 13}}


def _name(row: ClipRow) -> str:
    name = row.audio if len(row.audio) <= 28 else f"…{row.audio[-27:]}"
    return words(name)
