"""The page in English and Chinese: every text by its English form, and the switch between them.

English is what the code writes; `assets/zh` holds the Chinese of each text, one file a part of the
page. The browser looks texts up as they appear, so no other module knows of languages.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import gradio as gr

from moss_demo.ui.theme import asset_text

_FOLDER = Path(__file__).parents[2] / "assets" / "zh"


@cache
def chinese() -> dict[str, str]:
    """Return the Chinese form of every text of the page; names in braces stand for what varies."""
    words: dict[str, str] = {}
    for path in sorted(_FOLDER.glob("*.json")):
        words |= json.loads(path.read_text(encoding="utf-8"))
    return words


class LanguageSwitch(gr.HTML):
    """A button that names the other language; the browser's own is chosen at first."""

    def __init__(self, **layout: Any) -> None:
        """Lay out the button; `layout` goes to `gr.HTML`."""
        super().__init__(
            html_template='<button type="button" class="language" translate="no"></button>',
            js_on_load=asset_text("language.js"),
            apply_default_css=False,
            padding=False,
            words=chinese(),
            **layout,
        )
