"""The offer to fetch the published checkpoint: one click, progress, cancel, and it is chosen."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import gradio as gr

from moss_demo.engine.checkpoints import PUBLISHED, is_downloaded
from moss_demo.engine.download import download
from moss_demo.errors import MossDemoError
from moss_demo.serving.context import AppContext
from moss_demo.ui import present
from moss_demo.ui.panels import Status
from moss_demo.ui.wiring import HELPER, Updates


def build(context: AppContext, checkpoint: gr.Dropdown, notice: gr.Markdown) -> None:
    """Lay the offer out below the checkpoint's notice; it hides once there is nothing to fetch.

    Where the host allows no download there is no event either: one behind a hidden button could
    be called all the same.
    """
    if not context.settings.allow_download:
        return
    with gr.Row(visible=not is_downloaded(PUBLISHED)) as row:
        fetch = gr.Button(present.OFFER, size="sm", elem_id="fetch")
        cancel = gr.Button("Cancel", size="sm", visible=False, min_width=70, elem_id="cancel-fetch")
    progress = Status("", elem_id="fetch-progress", visible=False)

    def begin() -> Updates:
        return {
            fetch: gr.Button(interactive=False),
            cancel: gr.Button(visible=True),
            progress: gr.HTML(value="Asking the hub…", visible=True),
        }

    def run() -> Iterator[Updates]:
        try:
            with closing(download(PUBLISHED, context.settings.hub_endpoint)) as steps:
                for step in steps:
                    line = present.download_line(step.done_bytes, step.total_bytes)
                    yield {progress: line}
        except MossDemoError as error:
            yield {progress: str(error), fetch: gr.Button(interactive=True), cancel: _hidden()}
            return
        yield {
            row: gr.Row(visible=False),
            progress: gr.HTML(visible=False),
            notice: present.checkpoint_notice(PUBLISHED.repo),
            checkpoint: gr.Dropdown(context.checkpoint_choices(), value=PUBLISHED.repo),
        }

    def stopped() -> Updates:
        return {
            fetch: gr.Button(interactive=True),
            cancel: _hidden(),
            progress: "Cancelled; what was fetched is kept for the next try.",
        }

    begun = fetch.click(begin, None, [fetch, cancel, progress], queue=False, **HELPER)
    job = begun.then(
        run,
        None,
        [progress, fetch, cancel, row, notice, checkpoint],
        concurrency_limit=1,
        concurrency_id="download",
        **HELPER,
    )
    cancel.click(None, None, None, cancels=[job], api_visibility="private").then(
        stopped, None, [fetch, cancel, progress], **HELPER
    )


def _hidden() -> Any:
    return gr.Button(visible=False)
