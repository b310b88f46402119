"""Nothing that the model wrote is lost when a run breaks off."""

from dataclasses import replace

import pytest

from moss_demo.domain.events import Finished, Run, SegmentDone, StopReason, TextDelta, advance
from moss_demo.domain.parser import TranscriptParser
from moss_demo.domain.stopping import with_every_word


def _streamed(raw: str) -> Run:
    """Fold a text as a run that was stopped after its last character."""
    parser, run = TranscriptParser(20.0), Run("talk.wav", "0" * 16, 20.0)
    for at, character in enumerate(raw):
        done = parser.feed(character)
        run = advance(run, TextDelta(at / 10, character, (at,), parser.open_segment))
        for segment in done:
            run = advance(run, SegmentDone(at / 10, segment))
        run = replace(run, open_segment=parser.open_segment)
    return run


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("[0.50][S01]good [mor", "good [mor"),
        ("[0.50][S01]at [12", "at"),
        ("[0.50][S01]take [7] of [8] and", "take [7] of [8] and"),
        ("[0.50][S01]good morning", "good morning"),
    ],
)
def test_what_was_held_back_is_shown_in_the_end(raw: str, words: str) -> None:
    """A bracket that became no marker is words; half a time stamp is none."""
    run = with_every_word(_streamed(raw))
    assert run.transcript.text == words
    assert run.open_segment is None
    assert not run.transcript.complete
    assert run.raw == raw


def test_a_finished_run_is_left_alone() -> None:
    """Its parser has read to the end already."""
    finished = Finished(1.0, "", (), StopReason.END_OF_TEXT)
    run = replace(_streamed("[0.50][S01]good [mor"), finished=finished)
    assert with_every_word(run) is run
