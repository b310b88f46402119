"""A download shows progress, can be cancelled and answers soon when there is no hub."""

import http.server
import json
import queue
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_demo.engine.checkpoints import HubCheckpoint
from moss_demo.engine.download import download, fetch
from moss_demo.errors import CheckpointError

REVISION = "0123456789abcdef0123456789abcdef01234567"
CHECKPOINT = HubCheckpoint("someone/some-model", REVISION, 1)
FILES = {
    "config.json": b"{}",
    "model.safetensors": bytes(300_000),
    "modeling.py": b"raise SystemExit",
}


class _Hub(http.server.BaseHTTPRequestHandler):
    """As much of the hub as a download asks for."""

    stalls = threading.Event()

    def do_GET(self) -> None:
        """Answer the file list and the files."""
        if "/resolve/" in self.path:
            self._file(self.path.rpartition("/")[2], body=True)
            return
        siblings = [{"rfilename": n, "size": len(b), "blobId": "0" * 40} for n, b in FILES.items()]
        answer = {"id": CHECKPOINT.repo, "sha": REVISION, "siblings": siblings}
        if "/tree/" in self.path:
            tree = [{"type": "file", "path": n, "size": len(b), "oid": n} for n, b in FILES.items()]
            self._send(json.dumps(tree).encode())
        else:
            self._send(json.dumps(answer).encode())

    def do_HEAD(self) -> None:
        """Answer what a client asks before it fetches."""
        self._file(self.path.rpartition("/")[2], body=False)

    def _file(self, name: str, *, body: bool) -> None:
        content = FILES[name]
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("ETag", f'"{name}"')
        self.send_header("X-Repo-Commit", REVISION)
        self.end_headers()
        if not body:
            return
        self.wfile.write(content[:1000])
        self.wfile.flush()
        if self.stalls.is_set() and name == "model.safetensors":
            threading.Event().wait(30)
        self.wfile.write(content[1000:])

    def _send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A hub on the loopback address and an empty cache; gives the hub's address."""
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.setenv("HF_HUB_DISABLE_XET", "1")
    _Hub.stalls.clear()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Hub)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def test_progress_ends_with_everything_there(hub: str, tmp_path: Path) -> None:
    """Bytes grow to the total and the weights lie in the cache; code does not."""
    steps = list(download(CHECKPOINT, hub))
    done = [step.done_bytes for step in steps]
    assert done == sorted(done)
    assert steps[-1].done_bytes == steps[-1].total_bytes == 300_002  # what is needed, no code
    assert _counted_bytes(hub) == 300_002  # each byte once
    snapshot = next(tmp_path.glob("hub/models--someone--some-model/snapshots/*"))
    assert sorted(p.name for p in snapshot.iterdir()) == ["config.json", "model.safetensors"]


def test_closing_cancels_the_transfer(hub: str, tmp_path: Path) -> None:
    """A download that stalls can be given up; no checkpoint is left half there."""
    _Hub.stalls.set()
    steps = download(CHECKPOINT, hub)
    assert any(step.done_bytes for step in steps)
    steps.close()
    assert not list(tmp_path.glob("hub/models--someone--some-model/snapshots/*/model.safetensors"))


def test_a_hub_that_never_answers_is_given_up() -> None:
    """A silent address ends in one sentence that names the embedded checkpoint as a way out."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        address = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(CheckpointError, match=r"did not answer within 5 s.*tiny"):
            list(download(CHECKPOINT, address))


def _counted_bytes(hub: str) -> int:
    """Fetch into another cache, in this process, and return what is reported as fetched."""
    messages: queue.Queue[tuple[str, int]] = queue.Queue()
    with tempfile.TemporaryDirectory() as cache, pytest.MonkeyPatch.context() as patch:
        patch.setattr("huggingface_hub.constants.HF_HUB_CACHE", cache)
        fetch(CHECKPOINT.repo, CHECKPOINT.revision, hub, messages)
    return sum(value for kind, value in list(messages.queue) if kind == "bytes")
