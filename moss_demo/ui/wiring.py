"""What the wiring of every tab shares: private helper events, and a run between Start and Stop."""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from html import escape
from typing import Any

import gradio as gr

from moss_demo.errors import MossDemoError
from moss_demo.ui import present
from moss_demo.ui.visitor import staying

Updates = dict[Any, Any]
"""New values and properties by component."""

HELPER: dict[str, Any] = {"api_visibility": "private", "show_progress": "hidden"}
"""An event of the page alone: no endpoint, and nothing drawn over its outputs."""

ON_DEVICE: dict[str, Any] = {"concurrency_limit": None}
"""An event that uses the device. Gradio holds none of them back: those of the page and those of
the API stand in one line, the pool's, which tells each where it stands."""

IN_TURN: dict[str, Any] = {"concurrency_id": "visit", "concurrency_limit": 1}
"""An event that reads what a visit keeps and writes it back. One at a time: of two at once, the
one that ends last would undo the other."""


class Phase(StrEnum):
    """How far a run of the page is."""

    IDLE = "idle"
    BEGUN = "begun"
    RUNNING = "running"
    DONE = "done"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Switch:
    """Start and Stop of one kind of run.

    Attributes:
        start: works while nothing runs.
        stop: works while something does.
        status: one line, which takes the sentence of a run that fails.
        phase: a state that holds the `Phase`.
        locked: what cannot be used while something runs.
    """

    start: gr.Button
    stop: gr.Button
    status: gr.HTML
    phase: gr.State
    locked: tuple[gr.components.Component, ...] = ()

    @property
    def parts(self) -> list[Any]:
        """Everything that changes with the phase."""
        return [self.start, self.stop, self.phase, *self.locked]

    def turned(self, *, on: bool) -> Updates:
        """Return the updates for a run that begins or is over."""
        return {
            self.start: gr.Button(interactive=not on),
            self.stop: gr.Button(interactive=on),
            self.phase: Phase.BEGUN if on else Phase.IDLE,
        } | {part: gr.update(interactive=not on) for part in self.locked}


@dataclass(frozen=True, slots=True)
class Job:
    """What happens between Start and the moment when everything is ready again.

    Attributes:
        stream: yields updates while it runs; what it raises is said in the status and in a toast.
        asked: what `stream` reads.
        streamed: what it changes.
        settle: puts away what there is once the run has ended, was stopped or broke off; may be
            called twice, and learns the phase.
        kept: what `settle` reads.
        settled: what it changes.
        turn: how `settle` shares a visit's states with other events.
        cancels: other events that end when this run begins.
    """

    stream: Callable[[Updates], Generator[Updates, None, None]]
    asked: set[Any]
    streamed: list[Any]
    settle: Callable[[Updates], Updates]
    kept: set[Any]
    settled: list[Any]
    turn: dict[str, Any] = field(default_factory=dict)
    cancels: Sequence[Any] = ()


def wire_run(switch: Switch, triggers: Iterable[Callable[..., Any]], job: Job) -> list[Any]:
    """Wire a run to its buttons; returns the events that another one may cancel.

    Start comes back when everything is put away and not before, or the end of one run would be
    written over the next. Gradio fires `failure` alone for an event that raises, and `failure`
    before `then` for one that is cancelled, so a failure counts only in a phase that says so.

    What is yielded stands in every later yield too: Gradio sends the differences, and its page
    mutates what it was given, so an update that the next one leaves out can be lost unseen.
    And what a run that is cancelled had yielded last can reach the page after what `settle` says,
    so the end says it once more.
    """
    phase, said = switch.phase, gr.State()

    def begin() -> Updates:
        return switch.turned(on=True) | {switch.status: present.STARTING}

    def stream(values: Updates) -> Iterator[Updates]:
        yield {phase: Phase.RUNNING}
        shown: Updates = {}
        stay = staying()
        try:
            with closing(job.stream(values)) as steps:
                for updates in steps:
                    stay()
                    shown |= {k: v for k, v in updates.items() if not isinstance(k, gr.State)}
                    yield shown | updates
        except MossDemoError as error:
            failed = present.failed_line(str(error))
            yield shown | {phase: Phase.BROKEN, switch.status: failed}
            raise as_toast(error) from error
        except Exception:
            yield shown | {phase: Phase.BROKEN}
            raise
        yield shown | {phase: Phase.DONE}

    def settle(values: Updates) -> Updates:
        try:
            updates = job.settle(values)
            last = updates.get(switch.status)
            return updates | {said: last if isinstance(last, str) else None}
        except MossDemoError as error:
            raise as_toast(error) from error

    def settle_broken(values: Updates) -> Updates:
        if values[phase] in (Phase.BEGUN, Phase.BROKEN):
            return settle(values)
        return {job.settled[0]: gr.skip()}

    def end(last: str | None) -> Updates:
        again = {} if last is None else {switch.status: last}
        return switch.turned(on=False) | again

    def end_broken(last: str | None, now: Phase) -> Updates:
        return end(last) if now in (Phase.BEGUN, Phase.BROKEN) else {switch.start: gr.skip()}

    events = []
    for trigger in triggers:
        begun = trigger(
            begin, None, [*switch.parts, switch.status], queue=False, cancels=job.cancels, **HELPER
        )
        streamed = list(dict.fromkeys([phase, switch.status, *job.streamed]))
        event = begun.then(stream, job.asked, streamed, **HELPER, **ON_DEVICE)
        for outcome, handler, finish, asked in (
            (event.then, settle, end, [said]),
            (event.failure, settle_broken, end_broken, [said, phase]),
        ):
            settled = [*job.settled, said]
            put_away = outcome(handler, job.kept | {phase}, settled, **HELPER, **job.turn)
            for either in (put_away.then, put_away.failure):
                either(finish, asked, [*switch.parts, switch.status], queue=False, **HELPER)
        events.append(event)
    switch.stop.click(None, None, None, cancels=events, api_visibility="private")
    return events


def withdrawn(plots: Iterable[gr.Plot], downloads: Iterable[gr.DownloadButton]) -> Updates:
    """Hide charts and offer no files: what they hold is of a run before the one in view."""
    hidden: Updates = {plot: gr.Plot(visible=False) for plot in plots}
    return hidden | {button: gr.DownloadButton(interactive=False) for button in downloads}


def in_toast(sentence: object) -> str:
    """Spell a sentence for a toast, which Gradio reads as markup; names in it come from files."""
    return escape(str(sentence), quote=False)


def as_toast(error: MossDemoError) -> gr.Error:
    """Return what ends an event of the page with the error's sentence."""
    return gr.Error(in_toast(error), print_exception=False)
