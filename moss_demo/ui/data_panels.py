"""Panels that the browser draws from data: tables and a progress bar."""

from collections.abc import Iterable, Sequence
from typing import Any, TypedDict

import gradio as gr

from moss_demo.bench.tables import Table
from moss_demo.ui.panels import said_when_empty
from moss_demo.ui.theme import asset_text


class Tables(gr.HTML):
    """Tables with a title and notes; wide ones scroll sideways on their own."""

    def __init__(self, empty: str = "", **layout: Any) -> None:
        """Start with the sentence `empty`, if any; `layout` goes to `gr.HTML`."""
        super().__init__(
            [],
            html_template='<div class="tables"></div>' + said_when_empty(empty),
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("tables.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "array", "items": {"type": "object"}}


class BarState(TypedDict):
    """What the bar shows: the share that is done, what is done now, how long the rest takes."""

    done: float
    doing: str
    left: str


class ProgressBar(gr.HTML):
    """How far something is; hidden while nothing runs."""

    def __init__(self, **layout: Any) -> None:
        """Start empty; `layout` goes to `gr.HTML`."""
        super().__init__(
            None,
            html_template=(
                '<div class="progress"><div class="track" role="progressbar" '
                'aria-valuemin="0" aria-valuemax="100" aria-label="Progress"><i></i></div>'
                "<p><span></span><span></span></p></div>"
            ),
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("progress.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "object"}


def table_rows(tables: Iterable[Table]) -> list[dict[str, Any]]:
    """Return tables as the panel takes them."""
    return [
        {
            "title": table.title,
            "headers": list(table.headers),
            "rows": [list(row) for row in table.rows],
            "notes": list(table.notes),
        }
        for table in tables
    ]


def one_table(
    title: str, headers: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[dict[str, Any]]:
    """Return rows under headers as the panel takes them; without rows there is no table."""
    table = Table(title, tuple(headers), tuple(map(tuple, rows)))
    return table_rows([table] if table.rows else [])
