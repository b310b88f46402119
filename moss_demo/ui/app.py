"""The page: its tabs in order, and how it is served."""

import gradio as gr

from moss_demo.api.routes import add_routes
from moss_demo.batch.sources import BUILTIN_MANIFEST
from moss_demo.settings import keep_gradio_offline
from moss_demo.ui import (
    endpoint,
    tab_benchmark,
    tab_compare,
    tab_evaluate,
    tab_system,
    tab_transcribe,
)
from moss_demo.ui.context import ASSETS, AppContext
from moss_demo.ui.language import LanguageSwitch
from moss_demo.ui.theme import load_css, make_theme
from moss_demo.ui.wiring import HELPER

TITLE = "MOSS-Transcribe-Diarize"
INTRODUCTION = (
    "# MOSS-Transcribe-Diarize\n"
    "Upload or record a conversation: who said what and when, as the model writes it."
)
QUEUE_LENGTH = 64
"""Events of the page that may wait for a thread; runs wait in the pool's own line."""

HELPER_THREADS = 40
UPLOADS_LIVE_S = 3_600


def build_app(context: AppContext) -> gr.Blocks:
    """Build the page; nothing is loaded and nothing is downloaded."""
    keep_gradio_offline()
    page = gr.Blocks(
        title=TITLE, analytics_enabled=False, delete_cache=(UPLOADS_LIVE_S // 4, UPLOADS_LIVE_S)
    )
    with page:
        with gr.Row(elem_classes="masthead"):
            gr.Markdown(INTRODUCTION)
            LanguageSwitch(elem_id="language")
        handed = gr.State(None)
        with gr.Tabs() as tabs:
            with gr.Tab("Transcribe", id="transcribe"):
                tab_transcribe.build(context)
            with gr.Tab("Compare", id="compare"):
                tab_compare.build(context, handed)
            with gr.Tab("Evaluate", id="evaluate"):
                tab_evaluate.build(context, handed)
            with gr.Tab("Benchmark", id="benchmark") as benchmark:
                tab_benchmark.build(context, benchmark)
            with gr.Tab("System", id="system") as system:
                tab_system.build(context, system)
        handed.change(lambda: gr.Tabs(selected="compare"), None, tabs, queue=False, **HELPER)
        endpoint.build(context)
    page.queue(max_size=QUEUE_LENGTH, default_concurrency_limit=8)
    return page


def launch(
    page: gr.Blocks,
    context: AppContext,
    *,
    host: str | None = None,
    port: int | None = None,
    blocks: bool = True,
) -> str:
    """Serve the page and the API.

    Args:
        page: what `build_app` made.
        context: the host's settings.
        host: address, or None for `GRADIO_SERVER_NAME` or the loopback address.
        port: port, or None for `GRADIO_SERVER_PORT` or the first free one from 7860 on.
        blocks: return only when the server ends.

    Returns:
        The address of the page.
    """
    app, address, _ = page.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        quiet=True,
        max_threads=context.settings.max_queue + HELPER_THREADS,
        theme=make_theme(),
        css=load_css(),
        ssr_mode=False,
        run_history=False,
        show_error=False,
        max_file_size=context.settings.max_file_bytes,
        allowed_paths=[str(ASSETS / "samples"), str(BUILTIN_MANIFEST.parent)],
        auth=[*context.settings.logins] or None,
        footer_links=["api"],
    )
    add_routes(app, context)
    if blocks:
        print(f"Open {address}", flush=True)
        page.block_thread()
    return str(address)
