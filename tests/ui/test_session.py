"""The runs of a visit: listed, replaced, deleted, and chosen as a side."""

from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime

import numpy as np
import pytest
import torch

from moss_demo.domain.editing import removed
from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.transcript import Segment
from moss_demo.errors import RequestError
from moss_demo.ui.lanes import namesake
from moss_demo.ui.outcome import Outcome, over
from moss_demo.ui.session import (
    MAX_RUNS,
    History,
    history_rows,
    run_numbered,
    side_chosen,
    with_outcome,
    without,
)

SEGMENTS = (Segment(0.5, 2.0, "S01", "good morning"), Segment(2.0, 3.0, "S02", "hello"))
ENDED = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def _outcome(number: int) -> Outcome:
    finished = Finished(2.0, "", (), StopReason.END_OF_TEXT)
    run = Run("talk.wav", "0" * 16, 10.0, SEGMENTS, finished=finished)
    return over(Outcome(run, None, None, (), number), {"S01": "Ann"}, ENDED)


def _edited(outcome: Outcome) -> Outcome:
    assert outcome.revisions is not None
    revised = outcome.revisions.revised(removed(outcome.revisions.present, 0))
    return replace(outcome, revisions=revised)


def test_the_newest_run_comes_first_and_a_changed_one_keeps_its_place() -> None:
    """A list that a person can find their way in."""
    history: History = ()
    for number in (1, 2, 3):
        history = with_outcome(history, _outcome(number))
    history = with_outcome(history, _edited(_outcome(2)))
    assert [one.number for one in history] == [3, 2, 1]
    rows = history_rows(history, 1)
    assert [row["edited"] for row in rows] == [False, True, False]
    assert [row["shown"] for row in rows] == [False, False, True]
    assert (rows[0]["file"], rows[0]["speakers"], rows[0]["rtf"]) == ("talk.wav", 2, "0.200")
    assert [one.number for one in without(history, 2)] == [3, 1]


def test_a_visit_keeps_a_bounded_number_of_runs() -> None:
    """The oldest goes when there are too many."""
    history: History = ()
    for number in range(MAX_RUNS + 5):
        history = with_outcome(history, _outcome(number))
    assert len(history) == MAX_RUNS
    assert history[0].number == MAX_RUNS + 4


def test_a_side_is_the_transcript_as_written_unless_the_edited_one_is_asked_for() -> None:
    """What the model wrote stays comparable after any edit."""
    history = with_outcome((), _edited(_outcome(7)))
    assert side_chosen(history, "7")[1].transcript.segments == SEGMENTS
    assert side_chosen(history, "7 edited")[1].transcript.segments == SEGMENTS[1:]
    for choice in ("8", "", "x edited"):
        with pytest.raises(RequestError, match="not there any more"):
            side_chosen(history, choice)
    with pytest.raises(RequestError):
        run_numbered(history, 8)


def test_what_ended_badly_says_so() -> None:
    """A stopped and a failed run are told from one that was done."""
    done = _outcome(1)
    stopped = replace(done, run=replace(done.run, finished=None))
    states = [history_rows((one,), None)[0]["state"]
              for one in (done, stopped, replace(stopped, failure="out of memory"))]  # fmt: skip
    assert states == ["", "stopped", "failed"]


def test_a_session_holds_no_samples() -> None:
    """Runs are values: no array and no tensor hides in what is kept for a visitor."""

    def walk(value: object) -> None:
        assert not isinstance(value, np.ndarray | torch.Tensor)
        if is_dataclass(value) and not isinstance(value, type):
            for one in fields(value):
                walk(getattr(value, one.name))
        elif isinstance(value, tuple | list):
            for item in value:
                walk(item)

    walk(_edited(_outcome(1)))


def test_two_speakers_under_one_name_are_noticed() -> None:
    """A name taken, in any case, or one that is another's label."""
    labels = ("S01", None, "S02")
    assert namesake(labels, {"S01": "Ann", "S02": "ann"}, "S02") == "S01"
    assert namesake(labels, {"S01": "S02"}, "S01") == "S02"
    assert namesake(labels, {"S01": "Ann", "S02": "Bob"}, "S02") is None
