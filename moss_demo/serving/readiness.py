"""Whether the server can serve: a self-test on a sample warms the engine up and says so."""

import logging
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from moss_demo.domain.events import Finished
from moss_demo.domain.parser import parse
from moss_demo.engine.in_turn import TurnEvent
from moss_demo.errors import MossDemoError
from moss_demo.scoring.normalize import Level, TextRules
from moss_demo.scoring.text_errors import count_errors

LOG = logging.getLogger(__name__)

WORST_WER = 0.5
"""A checkpoint that gets half of a clear sample wrong is broken, or loaded wrongly."""


class State(StrEnum):
    """What the server is about."""

    STARTING = "starting"
    READY = "ready"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Health:
    """The state, with a sentence for who wants to know why."""

    state: State
    reason: str


class Readiness:
    """Holds the newest health; any thread may read and change it."""

    def __init__(self) -> None:
        """Nothing was tested yet."""
        self.health = Health(State.STARTING, "The self-test has not ended yet.")

    def lose(self) -> None:
        """Say that the device is lost."""
        self.health = Health(State.LOST, "The device is lost; the server starts again.")

    def test(
        self, transcribe: Callable[[], Generator[TurnEvent, None, None]], reference: Path
    ) -> Health:
        """Transcribe a sample, compare it with what is said in it and keep the verdict.

        Args:
            transcribe: starts the run that every visitor will make.
            reference: text of the sample in the model's own form.
        """
        try:
            self.health = _verdict(transcribe(), reference.read_text(encoding="utf-8"))
        except MossDemoError as error:
            self.health = Health(State.FAILED, str(error))
        if self.health.state is not State.READY:
            LOG.error("self-test: %s", self.health.reason)
        return self.health


def _verdict(events: Generator[TurnEvent, None, None], reference: str) -> Health:
    rules = TextRules(Level.LANGUAGE, "en")
    with closing(events):
        text = next((event.text for event in events if isinstance(event, Finished)), "")
    wrong = count_errors(rules.words(parse(reference).text), rules.words(parse(text).text))
    rate = wrong.rate or 0.0
    if rate > WORST_WER:
        return Health(
            State.FAILED,
            f"The self-test heard {rate:.0%} of a clear sample wrong; the checkpoint is damaged "
            "or of another kind.",
        )
    return Health(State.READY, f"The self-test passed: {rate:.1%} of its words are wrong.")
