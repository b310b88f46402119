"""The page: its tabs in order, and how it is served."""

import threading

import gradio as gr
from starlette.middleware import Middleware

from moss_demo.api.routes import api_routes
from moss_demo.batch.sources import BUILTIN_MANIFEST
from moss_demo.serving.context import ASSETS, AppContext
from moss_demo.serving.temp_files import Room, start_sweeping
from moss_demo.settings import keep_files_in, keep_gradio_offline
from moss_demo.ui import (
    endpoint,
    tab_benchmark,
    tab_compare,
    tab_evaluate,
    tab_system,
    tab_transcribe,
)
from moss_demo.ui.front_door import FrontDoor, fetch_nothing
from moss_demo.ui.language import LanguageSwitch
from moss_demo.ui.theme import load_css, load_head, make_theme
from moss_demo.ui.visitor import leave
from moss_demo.ui.wiring import HELPER

TITLE = "MOSS-Transcribe-Diarize"
INTRODUCTION = (
    "# MOSS-Transcribe-Diarize\n"
    "Upload or record a conversation: who said what and when, as the model writes it."
)
QUEUE_LENGTH = 64
"""Events of the page that may wait for a thread; runs wait in the pool's own line."""

HELPER_THREADS = 40
SESSIONS = 1_000
"""Visitors whose results are kept in memory, those seen last."""


def build_app(context: AppContext) -> gr.Blocks:
    """Build the page; nothing is loaded and nothing is downloaded."""
    keep_gradio_offline()
    fetch_nothing()
    keep_files_in(context.settings.temp_folder)
    page = gr.Blocks(title=TITLE, analytics_enabled=False)
    with page:
        with gr.Row(elem_classes="masthead"):
            gr.Markdown(INTRODUCTION)
            LanguageSwitch(elem_id="language")
        handed = gr.State(None)
        with gr.Tabs(overflow_behavior="wrap") as tabs:
            with gr.Tab("Transcribe", id="transcribe"):
                tab_transcribe.build(context, handed)
            with gr.Tab("Compare", id="compare"):
                tab_compare.build(context, handed)
            if not context.settings.zero_gpu:  # what borrows a GPU has it for one run
                with gr.Tab("Evaluate", id="evaluate"):
                    tab_evaluate.build(context, handed)
                with gr.Tab("Benchmark", id="benchmark") as benchmark:
                    tab_benchmark.build(context, benchmark)
            with gr.Tab("System", id="system") as system:
                tab_system.build(context, system)
        handed.change(lambda: gr.Tabs(selected="compare"), None, tabs, queue=False, **HELPER)
        endpoint.build(context)
        page.unload(leave)
    page.queue(max_size=QUEUE_LENGTH, default_concurrency_limit=8)
    return page


def launch(
    page: gr.Blocks,
    context: AppContext,
    *,
    host: str | None = None,
    port: int | None = None,
) -> str:
    """Serve the page and the API.

    Args:
        page: what `build_app` made.
        context: the host's settings.
        host: address, or None for `GRADIO_SERVER_NAME` or the loopback address.
        port: port, or None for `GRADIO_SERVER_PORT` or the first free one from 7860 on.

    Returns:
        The address of the page.
    """
    settings = context.settings
    room = Room(settings.temp_folder, settings.max_temp_bytes)
    door = Middleware(FrontDoor, room, settings.max_file_bytes)
    _, address, _ = page.launch(
        server_name=host,
        server_port=port,
        prevent_thread_lock=True,
        quiet=True,
        max_threads=settings.max_queue + HELPER_THREADS,
        theme=make_theme(),
        css=load_css(),
        head=load_head(),
        ssr_mode=False,
        run_history=False,
        show_error=False,
        max_file_size=settings.max_file_bytes,
        allowed_paths=[str(ASSETS / "samples"), str(BUILTIN_MANIFEST.parent)],
        state_session_capacity=SESSIONS,
        app_kwargs={"middleware": [door], "routes": api_routes(context), "openapi_url": None},
        auth=[*settings.logins] or None,
        footer_links=["api"],
    )
    return str(address)


def keep_serving(page: gr.Blocks, context: AppContext, address: str) -> None:
    """Test and warm the server up, clean up behind visitors, and return when it ends."""
    settings = context.settings
    start_sweeping(settings.temp_folder, settings.max_temp_bytes)
    threading.Thread(target=context.self_test, name="moss-demo-self-test", daemon=True).start()
    print(f"Open {address}", flush=True)
    page.block_thread()
