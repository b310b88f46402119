"""The System tab: what this server is made of."""

import gradio as gr

from moss_demo.engine.environment import describe
from moss_demo.serving.context import AppContext
from moss_demo.ui.data_panels import Tables, one_table


def build(context: AppContext, tab: gr.Tab) -> None:
    """Lay out the tab; the table is filled when the tab is opened."""
    table = Tables(elem_id="system-table")
    tab.select(
        lambda: one_table(
            "Versions, devices and checkpoints of this server",
            ("What", "Here"),
            describe(context.settings),
        ),
        None,
        table,
        queue=False,
        api_visibility="private",
        show_progress="hidden",
    )
