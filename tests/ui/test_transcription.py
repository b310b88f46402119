"""What the page shows of a run, driven with scripted events."""

from dataclasses import replace

import numpy as np
import pytest

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import (
    Finished,
    SegmentDone,
    Started,
    StopReason,
    TextDelta,
)
from moss_demo.domain.figures import run_figures
from moss_demo.domain.transcript import Segment
from moss_demo.engine.in_turn import Opened, TurnEvent
from moss_demo.engine.info import EngineInfo
from moss_demo.engine.line import Place
from moss_demo.engine.pool import Compiling, Loading, Ready, Waiting
from moss_demo.errors import AudioError, RequestError
from moss_demo.serving.context import build_context
from moss_demo.settings import Settings
from moss_demo.ui import present
from moss_demo.ui.transcription import Wishes, make_request, prompt_text, snapshots, token_budget

INFO = EngineInfo(
    checkpoint="tiny",
    revision="local",
    layout="native",
    parameters=18_900_000,
    weight_bytes=75_600_000,
    context_tokens=8_192,
    device="cpu",
    precision="fp32",
    decode="reference",
    attention="sdpa",
    load_s=0.5,
)
CLIP = AudioClip("talk.wav", np.zeros(160_000, dtype=np.float32), warnings=("a warning",))
FIRST = Segment(0.5, 2.0, "S01", "good morning")

SECOND = Segment(2.0, 3.0, "S02", "hello")


def _delta(at: float) -> TextDelta:
    return TextDelta(at, "a", (1,), Segment(2.0, None, "S02", "hel"))


EVENTS: list[TurnEvent] = [
    Waiting(Place(1, None)),
    Opened(CLIP),
    Loading("tiny"),
    Ready(INFO, loaded=True),
    Started(0.1, 10.0, 200, 125, 456, ((0.4, 9.0),)),
    _delta(0.20),
    _delta(0.21),
    SegmentDone(0.25, FIRST),
    _delta(0.33),
    *(_delta(0.34 + n / 1_000) for n in range(50)),
    SegmentDone(0.99, SECOND),
    Finished(1.0, "raw", (1,) * 53, StopReason.END_OF_TEXT),
]


def test_a_view_changes_about_ten_times_a_second() -> None:
    """Fifty tokens within fifty milliseconds are one change, not fifty."""
    shown = list(snapshots(EVENTS))
    assert len(shown) < 10


def test_what_is_going_on_is_said_from_the_first_moment() -> None:
    """Loading, listening and encoding are named before the first word."""
    first, *rest = snapshots(EVENTS)
    assert first == EVENTS[0]
    status = [snapshot.status for snapshot in rest]
    assert status[:2] == ["Starting…", "Loading tiny…"]
    assert status[2:4] == ["Listening for speech…", "Encoding the audio…"]
    assert status[4].startswith("Transcribing · 0:02 of 0:10")
    assert status[-1].startswith("Done in 1.0 s (10.0× real time) · 2 speakers · 2 segments")


def test_compiling_is_said_and_its_seconds_stand_among_the_figures() -> None:
    """Whoever waits for a compilation is told, and told apart from the run what it took."""
    ready = Ready(replace(INFO, encoder_compile="default"), loaded=True, compile_s=12.3)
    shown = list(snapshots([Opened(CLIP), Loading("tiny"), Compiling(3), ready, *EVENTS[4:]]))
    assert "Compiling the encoder for 3 × 30 s at a time…" in [view.status for view in shown]
    last = shown[-1]
    figures = dict(run_figures(last.run, last.load_s, last.compile_s))
    assert (figures["Compile"], figures["Run"]) == ("12.30 s", "1.00 s")
    assert "Compile" not in dict(run_figures(last.run, None))
    assert "encoder compiled (default)" in present.engine_line(ready.info)


def test_an_encoder_that_cannot_be_compiled_is_explained_beside_the_transcript() -> None:
    """The sentence stands first, and the engine's line says what really ran."""
    info = replace(INFO, encoder_compile="default", compile_problem="The encoder runs uncompiled.")
    *_, last = snapshots([Opened(CLIP), Ready(info, loaded=True), *EVENTS[4:]])
    rows = present.warning_rows(last.run, ("a warning",), last.engine)
    assert [row["kind"] for row in rows][:2] == ["encoder", "audio"]
    assert "encoder eager" in present.engine_line(info)


def test_text_grows_and_never_shrinks() -> None:
    """Within a run each view holds all segments of the one before."""
    seen: tuple[Segment, ...] = ()
    for snapshot in snapshots(EVENTS[1:]):
        assert snapshot.run.segments[: len(seen)] == seen
        seen = snapshot.run.segments
    assert seen == (FIRST, SECOND)


def test_the_end_is_always_shown() -> None:
    """The last view holds the finished run, however close the events before it were."""
    *_, last = snapshots(EVENTS)
    assert last.run.finished is not None
    assert (last.engine, last.load_s, last.clip_warnings) == (INFO, 0.5, ("a warning",))


def test_a_resident_engine_has_no_load_time() -> None:
    """Loading is counted once, in the run that waited for it."""
    events = [Opened(CLIP), Ready(INFO, loaded=False), *EVENTS[4:]]
    assert {snapshot.load_s for snapshot in snapshots(events)} == {None}


def test_a_run_that_was_cut_off_is_not_called_done() -> None:
    """A length stop reads differently from an end."""
    events = [Opened(CLIP), _delta(0.2), Finished(0.3, "", (1,), StopReason.LENGTH, complete=False)]
    *_, last = snapshots(events)
    assert last.status.startswith("Cut off by the token budget")


def test_no_speech_is_said_plainly() -> None:
    """A recording without speech ends with a sentence, not with an empty page."""
    events = [Opened(CLIP), Finished(0.2, "", (), StopReason.NO_SPEECH)]
    *_, last = snapshots(events)
    assert last.status == "No speech found in 0:10"
    assert [row["kind"] for row in present.warning_rows(last.run, ())] == ["no_speech"]


def test_a_stopped_run_says_how_far_it_came() -> None:
    """Partial results are counted."""
    *_, last = snapshots(EVENTS[:-2])
    assert present.stopped_line(last.run) == "Stopped at 0:02 of 0:10 · 2 speakers · 2 segments"


def test_endpoint_lines_are_in_the_models_form() -> None:
    """Programs get one line a segment; an open one has no end yet."""
    *_, last = snapshots(EVENTS[:-2])
    assert present.transcript_lines(last.run) == "[0.50][S01]good morning[2.00]\n[2.00][S02]hel"


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (Place(1, None), "Waiting: 1 run before yours"),
        (Place(3, 75.0), "Waiting: 3 runs before yours · about 1:15 to go"),
    ],
)
def test_those_who_wait_hear_where_they_stand(place: Place, line: str) -> None:
    """The place in line, and a time once one is known."""
    assert present.waiting_line(place) == line


def test_starting_without_a_recording_is_answered() -> None:
    """The first click of a newcomer gets a sentence."""
    context = build_context(Settings(), "cpu")
    with pytest.raises(AudioError, match="no recording yet"):
        make_request(Wishes(None, "tiny"), context)


def test_the_token_budget_is_a_whole_number_or_empty() -> None:
    """What cannot be a budget is named; an empty field derives it from the duration."""
    assert token_budget("  ") is None
    assert token_budget(" 500 ") == 500
    for text in ("1.5", "many", "1e9", "９"):
        with pytest.raises(RequestError, match="whole number"):
            token_budget(text)


def test_an_empty_custom_prompt_is_refused() -> None:
    """Choosing "custom" and writing nothing is an oversight, not the default."""
    assert prompt_text("en", "ignored") == "en"
    assert prompt_text("custom", " mine ") == " mine "
    with pytest.raises(RequestError, match="custom prompt is empty"):
        prompt_text("custom", "  ")
