"""Fetches published weights into the Hugging Face cache, with progress and a clean cancel.

The transfer runs in a process of its own: ending that process is the one way to stop it that
always works, and what it has fetched is kept for the next try.
"""

import multiprocessing
import queue
from collections.abc import Generator
from dataclasses import dataclass
from fnmatch import fnmatch
from multiprocessing.process import BaseProcess
from time import monotonic
from typing import Any

from huggingface_hub import HfApi, snapshot_download
from tqdm.auto import tqdm

from moss_demo.engine.checkpoints import HubCheckpoint
from moss_demo.errors import CheckpointError

ANSWER_S = 5.0
"""A hub that has not answered by then is called unreachable."""

NO_ANSWER = f"the hub did not answer within {ANSWER_S:.0f} s"

POLL_S = 0.2
ON_THEIR_WAY = "Downloading bytes"
"""What the library calls its bar of bytes that have come but are in no file yet."""

NEEDED_FILES = ["*.json", "*.safetensors", "*.jinja", "*.txt", "*.model"]
"""Weights and what belongs to them; never code."""


@dataclass(frozen=True, slots=True)
class Downloaded:
    """Bytes fetched so far, of the total."""

    done_bytes: int
    total_bytes: int


def download(hub: HubCheckpoint, endpoint: str | None = None) -> Generator[Downloaded, None, None]:
    """Download a published checkpoint; closing the iterator cancels.

    Args:
        hub: what to fetch.
        endpoint: address of the hub, or None for the public one.

    Yields:
        Progress, about five times a second, the last one complete.

    Raises:
        CheckpointError: the hub does not answer within `ANSWER_S`, or the transfer fails.
    """
    context = multiprocessing.get_context("spawn")
    messages: Any = context.Queue()
    process = context.Process(
        target=fetch, args=(hub.repo, hub.revision, endpoint, messages), daemon=True
    )
    process.start()
    try:
        yield from _progress(process, messages, hub)
    finally:
        process.kill()


def _progress(
    process: BaseProcess, messages: "multiprocessing.Queue[Any]", hub: HubCheckpoint
) -> Generator[Downloaded, None, None]:
    done_bytes, total_bytes = 0, hub.size_bytes
    answer_by = float("inf")
    while True:
        try:
            kind, value = messages.get(timeout=POLL_S)
        except queue.Empty:
            if not process.is_alive():
                raise _failed(hub, "the transfer ended unexpectedly") from None
            if monotonic() > answer_by:
                raise _failed(hub, NO_ANSWER) from None
            yield Downloaded(min(done_bytes, total_bytes), total_bytes)
            continue
        if kind == "asking":
            answer_by = monotonic() + ANSWER_S
        elif kind == "total":
            total_bytes, answer_by = value, float("inf")
        elif kind == "bytes":
            done_bytes += value
        elif kind == "failed":
            raise _failed(hub, value)
        else:
            yield Downloaded(total_bytes, total_bytes)
            return
        yield Downloaded(min(done_bytes, total_bytes), total_bytes)


def _failed(hub: HubCheckpoint, why: str) -> CheckpointError:
    return CheckpointError(
        f"{hub.repo} could not be downloaded: {why}. Check the network and try again; what was "
        "fetched is kept. The embedded checkpoint tiny needs no download."
    )


def fetch(
    repo: str, revision: str, endpoint: str | None, messages: "multiprocessing.Queue[Any]"
) -> None:
    """Run in the child: ask the hub for sizes, then fetch, reporting through `messages`."""

    class Report(tqdm):  # type: ignore[type-arg]  # generic in its stubs only
        """Sends what the library's byte counters count."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            # Two bars count each byte: as it comes, and as it is put in its place.
            self._counts_bytes = kwargs.get("unit") == "B" and kwargs.get("desc") != ON_THEIR_WAY
            super().__init__(*args, **{**kwargs, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if self._counts_bytes and n:
                messages.put(("bytes", int(n)))
            return None

    messages.put(("asking", 0))
    try:
        info = HfApi(endpoint=endpoint).model_info(
            repo, revision=revision, files_metadata=True, timeout=ANSWER_S
        )
    except Exception:  # whatever the client raises, the person can only check the network
        messages.put(("failed", NO_ANSWER))
        return
    sizes = [
        file.size or 0
        for file in info.siblings or []
        if any(fnmatch(file.rfilename, pattern) for pattern in NEEDED_FILES)
    ]
    messages.put(("total", max(1, sum(sizes))))
    try:
        snapshot_download(
            repo,
            revision=revision,
            endpoint=endpoint,
            allow_patterns=NEEDED_FILES,
            tqdm_class=Report,
        )
    except Exception as error:  # the kind is enough: texts of the client hold addresses
        messages.put(("failed", f"the transfer broke off ({type(error).__name__})"))
        return
    messages.put(("done", 0))
