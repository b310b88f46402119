"""What the figures of a benchmark share: their frame, words above bars, legends."""

import html

import plotly.graph_objects as go  # type: ignore[import-untyped]  # ships no types

from moss_demo.ui.figures import FONT, INK

ROW_PX = 46
"""Height of a bar with the words above it."""


def label(figure: go.Figure, text: str, place: int, axis: str = "") -> None:
    """Write words above the bar at `place`, from the left edge on."""
    figure.add_annotation(
        text=words(text),
        xref=f"x{axis} domain",
        yref=f"y{axis}",
        x=0,
        y=place - 0.26,
        xanchor="left",
        yanchor="bottom",
        showarrow=False,
        align="left",
        font={"size": 12},
    )


def titled(figure: go.Figure, title: str, margin: int = 44) -> go.Figure:
    """Write a title at the left edge, above `margin` pixels that are kept free."""
    return figure.update_layout(
        margin_t=margin,
        title={
            "text": words(title),
            "font": {"size": 13},
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "y": 1,
            "yref": "container",
            "yanchor": "top",
            "pad": {"t": 12, "l": 10},
        },
    )


def with_legend(figure: go.Figure, height: int, entries: int, title: str) -> go.Figure:
    """Frame a figure with its title and, below that, its legend, one entry a line."""
    framed(figure, height + 22 * entries).update_layout(
        showlegend=True,
        margin_b=48,
        legend={"orientation": "v", "x": 0, "y": 1.02, "yanchor": "bottom", "font": {"size": 12}},
    )
    return titled(figure, title, margin=44 + 22 * entries)


def framed(figure: go.Figure, height: int) -> go.Figure:
    """Give a figure the look of the page in both modes."""
    figure.update_layout(
        height=height,
        margin={"l": 8, "r": 16, "t": 28, "b": 32},
        paper_bgcolor="rgba(0, 0, 0, 0)",
        plot_bgcolor="rgba(0, 0, 0, 0)",
        font={"family": FONT, "size": 13, "color": INK},
        hoverlabel={"bgcolor": "#0f172a", "font": {"family": FONT, "color": "#ffffff"}},
        modebar={"bgcolor": "rgba(0, 0, 0, 0)", "color": INK, "remove": ["select", "lasso"]},
    )
    if figure.layout.showlegend is None:
        figure.update_layout(showlegend=False)
    figure.update_xaxes(automargin=True, zeroline=False)
    figure.update_yaxes(automargin=True, zeroline=False)
    return figure


def words(text: str) -> str:
    """Escape what plotly would read as markup."""
    return html.escape(" ".join(text.split()), quote=False)
