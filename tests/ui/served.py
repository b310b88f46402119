"""The whole app on loopback, as tests open it."""

from collections.abc import Iterator
from contextlib import contextmanager

import gradio as gr
from playwright.sync_api import Page, expect

from moss_demo.serving.context import AppContext
from moss_demo.ui.app import build_app, launch


@contextmanager
def serving(context: AppContext) -> Iterator[str]:
    """Serve a host's page and API until the block ends; gives the address."""
    page: gr.Blocks = build_app(context)
    try:
        yield launch(page, context, host="127.0.0.1")
    finally:
        page.close(verbose=False)


def await_charts(page: Page) -> None:
    """Wait for what is drawn last in a tab that holds charts: their buttons."""
    expect(page.locator(".modebar-btn:visible").first).to_be_attached()
