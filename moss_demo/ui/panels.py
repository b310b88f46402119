"""Panels drawn in the browser from data: a status line, notices about a run, its figures.

Texts reach the page as text nodes only; nothing here is a template that data could break out of.
"""

from html import escape
from typing import Any

import gradio as gr

from moss_demo.ui.theme import asset_text


def said_when_empty(sentence: str) -> str:
    """Return markup that stands behind a panel and is seen while it holds nothing."""
    return f'<p class="nothing">{escape(sentence)}</p>' if sentence else ""


class Notices(gr.HTML):
    """A list of `{"kind", "message"}` rows; empty takes no room."""

    def __init__(self, **layout: Any) -> None:
        """Start empty; `layout` goes to `gr.HTML`."""
        super().__init__(
            [],
            html_template='<div role="status"><ul class="notices"></ul></div>',
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("notices.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "array", "items": {"type": "object"}}


class Status(gr.HTML):
    """One line of plain text that screen readers announce."""

    def __init__(self, text: str, **layout: Any) -> None:
        """Start with `text`; `layout` goes to `gr.HTML`."""
        super().__init__(
            text,
            html_template='<p class="status-line" role="status"></p>',
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("status.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "string"}


class Diff(gr.HTML):
    """Lines of two aligned texts with their differences marked."""

    def __init__(self, empty: str, **layout: Any) -> None:
        """Start with the sentence `empty`; `layout` goes to `gr.HTML`."""
        super().__init__(
            [],
            html_template='<ol class="diff" tabindex="0" aria-label="Words side by side"></ol>'
            + said_when_empty(empty),
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("diff.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "array", "items": {"type": "object"}}


class HistoryList(gr.HTML):
    """The runs of a visit, see `session.history_rows`.

    Raises `reopen` and `forget` with `evt.number`, and `contrast` with `evt.first` and
    `evt.second`, see `session.side_chosen`.
    """

    def __init__(self, **layout: Any) -> None:
        """Start empty; `layout` goes to `gr.HTML`."""
        super().__init__(
            [],
            html_template=asset_text("history.html"),
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("history.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "array", "items": {"type": "object"}}


class Tiles(gr.HTML):
    """A grid of (label, value) pairs."""

    def __init__(self, empty: str = "", **layout: Any) -> None:
        """Start with the sentence `empty`, if any; `layout` goes to `gr.HTML`."""
        super().__init__(
            [],
            html_template='<dl class="tiles"></dl>' + said_when_empty(empty),
            css_template=asset_text("panels.css"),
            js_on_load=asset_text("tiles.js"),
            apply_default_css=False,
            padding=False,
            **layout,
        )

    def api_info(self) -> dict[str, Any]:
        """Describe the value to API clients."""
        return {"type": "array", "items": {"type": "array"}}
