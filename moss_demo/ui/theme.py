"""Colours, fonts and page style of the app. Knows nothing of what the page holds.

All are given to `launch`: `theme=make_theme(), css=load_css(), head=load_head()`. Nothing is
fetched from another host: the font ships with Gradio.
"""

from functools import cache
from pathlib import Path

import gradio as gr
from gradio.themes import Base, LocalFont

_ASSETS = Path(__file__).parents[2] / "assets"


@cache
def asset_text(name: str) -> str:
    """Return the text of a file under `assets`, read once."""
    return (_ASSETS / name).read_text(encoding="utf-8")


def load_css() -> str:
    """Return the style of the page around the components."""
    return asset_text("style.css")


def load_head() -> str:
    """Return the style that is in force on the whole page."""
    return f"<style>{asset_text('head.css')}</style>"


def make_theme() -> Base:
    """Return slate and blue on plain surfaces, with text contrast of at least 4.5:1."""
    return gr.themes.Base(
        primary_hue="blue",
        secondary_hue="slate",
        neutral_hue="slate",
        radius_size="sm",
        font=[
            LocalFont("IBM Plex Sans", weights=(400, 600)),
            "Noto Sans CJK SC",
            "system-ui",
            "sans-serif",
        ],
        font_mono=[LocalFont("IBM Plex Mono", weights=(400, 600)), "ui-monospace", "monospace"],
    ).set(
        body_background_fill="*neutral_50",
        body_background_fill_dark="*neutral_950",
        body_text_color_subdued="*neutral_600",
        body_text_color_subdued_dark="*neutral_300",
        block_background_fill="white",
        block_background_fill_dark="*neutral_900",
        block_border_width="1px",
        block_shadow="none",
        block_label_background_fill="transparent",
        block_label_background_fill_dark="transparent",
        block_label_text_color="*neutral_600",
        block_label_text_color_dark="*neutral_300",
        block_title_text_weight="600",
        button_primary_background_fill="*primary_600",
        button_primary_background_fill_hover="*primary_700",
        button_primary_background_fill_dark="*primary_600",
        button_primary_background_fill_hover_dark="*primary_700",
        button_primary_text_color="white",
        link_text_color="*primary_700",
        link_text_color_dark="*primary_300",
    )
