"""A server on the loopback address that answers transcriptions as a script says."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

from moss_demo.settings import RemoteServer, read_remote

Answer = tuple[int, Any]
"""Status and JSON, or bytes as they are."""


@dataclass
class Loopback:
    """What the server was asked, and what it answers.

    Attributes:
        answer: called with the form of each transcription.
        server: its address.
        asked: every form in order.
        most_at_once: most transcriptions under way together.
    """

    answer: Callable[[dict[str, Any]], Answer]
    server: RemoteServer = field(default_factory=lambda: read_remote("http://127.0.0.1"))
    asked: list[dict[str, Any]] = field(default_factory=list)
    most_at_once: int = 0
    lock: Lock = field(default_factory=Lock)
    under_way: int = 0


def always(text: str) -> Callable[[dict[str, Any]], Answer]:
    """Return the script of a server that hears the same in every recording."""
    return lambda _: (200, {"text": text})


def read_form(headers: Any, body: bytes) -> dict[str, Any]:
    """Return the fields of a multipart form; the file comes as bytes under `file`."""
    head = f"Content-Type: {headers['Content-Type']}\r\n\r\n".encode()
    form: dict[str, Any] = {}
    for part in BytesParser().parsebytes(head + body).get_payload():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        form[name] = content if name == "file" else content.decode()
    return form


@contextmanager
def loopback(answer: Callable[[dict[str, Any]], Answer]) -> Iterator[Loopback]:
    """Serve until the block ends."""
    state = Loopback(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._reply(200, {"data": [{"id": "first-model"}, {"id": "other"}]})

        def do_POST(self) -> None:
            form = read_form(self.headers, self.rfile.read(int(self.headers["Content-Length"])))
            form["authorization"] = self.headers.get("Authorization")
            with state.lock:
                state.asked.append(form)
                state.under_way += 1
                state.most_at_once = max(state.most_at_once, state.under_way)
            try:
                self._reply(*state.answer(form))
            finally:
                with state.lock:
                    state.under_way -= 1

        def _reply(self, status: int, content: Any) -> None:
            body = content if isinstance(content, bytes) else json.dumps(content).encode()
            try:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)
            except OSError:
                pass  # the client has gone

        def log_message(self, *_: object) -> None:
            """Stay silent."""

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.server = read_remote(f"http://:secret@127.0.0.1:{http.server_port}/v1", "loopback")
    thread = Thread(target=http.serve_forever, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        http.shutdown()
        http.server_close()
        thread.join()
