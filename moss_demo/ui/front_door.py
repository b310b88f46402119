"""Stands before the server: refuses what does not fit or is not used, and notes files in use.

Gradio limits a file and nothing else: not how many come, nor how large its other requests are.
Where a visitor names an address in place of an upload, it would fetch that whole into memory.
"""

import errno
import os
from contextlib import suppress
from pathlib import Path
from typing import NoReturn
from urllib.parse import unquote

import gradio as gr
from anyio import CapacityLimiter, to_thread
from gradio import processing_utils
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from moss_demo.api.errors import ApiError
from moss_demo.serving.temp_files import Room

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

FULL = "The server's folder for uploads is full; try again in a few minutes."
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

    def __init__(self, app: ASGIApp, room: Room, max_file_bytes: int) -> None:
        """Wrap an application.

        Args:
            app: what serves.
            room: what files of visitors and programs may take together.
            max_file_bytes: largest file; what does not say its size is taken for as large.
        """
        self._app, self._room, self._max_file_bytes = app, room, max_file_bytes
        self._one_thread = CapacityLimiter(1)  # the room lets in one at a time anyway

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        refusal = self._refusal(scope) if scope["type"] == "http" else None
        coming_bytes = self._coming_bytes(scope) if scope["type"] == "http" else 0
        if refusal is not None or not coming_bytes:
            await (refusal or self._app)(scope, receive, send)
        elif await to_thread.run_sync(self._room.take, coming_bytes, limiter=self._one_thread):
            try:
                await self._app(scope, receive, send)
            except OSError as error:
                if error.errno != errno.ENOSPC:
                    raise
                await _full(scope["path"])(scope, receive, send)
            finally:
                self._room.give_back(coming_bytes)
        else:
            await _full(scope["path"])(scope, receive, send)

    def _refusal(self, scope: Scope) -> Response | None:
        path = scope["path"]
        if path.startswith(CLOSED):
            return PlainTextResponse("Not found.", 404)
        if path.startswith(_FILE):
            self._note_use(Path(unquote(path.removeprefix(_FILE))))
        if scope["method"] != "POST" or path.startswith(_PROGRAMS):
            return None
        stated_bytes = _stated_bytes(scope)
        if stated_bytes is None:
            return PlainTextResponse("The request does not say how large it is.", 411)
        large = not path.startswith(_UPLOAD) and stated_bytes > EVENT_BYTES
        return PlainTextResponse("The request is too large.", 413) if large else None

    def _coming_bytes(self, scope: Scope) -> int:
        """Return what a request leaves on the disk, 0 for those that bring no file."""
        path = scope["path"]
        if scope["method"] != "POST" or not path.startswith((_UPLOAD, _PROGRAMS)):
            return 0
        stated_bytes = _stated_bytes(scope)
        if path.startswith(_UPLOAD):  # several files, each limited by Gradio
            return stated_bytes or 0
        most_bytes = self._max_file_bytes  # more is refused, in the words of the API
        return most_bytes if stated_bytes is None else min(stated_bytes, most_bytes)

    def _note_use(self, path: Path) -> None:
        """Make a file young again: somebody listens to it."""
        if self._room.root in path.parents and ".." not in path.parts:
            with suppress(OSError):
                os.utime(path)


def _stated_bytes(scope: Scope) -> int | None:
    stated = dict(scope["headers"]).get(b"content-length", b"")
    return int(stated) if stated.isdigit() else None


def _full(path: str) -> Response:
    if path.startswith(_PROGRAMS):
        return ApiError(507, FULL, code="disk_full").response()
    return PlainTextResponse(FULL, 507)
