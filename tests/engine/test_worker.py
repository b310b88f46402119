"""Work on a thread becomes an iterator that can be closed at any time."""

import threading
from collections.abc import Callable

import pytest

from moss_demo.engine.worker import stream_from_worker


def test_events_arrive_in_order() -> None:
    """What the work emits comes out, then the iterator ends."""

    def work(emit: Callable[[int], None], _stopped: Callable[[], bool]) -> None:
        for number in range(5):
            emit(number)

    assert list(stream_from_worker(work)) == [0, 1, 2, 3, 4]


def test_an_error_reaches_the_reader_after_what_came_before() -> None:
    """The exception of the work is raised where the events are read."""

    def work(emit: Callable[[int], None], _stopped: Callable[[], bool]) -> None:
        emit(1)
        raise ValueError("broken")

    events = stream_from_worker(work)
    assert next(events) == 1
    with pytest.raises(ValueError, match="broken"):
        next(events)


def test_closing_stops_the_work_and_does_not_wait_for_it() -> None:
    """Close returns while the work is still in its step; the work sees the flag at the next one."""
    in_step, may_go_on, saw_stop = threading.Event(), threading.Event(), threading.Event()

    def work(emit: Callable[[int], None], is_stopped: Callable[[], bool]) -> None:
        emit(1)
        in_step.set()
        may_go_on.wait(10)
        if is_stopped():
            saw_stop.set()

    events = stream_from_worker(work)
    next(events)
    assert in_step.wait(10)
    events.close()
    may_go_on.set()
    assert saw_stop.wait(10)


def test_a_reader_hears_something_while_there_is_no_news() -> None:
    """Silent work lets a server look whether its reader is still there."""
    heard = threading.Event()

    def work(emit: Callable[[int], None], _stopped: Callable[[], bool]) -> None:
        heard.wait(10)
        emit(1)

    events = stream_from_worker(work, idle=0)
    assert next(events) == 0
    heard.set()
    assert list(events)[-1] == 1


def test_work_does_not_wait_for_a_slow_reader() -> None:
    """A reader that takes nothing does not keep the work from ending."""
    ended = threading.Event()

    def work(emit: Callable[[int], None], _stopped: Callable[[], bool]) -> None:
        for number in range(10_000):
            emit(number)
        ended.set()

    events = stream_from_worker(work)
    next(events)
    assert ended.wait(10)
    assert sum(1 for _ in events) == 9_999


def test_steps_may_come_from_different_threads() -> None:
    """A server steps a generator from many threads; the order is kept."""

    def work(emit: Callable[[int], None], _stopped: Callable[[], bool]) -> None:
        for number in range(6):
            emit(number)

    events, seen = stream_from_worker(work), []
    for _ in range(6):
        thread = threading.Thread(target=lambda: seen.append(next(events)))
        thread.start()
        thread.join()
    assert seen == list(range(6))
