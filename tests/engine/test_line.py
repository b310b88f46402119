"""First come, first served, and what those who wait are told."""

import threading

import pytest

from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.line import Line, Place
from moss_demo.errors import BusyError

ENGINE = EngineConfig("tiny", "cpu", Precision.FP32)


def test_places_are_those_of_arrival() -> None:
    """Whoever came first is first, also after somebody in between has left."""
    line = Line()
    first, second, third = (line.join(ENGINE, 60.0) for _ in range(3))
    assert [ticket.place.ahead for ticket in (first, second, third)] == [0, 1, 2]
    second.give_up()
    assert third.place.ahead == 1
    first.release()
    assert third.wait(0)
    assert len(line) == 1


def test_the_next_one_wakes_when_its_turn_comes() -> None:
    """Waiting ends when those in front have left, not before."""
    line = Line()
    first, second = line.join(ENGINE), line.join(ENGINE)
    assert not second.wait(0)
    assert second.wait(0, ahead=1)
    leaving = threading.Thread(target=first.release)
    leaving.start()
    assert second.wait(30)
    leaving.join()


def test_a_wait_is_guessed_from_runs_that_ended() -> None:
    """Seconds of work by seconds of audio, for each engine apart; unknown stays unknown."""
    line = Line()
    measured = line.join(ENGINE, 100.0)
    behind = line.join(ENGINE, 10.0)
    assert behind.place == Place(1, None)
    measured.learn(50.0)
    assert behind.place == Place(1, 50.0)
    measured.release()
    unknown = line.join(ENGINE)
    assert unknown.place == Place(1, 5.0)
    assert line.join(ENGINE).place == Place(2, None)


def test_a_full_line_says_when_to_come_back() -> None:
    """One on the device and as many behind it as the host allows."""
    line = Line(longest=2)
    first = line.join(ENGINE, 600.0)
    first.learn(400.0)
    line.join(ENGINE, 60.0)
    line.join(ENGINE, 60.0)
    with pytest.raises(BusyError, match=r"2 runs waiting.*about 8 minutes") as refused:
        line.join(ENGINE, 60.0)
    assert refused.value.retry_after_s == 480
    first.release()
    line.join(ENGINE, 60.0)


def test_work_that_has_begun_keeps_the_device() -> None:
    """Giving up leaves the line only while nothing runs; a place that was left is not taken."""
    line = Line()
    running, waiting = line.join(ENGINE), line.join(ENGINE)
    assert running.claim()
    running.give_up()
    assert not waiting.wait(0)
    waiting.give_up()
    assert not waiting.claim()
    running.release()
    assert len(line) == 0
