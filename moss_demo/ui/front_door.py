"""Stands before the server: refuses what does not fit or is not used, and notes files in use.

Gradio limits a file and nothing else: not how many come, nor how large its other requests are.
Where a visitor names an address in place of an upload, it would fetch that whole into memory.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

import gradio as gr
from anyio import to_thread
from gradio import processing_utils
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from moss_demo.serving.temp_files import used_bytes

EVENT_BYTES = 16 << 20
"""What an event of the page may carry: some times what a meeting of three hours takes."""

CLOSED = (
    "/gradio_api/deep_link",
    "/gradio_api/dev/",
    "/gradio_api/process_recording",
    "/gradio_api/proxy=",
    "/gradio_api/vibe",
    "/gradio_api/undo-vibe",
    "/monitoring",
)
"""Routes that Gradio opens on every page and this page has no use for."""

NO_ADDRESSES = "This server fetches nothing from addresses; send the file itself."

_PROGRAMS = "/v1/"  # these read their own forms
_UPLOAD = "/gradio_api/upload"
_FILE = "/gradio_api/file="


def fetch_nothing() -> None:
    """Let Gradio refuse addresses: there is no setting for it, and no limit to what it fetches."""

    async def refuse(url: str, cache_dir: str) -> NoReturn:
        del url, cache_dir
        raise gr.Error(NO_ADDRESSES, print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse


class FrontDoor:
    """Middleware around everything that is served."""

    def __init__(self, app: ASGIApp, root: Path, max_bytes: int) -> None:
        """Wrap an application.

        Args:
            app: what serves.
            root: folder for temporary files.
            max_bytes: how much it may hold.
        """
        self._app, self._root, self._max_bytes = app, root, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        refusal = await self._refusal(scope) if scope["type"] == "http" else None
        await (refusal or self._app)(scope, receive, send)

    async def _refusal(self, scope: Scope) -> PlainTextResponse | None:
        path, method = scope["path"], scope["method"]
        if path.startswith(CLOSED):
            return PlainTextResponse("Not found.", 404)
        if path.startswith(_FILE):
            self._note_use(Path(unquote(path.removeprefix(_FILE))))
        if method == "POST" and not path.startswith(_PROGRAMS):
            return await self._too_large(path, dict(scope["headers"]).get(b"content-length", b""))
        return None

    async def _too_large(self, path: str, stated: bytes) -> PlainTextResponse | None:
        if not stated.isdigit():
            return PlainTextResponse("The request does not say how large it is.", 411)
        if not path.startswith(_UPLOAD):
            large = int(stated) > EVENT_BYTES
            return PlainTextResponse("The request is too large.", 413) if large else None
        held = await to_thread.run_sync(used_bytes, self._root)
        if held + int(stated) <= self._max_bytes:
            return None
        full = "The server's folder for uploads is full; try again in a few minutes."
        return PlainTextResponse(full, 507)

    def _note_use(self, path: Path) -> None:
        """Make a file young again: somebody listens to it."""
        if self._root in path.parents and ".." not in path.parts:
            with suppress(OSError):
                os.utime(path)
