"""What the wiring of every tab shares: private helper events, and a Start with its Stop."""

from collections.abc import Iterable
from html import escape
from typing import Any

import gradio as gr

from moss_demo.errors import MossDemoError

Updates = dict[Any, Any]
"""New values and properties by component."""

HELPER: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""An event of the page alone: no endpoint, and nothing drawn over its outputs."""

ON_DEVICE: dict[str, Any] = {"concurrency_limit": None}
"""An event that uses the device. Gradio holds none of them back: those of the page and those of
the API stand in one line, the pool's, which tells each where it stands."""

IN_TURN: dict[str, Any] = {"concurrency_id": "visit", "concurrency_limit": 1}
"""An event that reads what a visit keeps and writes it back. One at a time: of two at once, the
one that ends last would undo the other."""


def started(start: gr.Button, stop: gr.Button) -> Updates:
    """Return the buttons' state while a run goes on."""
    return {start: gr.Button(interactive=False), stop: gr.Button(interactive=True)}


def ended(start: gr.Button, stop: gr.Button) -> Updates:
    """Return the buttons' state when nothing runs."""
    return {start: gr.Button(interactive=True), stop: gr.Button(interactive=False)}


def withdrawn(plots: Iterable[gr.Plot], downloads: Iterable[gr.DownloadButton]) -> Updates:
    """Hide charts and offer no files: what they hold is of a run before the one in view."""
    hidden: Updates = {plot: gr.Plot(visible=False) for plot in plots}
    return hidden | {button: gr.DownloadButton(interactive=False) for button in downloads}


def in_toast(sentence: object) -> str:
    """Spell a sentence for a toast, which Gradio reads as markup; names in it come from files."""
    return escape(str(sentence), quote=False)


def as_toast(error: MossDemoError) -> gr.Error:
    """Return what ends an event of the page with the error's sentence."""
    return gr.Error(in_toast(error), print_exception=False)
