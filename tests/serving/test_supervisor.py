"""A server that is lost is replaced: by real processes, killed and broken for real."""

import fcntl
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import httpx
import pytest

from moss_demo.serving.supervisor import MAX_QUICK_ENDS, RESTART, supervise
from tests.api.conftest import SAMPLE

ROOT = Path(__file__).parents[2]
T = TypeVar("T")

BREAK_CUDA_ONCE = """
import importlib.abc, pathlib, sys

MARK = pathlib.Path({mark!r})


def break_it(torch, model):
    calls, generate, ones = [], model.generate, torch.ones

    def fail():
        MARK.touch()
        raise torch.AcceleratorError("CUDA error: an illegal memory access was encountered")

    def second_fails(*arguments, **options):
        calls.append(1)
        return generate(*arguments, **options) if len(calls) == 1 else fail()

    model.generate = second_fails
    torch.ones = lambda *a, **k: ones(*a, **k) if len(calls) < 2 else fail()


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "moss_demo.engine.decoding" and not MARK.exists():
            import torch, transformers
            break_it(torch, transformers.MossTranscribeDiarizeForConditionalGeneration)
        return None


sys.meta_path.insert(0, Finder())
"""
"""A start-up file for the first server alone: after the self-test the library's decode loop loses
the device, and from then on every call does, as after a CUDA error that lasts."""


@pytest.fixture
def address() -> str:
    """Where the app will listen: a port that is free now."""
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return f"http://127.0.0.1:{unused.getsockname()[1]}"


@pytest.fixture
def app(tmp_path: Path, address: str) -> Iterator[subprocess.Popen[bytes]]:
    """The real app, started as a host does."""
    patches = tmp_path / "patches"
    patches.mkdir()
    start_up = BREAK_CUDA_ONCE.format(mark=str(tmp_path / "broken"))
    (patches / "sitecustomize.py").write_text(start_up, encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": str(patches),
        "GRADIO_TEMP_DIR": str(tmp_path / "files"),
    }
    port = address.rpartition(":")[2]
    command = [sys.executable, str(ROOT / "app.py"), "--device", "cpu", "--port", port]
    with subprocess.Popen(command, env=environment) as process:
        yield process
        process.terminate()


def _wait_for(look: Callable[[], T | None]) -> T:
    for _ in range(1_200):
        if (found := look()) is not None:
            return found
        time.sleep(0.1)
    raise AssertionError("nothing came within two minutes")


def _server(app: subprocess.Popen[bytes], address: str) -> int | None:
    """Return the process that serves, once it is ready."""
    children = Path(f"/proc/{app.pid}/task/{app.pid}/children").read_text(encoding="ascii").split()
    try:
        answer = httpx.get(f"{address}/health")
    except httpx.TransportError:
        return None
    return int(children[0]) if children and answer.status_code == 200 else None


def _transcribe(address: str) -> httpx.Response:
    with SAMPLE.open("rb") as file:
        return httpx.post(
            f"{address}/v1/audio/transcriptions",
            data={"max_new_tokens": "5"},
            files={"file": file},
            timeout=120,
        )


def test_the_app_comes_back_after_a_lost_device_and_after_a_kill(
    app: subprocess.Popen[bytes], address: str, tmp_path: Path
) -> None:
    """Requests meanwhile get the reason; the next server has the same port and works."""
    first = _wait_for(lambda: _server(app, address))
    answer = _transcribe(address)
    assert answer.status_code == 503
    assert "only a new process gets it back" in answer.json()["error"]["message"]
    second = _wait_for(lambda: pid if (pid := _server(app, address)) != first else None)
    assert _transcribe(address).status_code == 200
    os.kill(second, signal.SIGKILL)
    third = _wait_for(
        lambda: pid if (pid := _server(app, address)) not in (first, second) else None
    )
    assert third
    app.terminate()
    assert app.wait(60) == 128 + signal.SIGTERM
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{address}/health")
    assert not list((tmp_path / "files").glob("moss-demo-*"))


def test_a_server_that_keeps_ending_is_given_up(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """No endless loop: a few tries, each said, then an exit status."""
    code = f"import sys; print('tried'); sys.exit({RESTART})"
    assert supervise([sys.executable, "-c", code], tmp_path) == 1
    said = capfd.readouterr()
    assert said.out.count("tried") == MAX_QUICK_ENDS
    assert said.err.count("lost its device") == MAX_QUICK_ENDS


@pytest.mark.parametrize("status", [0, 2])
def test_a_server_that_ends_by_itself_is_not_started_again(tmp_path: Path, status: int) -> None:
    """Its exit status is the app's: 2 says that a setting is wrong."""
    code = f"import sys; sys.exit({status})"
    assert supervise([sys.executable, "-c", code], tmp_path) == status


def test_files_of_a_supervisor_that_was_killed_go_with_the_next_start(tmp_path: Path) -> None:
    """Nobody else knows that recordings lie there; those of a living one stay."""
    killed, living = (tmp_path / f"moss-demo-{name}" for name in ("killed", "living"))
    for folder in (killed, living):
        (folder / "files").mkdir(parents=True)
        (folder / "files" / "talk.wav").write_bytes(b"sound")
        (folder / "lock").touch()
    with (living / "lock").open("wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert supervise([sys.executable, "-c", "pass"], tmp_path) == 0
    assert sorted(tmp_path.iterdir()) == [living]
    assert (living / "files" / "talk.wav").exists()
