"""Keeps the server up: it serves in a child process, and another one starts when that is lost.

A CUDA error that lasts until the process ends, a crash in a library and a kill by the system are
mended by a new process and by nothing else. Imports no model library, so it costs little memory.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic
from types import FrameType
from typing import NoReturn
from urllib.parse import urlsplit

from moss_demo.errors import RequestError

RESTART = 75
"""Exit status by which a server asks for a new process (EX_TEMPFAIL)."""

ANSWERS_S = 2.0
"""Time for answers on their way, before a server ends itself."""

QUICK_S = 60.0
MAX_QUICK_ENDS = 5
"""A server that ends within a minute so many times in a row will not be mended by trying again."""

STOP_S = 10.0

FILES = "files"
"""Folder for temporary files, inside the one that a server is given."""

_PORT = "port"
_PREFIX, _LOCK, _DRAFT = "moss-demo-", "lock", "lock.draft"


def supervise(command: Sequence[str], parent: Path) -> int:
    """Run a server until it ends by itself.

    Args:
        command: starts it; the folder that it may use is added as `--worker FOLDER`, and after the
            first time the port it had as `--port PORT`.
        parent: folder to make that folder in.

    Returns:
        Exit status: that of the server, or 1 when it keeps ending.

    Raises:
        RequestError: the folder is not there and cannot be made.
    """
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(
            parent, f" cannot be made ({error.strerror}); set GRADIO_TEMP_DIR to another folder."
        ) from error
    signal.signal(signal.SIGTERM, _end)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup asks
        signal.signal(signal.SIGHUP, _end)
    _clear_up(parent)
    with (
        TemporaryDirectory(prefix=_PREFIX, dir=parent, ignore_cleanup_errors=True) as name,
        _held(Path(name)),
    ):
        folder, quick_ends = Path(name), 0
        while quick_ends < MAX_QUICK_ENDS:
            started_at = monotonic()
            status = _serve([*command, "--worker", name, *_same_port(folder)])
            if status >= 0 and status != RESTART:
                return status
            quick_ends = quick_ends + 1 if monotonic() - started_at < QUICK_S else 0
            shutil.rmtree(folder / FILES, ignore_errors=True)
            why = "lost its device" if status == RESTART else f"was ended by signal {-status}"
            print(f"app.py: the server {why}.", file=sys.stderr, flush=True)
    return 1


def follow_supervisor() -> None:
    """End this process when its supervisor is gone, whatever ended that."""

    def work() -> None:
        os.read(0, 1)  # the other end is the supervisor's, which never writes
        os._exit(0)

    threading.Thread(target=work, name="moss-demo-follow", daemon=True).start()


def ask_for_restart() -> None:
    """End this process soon, and have another one started."""
    leaving = threading.Timer(ANSWERS_S, os._exit, [RESTART])
    leaving.daemon = True
    leaving.start()


def remember_port(folder: Path, address: str) -> None:
    """Let the next server of this supervisor take the same port: open pages will find it again."""
    (folder / _PORT).write_text(str(urlsplit(address).port), encoding="ascii")


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Lock a folder for as long as this process lives, however it ends."""
    with (folder / _DRAFT).open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        (folder / _DRAFT).rename(folder / _LOCK)  # nobody sees it unlocked
        yield


def _clear_up(parent: Path) -> None:
    """Delete folders of supervisors that were killed: visitors' recordings lie in them."""
    for lock in parent.glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError), lock.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(lock.parent, ignore_errors=True)


def _serve(command: Sequence[str]) -> int:
    """Run one server to its end; whatever ends this function ends the server too."""
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        try:
            return server.wait()
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(STOP_S)
            server.kill()


def _same_port(folder: Path) -> list[str]:
    port = folder / _PORT
    return ["--port", port.read_text(encoding="ascii")] if port.exists() else []


def _end(number: int, frame: FrameType | None) -> NoReturn:
    """Turn a request to end into an exception, so that nothing is left behind."""
    del frame
    raise SystemExit(128 + number)
