"""What the person is told about a doubtful transcript, by kind."""

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.diagnostics import (
    Diagnostic,
    DiagnosticKind,
    diagnose,
    diagnose_transcript,
)
from moss_demo.domain.diagnostics.repetition import compression_ratio
from moss_demo.domain.diagnostics.wording import clock
from moss_demo.domain.events import Finished, Run, Started, StopReason
from moss_demo.domain.parser import parse

GOOD = "[0.50][S01]Good morning[1.70][11.30][S02]Shall we start[13.00]"
ENGLISH = (
    "We should begin with the budget for the coming year, and then look at who can take the map "
    "to the people in the north before the weather turns; nobody wants to carry it in the rain."
)
ARABIC = (
    "علينا أن نبدأ بميزانية السنة القادمة ثم ننظر من يستطيع أن يحمل الخريطة إلى الناس في الشمال "
    "قبل أن يتغير الطقس فلا أحد يريد أن يمشي بها تحت المطر"
)
HINDI = (
    "हमें आने वाले साल के बजट से शुरू करना चाहिए और फिर देखना चाहिए कि बारिश से पहले उत्तर के "
    "लोगों तक नक्शा कौन ले जा सकता है क्योंकि कोई भी भीगना नहीं चाहता"
)
CHINESE = (
    "我们应该先讨论明年的预算，再看看谁能在下雨之前把地图送到北边的人手里，"
    "因为谁也不愿意冒着大雨走那么远的路，而且那边的桥上个月刚刚修好。"
)


def kinds(found: Iterable[Diagnostic]) -> list[str]:
    """Return the kinds in the order of the messages."""
    return [one.kind.value for one in found]


def run_of(
    raw: str,
    *,
    duration_s: float = 13.5,
    speech: tuple[tuple[float, float], ...] | None = ((0.4, 1.8), (11.2, 13.1)),
    stop: StopReason | None = StopReason.END_OF_TEXT,
) -> Run:
    """Return a run that ended for a reason, or was stopped when there is none."""
    transcript = parse(raw, duration_s)
    finished = (
        None if stop is None else Finished(2.0, raw, (1, 2, 3), stop, complete=transcript.complete)
    )
    return Run(
        clip_name="clip.wav",
        clip_digest="0" * 16,
        duration_s=duration_s,
        segments=transcript.segments,
        raw=raw,
        token_ids=(1, 2, 3),
        started=Started(0.1, duration_s, 200, 170, 3, speech),
        finished=finished,
    )


def test_a_good_run_has_nothing_to_say() -> None:
    """Warnings mean something only if a clean transcript has none."""
    assert diagnose(run_of(GOOD)) == ()


@pytest.mark.parametrize(
    ("raw", "duration_s", "expected", "segments"),
    [
        (GOOD, None, [], []),
        ("", 10.0, ["empty"], [()]),
        ("[0.0][1.0]", 10.0, ["empty"], [()]),
        ("[0.50][S01]Good mor", 3.0, ["open_end"], [(0,)]),
        ("[0.50][S01]Good morning[1.70][2.30]", 3.0, ["open_end"], [(0,)]),
        (GOOD, 30.0, ["early_end"], [()]),
        (GOOD, 18.0, [], []),
        ("[5.0][S01]hi there[3.0]", 8.0, ["end_before_start"], [(0,)]),
        ("[-0.2][S01]hi there[3.0]", 8.0, ["negative_start"], [(0,)]),
        ("[1.0][S01]a[2.0][2.5][S02]b[61.8]", 5.0, ["beyond_audio"], [(1,)]),
        ("[1.0][S01]a[2.0][2.5][S02]b[5.3]", 5.0, [], []),
        ("[0.0]one[2.0][2.0]two[3.9]", 4.0, ["missing_labels"], [(0, 1)]),
        ("[0.0][S01]one[2.0][2.5]two[3.9]", 4.0, ["missing_labels"], [(1,)]),
        ("[S01]Hello[S02]Hi", 60.0, ["no_times"], [()]),
        ("[0.0][S01]a[S02]b[3.0]", 4.0, ["missing_times"], [(0, 1)]),
        ("The roadmap is ready.", 60.0, ["no_markup"], [()]),
        ("Sure:\n[0.5][S01]hello[1.0]", 2.0, ["preamble"], [(0,)]),
        ("[0.0][S01][S02]both[1.0]", 2.0, ["label_replaced"], [(0,)]),
        ("[0.0][S01]" + "no " * 40 + "[9.0]", 9.0, ["loop"], [(0,)]),
        ("[0.0][S01]" + "!" * 40 + "[9.0]", 9.0, ["single_character"], [(0,)]),
    ],
)
def test_signs_in_a_transcript(
    raw: str, duration_s: float | None, expected: list[str], segments: list[tuple[int, ...]]
) -> None:
    """Each sign of a doubtful transcript gives its own kind and names the segments it is about."""
    found = diagnose_transcript(parse(raw, duration_s), duration_s)
    assert kinds(found) == expected
    assert [one.segments for one in found] == segments


def test_equal_segments_in_a_row_are_a_loop() -> None:
    """Five times the same words of the same speaker are shown, four are not."""
    segment = "[{0}.0][S01]okay then[{0}.8]"
    four = "".join(segment.format(at) for at in range(4))
    assert diagnose_transcript(parse(four)) == ()
    (loop,) = diagnose_transcript(parse(four + segment.format(4)))
    assert loop.kind is DiagnosticKind.LOOP
    assert loop.segments == (0, 1, 2, 3, 4)
    assert "“okay then” comes 5 times in a row at 0:00.0, 0:01.0, 0:02.0 and 2 more" in loop.message


def test_frozen_stamps_are_a_loop() -> None:
    """Three segments with equal stamps are shown even when their words differ."""
    raw = "[4.0][S01]a[4.2][4.0][S01]b[4.2][4.0][S02]c[4.2][5.0][S01]d[6.0]"
    (loop,) = diagnose_transcript(parse(raw))
    assert loop.kind is DiagnosticKind.LOOP
    assert loop.segments == (0, 1, 2)


def test_a_loop_is_said_once() -> None:
    """A long run of equal segments with frozen stamps gives one message and not three."""
    raw = "[4.0][S01]that is how it ended[4.2]" * 60
    assert kinds(diagnose_transcript(parse(raw))) == ["loop"]


def test_a_passage_that_comes_again_is_a_loop() -> None:
    """A loop over several different segments is found although no two neighbours are equal."""
    turns = ["we begin with the map", "and who takes it north", "nobody likes the rain", "right"]
    raw = "".join(f"[{at}.00][S01]{turns[at % 4]}[{at}.90]" for at in range(24))
    assert kinds(diagnose_transcript(parse(raw))) == ["loop"]


@pytest.mark.parametrize("text", [ENGLISH, ARABIC, HINDI, CHINESE])
def test_natural_text_is_no_loop_in_any_script(text: str) -> None:
    """Scripts of several bytes a character are not mistaken for loops."""
    assert diagnose_transcript(parse(f"[0.0][S01]{text}[20.0]")) == ()
    assert compression_ratio(text) < 2 < compression_ratio(text[:40] * 6)


def test_length_stop_tells_how_far_the_budget_reached() -> None:
    """A used-up budget is named with the place it reached, and the early end is not said twice."""
    run = run_of("[0.50][S01]Good morning[1.70][2.00][S02]Sha", stop=StopReason.LENGTH)
    found = diagnose(run)
    assert kinds(found) == ["length_stop", "open_end"]
    assert "3 tokens at 0:02.0 of 0:13.5" in found[0].message


def test_early_end_is_measured_against_the_speech() -> None:
    """With the gate on, silence after the last word is no warning and speech after it is one."""
    raw = "[0.50][S01]Good morning[1.70]"
    quiet = run_of(raw, duration_s=60.0, speech=((0.4, 1.8),))
    assert diagnose(quiet) == ()
    (early,) = diagnose(run_of(raw, duration_s=60.0, speech=((0.4, 1.8), (30.0, 45.5))))
    assert early.kind is DiagnosticKind.EARLY_END
    assert "speech was found until 0:45.5" in early.message
    assert "0:43.8" in early.message


def test_early_end_without_the_gate_does_not_claim_speech() -> None:
    """With the gate off, the message says that nobody checked whether the rest holds speech."""
    (early,) = diagnose(run_of(GOOD, duration_s=60.0, speech=None))
    assert early.kind is DiagnosticKind.EARLY_END
    assert "was not checked" in early.message


def test_one_wrong_stamp_does_not_hide_an_early_end() -> None:
    """A stamp beyond the audio does not count as having reached the end."""
    raw = "[0.5][S01]Good morning[1.7][2.0][S02]start[4809.8]"
    found = diagnose(run_of(raw, duration_s=60.0, speech=((0.4, 55.0),)))
    assert kinds(found) == ["early_end", "beyond_audio"]


def test_text_on_silence() -> None:
    """Words where no speech was found are pointed out; touching speech is enough to be trusted."""
    raw = "[0.5][S01]real[1.7][5.0][S01]ghost[6.0][13.1][S02]edge[13.4]"
    (silent,) = diagnose(run_of(raw))
    assert silent.kind is DiagnosticKind.TEXT_ON_SILENCE
    assert silent.segments == (1,)
    assert "0:05.0" in silent.message


def test_no_speech_is_information() -> None:
    """A recording without speech ends with one message, which is no warning."""
    (only,) = diagnose(run_of("", speech=(), stop=StopReason.NO_SPEECH))
    assert only.kind is DiagnosticKind.NO_SPEECH
    assert only.kind.is_information
    assert not DiagnosticKind.LOOP.is_information


def test_stopped_by_the_person() -> None:
    """A stopped run says where it stopped and does not blame the model for the open end."""
    run = run_of("[0.50][S01]Good mor", stop=None)
    assert kinds(diagnose(run)) == ["stopped"]
    assert diagnose(run_of("", stop=None, speech=None))[0].kind is DiagnosticKind.STOPPED


def test_nothing_is_changed() -> None:
    """Diagnosing leaves the transcript as it is."""
    run = run_of("[5.0][S01]hi there[3.0]")
    before = run.transcript
    diagnose(run)
    assert run.transcript == before


@given(st.text(max_size=80), st.one_of(st.none(), st.floats(0, 100)))
def test_any_transcript_can_be_diagnosed(text: str, duration_s: float | None) -> None:
    """Whatever the model wrote, diagnosing it gives sentences about segments that exist."""
    transcript = parse(f"[0.0][S01]{text}[1.0]", duration_s)
    for one in diagnose_transcript(transcript, duration_s, ((0.0, 5.0),)):
        assert one.message.endswith(".")
        assert all(index in range(len(transcript.segments)) for index in one.segments)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0:00.0"), (59.96, "1:00.0"), (723.04, "12:03.0"), (3599.99, "1:00:00.0")],
)
def test_clock(seconds: float, text: str) -> None:
    """Times in sentences carry over correctly when they are rounded."""
    assert clock(seconds) == text
