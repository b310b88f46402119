"""What the Transcribe tab remembers of a visit, in states that are each visitor's own."""

from dataclasses import dataclass

import gradio as gr

from moss_demo.ui.outcome import Outcome
from moss_demo.ui.session import history_rows, with_outcome
from moss_demo.ui.transcribe_layout import Results
from moss_demo.ui.wiring import Phase, Updates


@dataclass(frozen=True, slots=True)
class States:
    """The states of a visit; values only, no samples and no model.

    Attributes:
        source: the `Recording` in the player.
        outcome: the run in the view.
        names: names given to the speakers in the view, also while text streams.
        begun: how many runs were begun.
        phase: how far the last one is, a `Phase`.
        history: every run that ended and was not deleted.
    """

    source: gr.State
    outcome: gr.State
    names: gr.State
    begun: gr.State
    phase: gr.State
    history: gr.State

    @property
    def of_results(self) -> set[gr.State]:
        """Everything that an event about results reads."""
        return {self.outcome, self.names, self.begun, self.phase, self.history}


def make_states() -> States:
    """Add the states to the current `gr.Blocks`."""
    return States(
        source=gr.State(None),
        outcome=gr.State(None),
        names=gr.State({}),
        begun=gr.State(0),
        phase=gr.State(Phase.IDLE),
        history=gr.State(()),
    )


def remembered(states: States, results: Results, values: Updates, kept: Outcome) -> Updates:
    """Keep a run that ended or was changed, and list it."""
    history = with_outcome(values[states.history], kept)
    return {
        states.outcome: kept,
        states.history: history,
        results.history: history_rows(history, kept.number),
    }
