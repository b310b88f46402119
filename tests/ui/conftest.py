"""Fixtures of the page's tests: Chromium, a served page, and a page that must stay quiet."""

import gc
import os
import shutil
import warnings
import wave
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import gradio as gr
import pytest
from playwright.sync_api import ConsoleMessage, Page, Request, expect

from moss_demo.ui.theme import load_css, load_head, make_theme

from .served import PATIENCE_MS
from .viewer import RECORDING_S, Script, build_page, open_page

_LOCAL = {"127.0.0.1", "localhost"}

expect.set_options(timeout=PATIENCE_MS)


def pytest_sessionfinish() -> None:
    """Collect what Gradio left open while its warnings can still be passed over."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """Start the system's Chromium; without one skip, or fail where CI has to have it."""
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        reason = "Chromium is missing; install the package chromium to run the browser tests"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(reason)
    flags = ["--no-sandbox", "--disable-gpu", "--autoplay-policy=no-user-gesture-required"]
    return {**browser_type_launch_args, "executable_path": path, "args": flags}


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[gr.Blocks], str]]:
    """Serve pages in the app's own look until the session ends; return each one's address."""
    served: list[gr.Blocks] = []

    def start(page: gr.Blocks) -> str:
        _, address, _ = page.launch(
            server_name="127.0.0.1",
            prevent_thread_lock=True,
            quiet=True,
            theme=make_theme(),
            css=load_css(),
            head=load_head(),
            ssr_mode=False,
            run_history=False,
            footer_links=["api"],
        )
        served.append(page)
        return str(address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GRADIO_ANALYTICS_ENABLED", "False")
        yield start
        for page in served:
            page.close(verbose=False)


@pytest.fixture
def page(page: Page) -> Page:
    """Give a page that waits as long as `expect` does."""
    page.set_default_timeout(PATIENCE_MS)
    return page


@pytest.fixture
def quiet_page(page: Page) -> Iterator[Page]:
    """Give a page that fails its test on any console error, exception or foreign request."""
    problems: list[str] = []

    def listen(message: ConsoleMessage) -> None:
        if message.type == "error":
            problems.append(f"console: {message.text}")

    def watch(request: Request) -> None:
        parts = urlsplit(request.url)
        if parts.scheme in {"http", "https", "ws", "wss"} and parts.hostname not in _LOCAL:
            problems.append(f"request: {request.url}")

    page.on("console", listen)
    page.on("pageerror", lambda error: problems.append(f"exception: {error}"))
    page.on("request", watch)
    yield page
    assert problems == []


@pytest.fixture
def opened(quiet_page: Page, address: str) -> Page:
    """Open the page that the module serves at its `address`, and wait until it is drawn."""
    quiet_page.goto(address)
    expect(quiet_page.locator("#timeline .tl-hint")).not_to_be_empty()
    return quiet_page


@pytest.fixture(scope="session")
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a minute of a quiet square wave that the browser can play."""
    path = tmp_path_factory.mktemp("audio") / "minute.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(1)
        file.setframerate(8000)
        file.writeframes((bytes([126]) * 20 + bytes([130]) * 20) * (200 * RECORDING_S))
    return path


@pytest.fixture(scope="session")
def scripts(
    serve: Callable[[gr.Blocks], str], recording: Path
) -> Iterator[dict[str, tuple[Script, str]]]:
    """Serve the page twice: with the waveform player and with the browser's own."""
    plain = gr.WaveformOptions(show_recording_waveform=False)
    made = {}
    for kind, player in (("waveform", {}), ("native", {"waveform_options": plain})):
        script = Script()
        made[kind] = (script, serve(build_page(script, recording, **player)))
    yield made
    for script, _ in made.values():
        script.end()


@pytest.fixture
def viewer(quiet_page: Page, scripts: dict[str, tuple[Script, str]]) -> Iterator[Script]:
    """Open the page and start a run; the test says what arrives."""
    script, address = scripts["waveform"]
    open_page(quiet_page, address)
    yield script
    script.end()
