"""The whole app on loopback, as tests open it."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import gradio as gr
from playwright.sync_api import Browser, Page, expect

from moss_demo.serving.context import AppContext
from moss_demo.ui.app import build_app, launch

PATIENCE_MS = 300_000
"""A guard against hanging, far above what drawing or a run takes: no test asserts a duration."""


def new_page(browser: Browser, **settings: Any) -> Page:
    """Open the page of another visitor, which waits as long as the fixture's."""
    page = browser.new_page(**settings)
    page.set_default_timeout(PATIENCE_MS)
    return page


@contextmanager
def serving(context: AppContext) -> Iterator[str]:
    """Serve a host's page and API until the block ends; gives the address."""
    page: gr.Blocks = build_app(context)
    try:
        yield launch(page, context, host="127.0.0.1")
    finally:
        page.close(verbose=False)


def upload(page: Page, holder: str, path: Path) -> None:
    """Send a file, and wait for the link under which the page has it: its name comes earlier."""
    page.locator(f"{holder} input[type=file]").set_input_files(path)
    expect(page.locator(f"{holder} a[href*='/file=']")).to_have_count(1)


def await_charts(page: Page) -> None:
    """Wait for what is drawn last in a tab that holds charts: their buttons."""
    expect(page.locator(".modebar-btn:visible").first).to_be_attached()
