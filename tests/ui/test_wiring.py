"""What a run of the page says last, whatever reaches the page late."""

from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest

from moss_demo.ui.wiring import Job, Phase, Switch, Updates, wire_run


class Wired:
    """A page with one run whose `settle` gives `line` to the status."""

    def __init__(self, line: Any) -> None:
        """Wire it; `handlers` are its events by name."""
        with gr.Blocks() as blocks:
            self.status = gr.HTML()
            self.switch = Switch(gr.Button(), gr.Button(), self.status, gr.State(Phase.IDLE))

            def settle(_: Updates) -> Updates:
                return {self.status: line}

            def stream(_: Updates) -> Any:
                yield {}

            job = Job(stream, set(), [], settle, set(), [self.status])
            wire_run(self.switch, [self.switch.start.click], job)
        events = [f for f in blocks.fns.values() if f.fn is not None]
        self.handlers: dict[str, Callable[..., Any]] = {f.name: f.fn for f in events}
        self.outputs = {f.name: f.outputs for f in events}

    def kept(self) -> Any:
        """Return what the end of the run gets to know of its last status."""
        updates = self.handlers["settle"]({self.switch.phase: Phase.RUNNING})
        (said,) = (part for part in updates if isinstance(part, gr.State))
        assert said in self.outputs["settle"]
        return updates[said]


@pytest.mark.parametrize("name", ["end", "end_broken"])
def test_the_end_says_the_last_status_once_more(name: str) -> None:
    """What a cancelled run yielded last can arrive after "Stopped"; the end comes after both."""
    wired = Wired("Stopped.")
    asked = [wired.kept()] if name == "end" else [wired.kept(), Phase.BROKEN]
    updates = wired.handlers[name](*asked)
    assert updates[wired.status] == "Stopped."
    assert wired.status in wired.outputs[name]


def test_a_status_that_is_left_alone_is_not_said_again() -> None:
    """A run that ended by itself has said so; a line of the run before must not come back."""
    wired = Wired(gr.skip())
    assert wired.kept() is None
    assert wired.status not in wired.handlers["end"](None)


def test_a_run_that_goes_on_is_not_ended_by_an_event_that_failed() -> None:
    """Gradio fires `failure` for a cancelled run too, before it is put away."""
    wired = Wired("Stopped.")
    updates = wired.handlers["end_broken"]("Stopped.", Phase.RUNNING)
    assert wired.status not in updates
    assert wired.switch.phase not in updates
