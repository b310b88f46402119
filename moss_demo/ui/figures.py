"""Plotly figures of a finished transcript. Pure: values in, a figure out.

A figure is drawn once, when a run has ended; the live view is the timeline component. Backgrounds
are transparent and colours hold 3:1 on the page's white and dark surfaces, since the server does
not know which one the visitor sees. Plotly reads markup in every string, so all words are escaped.
"""

import html
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.domain.figures import clock
from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.scoring.parity import MAX_DRIFT_MS
from moss_demo.scoring.verdict import DriftBin
from moss_demo.ui.lanes import UNLABELLED, drawable, speaker_name, stamp, talk_time_s

SPEAKER_COLOURS = (
    "#5771f3",
    "#df5d16",
    "#14897d",
    "#b265af",
    "#9a7d10",
    "#8a68d8",
    "#d9453f",
    "#0a86de",
)
UNLABELLED_COLOUR = "#7486a0"
BLOCK_OPACITY = 0.9
"""Lets overlapping turns of one speaker show as such."""

MAX_BARS = 200
"""Turns of one lane that are drawn as bars of their own; a browser stands still over thousands."""

FONT = "IBM Plex Sans, system-ui, sans-serif"
INK = "#64748b"
GRID = "rgba(100, 116, 139, 0.28)"
_HOVER = "<b>%{customdata[2]}</b>  %{customdata[0]}<br>%{customdata[1]}<extra></extra>"
_LANE_PX = 38
_UNUSED_TOOLS = ("select", "lasso", "autoScale", "zoomIn", "zoomOut")
_HOVER_COLUMNS = 60
_HOVER_CHARACTERS = 300


def timeline_figure(
    transcript: Transcript, duration_s: float, names: Mapping[str, str]
) -> go.Figure:
    """Draw who spoke when: one lane a speaker, the words under the pointer.

    Args:
        transcript: a finished one; segments without both times are left out.
        duration_s: length of the recording in seconds; later stamps are cut to it.
        names: names given by a person, by label.
    """
    lanes = _ordered(transcript)
    figure = _lane_figure("Who spoke when", lanes, names)
    segments = drawable(transcript.segments, duration_s)
    for row, label in enumerate(lanes):
        own = [segment for segment in segments if segment.speaker == label]
        figure.add_trace(_turns(own, row, _colour(lanes, label), speaker_name(label, names)))
    end_s = duration_s or max((s.end or 0.0 for s in segments), default=1.0)
    figure.update_xaxes(
        type="date",  # ticks stay readable at every zoom
        range=[_moment(0.0), _moment(end_s)],
        tickformatstops=[
            {"dtickrange": [None, 1000], "value": "%-M:%S.%L"},
            {"dtickrange": [1000, None], "value": "%-H:%M:%S" if end_s >= 3600 else "%-M:%S"},
        ],
        gridcolor=GRID,
    )
    figure.update_layout(barmode="overlay", hovermode="closest")
    if not segments:
        _say(figure, "The transcript holds no times.")
    return figure


def talk_time_figure(
    transcript: Transcript, duration_s: float, names: Mapping[str, str]
) -> go.Figure:
    """Draw seconds of speech by speaker with each one's share; overlaps count for everyone.

    Args:
        transcript: a finished one.
        duration_s: length of the recording in seconds; later stamps are cut to it.
        names: names given by a person, by label.
    """
    lanes = _ordered(transcript)
    figure = _lane_figure("Talk time", lanes, names)
    talk_s = talk_time_s(transcript.segments, duration_s)
    total_s = sum(talk_s.values())
    if not total_s:
        return _say(figure, "The transcript holds no times.")
    figure.add_trace(
        go.Bar(
            orientation="h",
            y=list(range(len(lanes))),
            x=[talk_s[label] for label in lanes],
            text=[f"{clock(talk_s[label])} · {talk_s[label] / total_s:.0%}" for label in lanes],
            textposition="outside",
            cliponaxis=False,
            marker={"color": [_colour(lanes, label) for label in lanes], "line": {"width": 0}},
            width=0.6,
            hoverinfo="skip",
        )
    )
    longest_s = max(talk_s.values())
    figure.update_xaxes(range=[0, 1.25 * longest_s], visible=False)  # room for the words outside
    figure.update_layout(margin_b=8, modebar_remove=["zoom", "pan", "resetScale", *_UNUSED_TOOLS])
    return figure


def axis_figure(sides: Sequence[Transcript], duration_s: float) -> go.Figure:
    """Draw transcripts of one recording on one axis, lanes of A above lanes of B.

    Args:
        sides: A, B and so on.
        duration_s: length of the recording in seconds.
    """
    lanes = tuple(
        replace(segment, speaker=f"{letter} · {segment.speaker or UNLABELLED}")
        for letter, side in zip("AB", sides, strict=True)
        for segment in side.segments
    )
    return timeline_figure(Transcript(lanes), duration_s, {})


def drift_figure(bins: Sequence[DriftBin]) -> go.Figure:
    """Draw how many stamps drifted how far; what passes is blue, what does not is orange."""
    names = [f"over {bins[-2].up_to_ms} ms" if b.up_to_ms is None else f"≤ {b.up_to_ms} ms"
             for b in bins]  # fmt: skip
    passes = [b.up_to_ms is not None and b.up_to_ms <= MAX_DRIFT_MS for b in bins]
    figure = go.Figure(
        go.Bar(
            x=names,
            y=[b.stamps for b in bins],
            text=[b.stamps for b in bins],
            textposition="outside",
            cliponaxis=False,
            marker={"color": [SPEAKER_COLOURS[0 if p else 1] for p in passes]},
            hoverinfo="skip",
        )
    )
    figure.update_layout(
        height=240,
        margin={"l": 8, "r": 16, "t": 44, "b": 32},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        font={"family": FONT, "size": 13, "color": INK},
        title=_title("Stamps of matched segments by drift"),
        showlegend=False,
    )
    figure.update_yaxes(visible=False, rangemode="tozero")
    return figure


def _ordered(transcript: Transcript) -> tuple[str | None, ...]:
    """Return labels in order of appearance, unlabelled speech last, as the live view has them."""
    return tuple(sorted(transcript.speakers, key=lambda label: label is None))


def _colour(lanes: tuple[str | None, ...], label: str | None) -> str:
    if label is None:
        return UNLABELLED_COLOUR
    return SPEAKER_COLOURS[lanes.index(label) % len(SPEAKER_COLOURS)]


def _lane_figure(title: str, lanes: tuple[str | None, ...], names: Mapping[str, str]) -> go.Figure:
    """Return the empty frame that both figures share: speakers from top to bottom."""
    figure = go.Figure()
    figure.update_layout(
        height=84 + _LANE_PX * max(2, len(lanes)),
        margin={"l": 8, "r": 16, "t": 44, "b": 32},
        title=_title(title),
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        font={"family": FONT, "size": 13, "color": INK},
        hoverlabel={
            "bgcolor": "#0f172a",
            "font": {"family": FONT, "color": "#ffffff"},
            "align": "left",
        },
        modebar={
            "bgcolor": "rgba(0, 0, 0, 0)",
            "color": INK,
            "activecolor": SPEAKER_COLOURS[0],
            "remove": _UNUSED_TOOLS,
        },
        showlegend=False,
    )
    figure.update_yaxes(
        tickvals=list(range(len(lanes))),
        ticktext=[_escaped(speaker_name(label, names), 24) + "  " for label in lanes],
        range=[max(0, len(lanes) - 1) + 0.5, -0.5],
        fixedrange=True,
        showgrid=False,
        zeroline=False,
        automargin=True,
    )
    return figure


def _title(text: str) -> dict[str, object]:
    return {"text": text, "font": {"size": 13}, "x": 0, "xref": "paper"}


def _turns(segments: list[Segment], row: int, colour: str, name: str) -> go.Bar | go.Scatter:
    times = [(segment.start or 0.0, segment.end or 0.0) for segment in segments]
    words = [
        [f"{stamp(start)} – {stamp(end)}", _wrapped(segment.text), _escaped(name, 60)]
        for segment, (start, end) in zip(segments, times, strict=True)
    ]
    if len(segments) > MAX_BARS:
        return _line_of_turns(times, words, row, colour)
    return go.Bar(
        orientation="h",
        name=_escaped(name, 60),
        y=[row] * len(segments),
        base=[_moment(start) for start, _ in times],
        x=[1000 * (end - start) for start, end in times],
        width=0.6,
        marker={"color": colour, "opacity": BLOCK_OPACITY, "line": {"width": 0}},
        customdata=words,
        hovertemplate=_HOVER,
        hoverlabel={"bordercolor": colour},
    )


def _line_of_turns(
    times: list[tuple[float, float]], words: list[list[str]], row: int, colour: str
) -> go.Scatter:
    """Draw turns as one thick line with gaps; its words are shown at both ends of a turn."""
    return go.Scatter(
        mode="lines",
        name=words[0][2],
        x=[x for start, end in times for x in (_moment(start), _moment(end), None)],
        y=[row, row, None] * len(times),
        line={"color": colour, "width": 0.6 * _LANE_PX},
        opacity=BLOCK_OPACITY,
        customdata=[line for line in words for _ in range(3)],
        hovertemplate=_HOVER,
        hoverlabel={"bordercolor": colour},
    )


def _moment(seconds: float) -> str:
    """Return a position as a date, counted from 1970.

    Spelled out, because plotly takes a number of four digits on a date axis for a year, and bars
    between 1 s and 10 s would vanish.
    """
    return (datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat(" ", "milliseconds")


def _say(figure: go.Figure, sentence: str) -> go.Figure:
    figure.add_annotation(text=sentence, x=0.5, y=0.5, xref="paper", yref="paper", showarrow=False)
    figure.update_xaxes(showticklabels=False, showgrid=False, zeroline=False)
    return figure


def _escaped(text: str, length: int) -> str:
    short = text if len(text) <= length else text[: length - 1] + "…"
    return html.escape(" ".join(short.split()), quote=False)


def _wrapped(text: str) -> str:
    short = textwrap.shorten(text, _HOVER_CHARACTERS, placeholder="…")
    lines = textwrap.wrap(short, _HOVER_COLUMNS, break_on_hyphens=False)
    return "<br>".join(html.escape(line, quote=False) for line in lines)
