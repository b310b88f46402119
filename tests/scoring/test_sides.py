"""Sides of a comparison: what a saved run tells beside its words."""

import json

from moss_demo.domain.editing import changed
from moss_demo.domain.events import Finished, Run, SegmentDone, Started, StopReason, advance
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.transcript import Segment
from moss_demo.scoring.parity import parity
from moss_demo.scoring.run_meta import RunMeta
from moss_demo.scoring.sides import read_side, side_of
from moss_demo.scoring.verdict import Closeness, Gate, Reason

RAW = "[0.50][S01]good morning[2.00]"


def run(stop: StopReason = StopReason.END_OF_TEXT, speech_end_s: float = 2.1) -> Run:
    """Return a finished run of one segment."""
    value = Run("talk", "0" * 16, 10.0)
    for event in (
        Started(0.1, 10.0, 50, 40, 100, ((0.4, speech_end_s),)),
        SegmentDone(0.5, Segment(0.5, 2.0, "S01", "good morning")),
        Finished(0.6, RAW, (1, 2, 3), stop),
    ):
        value = advance(value, event)
    return value


def saved(value: Run) -> str:
    """Return the run as the project saves it."""
    return export(value.transcript, ExportFormat.JSON, name="talk", duration_s=10.0, run=value)


def test_a_saved_run_is_the_run_that_was_saved() -> None:
    """Saving and loading a side changes nothing of the verdict."""
    assert read_side(saved(run()), suffix=".json") == side_of(run())
    both = read_side(saved(run())), side_of(run())
    assert parity(*(side.transcript for side in both)).closeness is Closeness.IDENTICAL


def test_a_saved_run_tells_that_its_budget_ran_out() -> None:
    """A reference that was cut is invalid though its text looks complete."""
    side = read_side(saved(run(StopReason.LENGTH)))
    verdict = parity(side.transcript, side.transcript, reference_meta=side.meta)
    assert (verdict.gate, verdict.reasons) == (Gate.INVALID, (Reason.REFERENCE_TRUNCATED,))


def test_a_saved_run_tells_where_the_speech_ended() -> None:
    """Speech that goes on for more than five seconds was missed."""
    side = side_of(run(speech_end_s=7.1))
    verdict = parity(side.transcript, side.transcript, candidate_meta=side.meta)
    assert verdict.reasons == (Reason.CANDIDATE_STOPS_EARLY,)


def test_other_formats_know_nothing_of_a_run() -> None:
    """Raw text and subtitles are sides too."""
    assert read_side(RAW).meta == RunMeta()
    assert read_side("WEBVTT\n", suffix=".vtt").transcript.segments == ()


def test_keys_in_another_order_tell_as_much() -> None:
    """Tools that sort what they save do not turn an invalid comparison into a passed one."""
    text = json.dumps(json.loads(saved(run(StopReason.LENGTH))), sort_keys=True)
    assert read_side(text) == read_side(saved(run(StopReason.LENGTH)))
    assert read_side(text).meta.finish_reason == StopReason.LENGTH


def test_an_edited_side_is_not_identical_to_what_the_model_wrote() -> None:
    """A person's words count, though the model's text stays beside them."""
    before = side_of(run()).transcript
    after = changed(before, 0, Segment(0.51, 2.0, "Anna", "good morning"), 10.0)
    verdict = parity(before, after)
    assert (verdict.identical, verdict.closeness is Closeness.IDENTICAL) == (False, False)
