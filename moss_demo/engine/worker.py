"""Runs push-style work on a thread of its own and hands its events out as an iterator.

The iterator may be stepped from any thread and closed at any time. Closing only raises a flag: it
never blocks, since a web server closes iterators on the thread that serves everybody. The work
sees the flag at its next step and lets go of the device when the device is idle.
"""

import queue
import threading
from collections.abc import Callable, Generator
from typing import TypeVar

T = TypeVar("T")

Emit = Callable[[T], None]
IsStopped = Callable[[], bool]

THREAD_NAME = "moss-demo-run"

IDLE_S = 1.0
"""How long a reader waits for news at most, where the work says so."""

_END = object()


class StoppedError(Exception):
    """Work was given up before it began; its reader has left, so nobody is told."""


def stream_from_worker(
    work: Callable[[Emit[T], IsStopped], None], idle: T | None = None
) -> Generator[T, None, None]:
    """Run `work(emit, is_stopped)` and yield what it emits; its exception is raised here.

    The queue between the two has no bound, so a slow reader never holds the device.

    Args:
        work: runs on a thread of its own.
        idle: yielded whenever nothing was emitted for `IDLE_S`. A server can close an iterator
            only between two values, so this is how soon it gets rid of a reader who left.
    """
    events: queue.SimpleQueue[object] = queue.SimpleQueue()
    stopped = threading.Event()

    def run() -> None:
        try:
            work(events.put, stopped.is_set)
        except BaseException as error:  # handed to the reader, whatever it is
            events.put(_Raised(error))
        finally:
            events.put(_END)

    threading.Thread(target=run, name=THREAD_NAME, daemon=True).start()
    try:
        while (event := _next(events, idle)) is not _END:
            if isinstance(event, _Raised):
                raise event.error
            yield event  # type: ignore[misc]  # the queue holds T, _Raised and _END only
    finally:
        stopped.set()


def _next(events: "queue.SimpleQueue[object]", idle: object | None) -> object:
    try:
        return events.get(timeout=None if idle is None else IDLE_S)
    except queue.Empty:
        return idle


def wait_for_workers() -> None:
    """Wait until stopped work has let go of the device.

    For a program that is about to end: the interpreter must not be torn down under a running step.
    """
    for thread in threading.enumerate():
        if thread.name == THREAD_NAME:
            thread.join()


class _Raised:
    """An exception on its way to the reader."""

    def __init__(self, error: BaseException) -> None:
        self.error = error
