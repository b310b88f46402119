"""The runs of one visit, the newest first, and what the page lists of them.

Pure values. Nothing here is shared between visitors: each one's runs live in a state of their own.
"""

from typing import TypedDict

from moss_demo.domain.events import Run
from moss_demo.domain.figures import NOT_AVAILABLE
from moss_demo.errors import RequestError
from moss_demo.ui.outcome import Outcome

MAX_RUNS = 50
"""Runs that a visit keeps; the oldest goes first."""

History = tuple[Outcome, ...]


class HistoryRow(TypedDict):
    """One run as the page lists it; the time is ISO 8601, shown in the reader's own zone."""

    number: int
    file: str
    ended_at: str
    checkpoint: str
    precision: str
    rtf: str
    speakers: int
    state: str
    edited: bool
    shown: bool


def with_outcome(history: History, outcome: Outcome) -> History:
    """Return the runs with this one in its place, or as the newest, at most `MAX_RUNS`."""
    if any(one.number == outcome.number for one in history):
        return tuple(outcome if one.number == outcome.number else one for one in history)
    return (outcome, *history)[:MAX_RUNS]


def without(history: History, number: int) -> History:
    """Return the runs without one."""
    return tuple(one for one in history if one.number != number)


def run_numbered(history: History, number: int) -> Outcome:
    """Return one run.

    Raises:
        RequestError: it was deleted, or never was one of this visit.
    """
    for one in history:
        if one.number == number:
            return one
    raise RequestError("This run is not there any more; choose another one.")


def side_chosen(history: History, choice: str) -> tuple[Outcome, Run]:
    """Return the run behind a choice such as `3` (as the model wrote it) or `3 edited`.

    Raises:
        RequestError: there is no such run.
    """
    number, _, version = choice.partition(" ")
    outcome = run_numbered(history, int(number) if number.isdecimal() else -1)
    return outcome, outcome.shown if version else outcome.run


def history_rows(history: History, shown: int | None) -> list[HistoryRow]:
    """List the runs; `shown` is the number of the one in the view."""
    return [_row(one, one.number == shown) for one in history]


def _row(outcome: Outcome, shown: bool) -> HistoryRow:
    run, engine = outcome.shown, outcome.engine
    return HistoryRow(
        number=outcome.number,
        file=run.clip_name,
        ended_at="" if outcome.ended_at is None else outcome.ended_at.isoformat(),
        checkpoint=NOT_AVAILABLE if engine is None else engine.checkpoint,
        precision=NOT_AVAILABLE if engine is None else engine.precision,
        rtf=NOT_AVAILABLE if run.rtf is None else f"{run.rtf:.3f}",
        speakers=sum(label is not None for label in run.transcript.speakers),
        state=_state(outcome),
        edited=outcome.is_edited,
        shown=shown,
    )


def _state(outcome: Outcome) -> str:
    if outcome.failure:
        return "failed"
    return "stopped" if outcome.run.finished is None else ""
