"""The System tab: what this server is made of."""

import gradio as gr

from moss_demo.engine.environment import describe
from moss_demo.serving.context import AppContext


def build(context: AppContext, tab: gr.Tab) -> None:
    """Lay out the tab; the table is filled when the tab is opened."""
    gr.Markdown("Versions, devices and checkpoints of this server.")
    table = gr.Dataframe(
        headers=["What", "Here"],
        datatype=["str", "str"],
        interactive=False,
        show_label=False,
        wrap=True,
        elem_id="system-table",
    )
    tab.select(
        lambda: [list(row) for row in describe(context.settings)],
        None,
        table,
        queue=False,
        api_visibility="private",
        show_progress="hidden",
    )
