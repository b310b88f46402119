import json
import re
from dataclasses import replace

import gradio as gr
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.transcript import Segment, SegmentFlag
from moss_demo.ui.lanes import drawable, speaker_name, stamp, talk_time_s, with_name
from moss_demo.ui.theme import asset_text, load_css, make_theme
from moss_demo.ui.timeline import (
    Timeline,
    TimelineStatus,
    run_lines,
    timeline_update,
)

SEGMENTS = (
    Segment(0.5, 2.0, "S01", "Good morning."),
    Segment(2.0, 3.0, "S02", "Hello."),
    Segment(None, None, None, "Somebody else."),
)
OPEN = Segment(3.5, None, "S01", "And so we")
RUN = Run("talk.wav", "0" * 16, 10.0, SEGMENTS, OPEN)
ENDED = replace(RUN, finished=Finished(1.0, "", (), StopReason.END_OF_TEXT))

times = st.none() | st.floats()
segments = st.builds(
    Segment,
    start=times,
    end=times,
    speaker=st.none() | st.text(max_size=4),
    text=st.text() | st.from_regex(r"[<>{}$`\\\u2028\ud800]{0,8}", fullmatch=True),
    flags=st.lists(st.sampled_from(SegmentFlag), max_size=3).map(tuple),
)


@given(st.lists(segments))
def test_each_segment_is_one_line_whatever_it_holds(spoken: list[Segment]) -> None:
    """No text, label or time of the model can break the lines that the page reads."""
    lines = run_lines(7, 2, spoken).split("\n")
    assert (lines.pop(0), lines.pop()) == ('{"run":7,"revision":2}', "")
    assert len(lines) == len(spoken)
    for line, segment in zip(lines, spoken, strict=True):
        read = json.loads(line, parse_constant=lambda _: pytest.fail("not JSON"))
        assert read["flags"] == list(segment.flags)
        assert read["text"].encode() == segment.text.encode("utf-8", "replace")


@given(st.lists(segments), segments)
def test_the_text_only_grows_while_a_run_goes_on(spoken: list[Segment], more: Segment) -> None:
    """An update adds lines at the end, so only these cross the network."""
    assert run_lines(1, 0, [*spoken, more]).startswith(run_lines(1, 0, spoken))


def test_the_segment_being_written_travels_beside_the_finished_ones() -> None:
    """While a run goes on, the open segment is shown but is not yet a line."""
    update = timeline_update(RUN, number=3, names={})
    assert update["value"].count("\n") == 1 + len(SEGMENTS)
    assert update["meta"]["open"]["text"] == "And so we"
    assert update["meta"]["status"] == "running"
    assert update["meta"]["run"] == 3


@given(st.lists(segments))
def test_the_page_can_tell_whether_text_and_state_belong_together(spoken: list[Segment]) -> None:
    """The state carries the length of its text as JavaScript counts it."""
    update = timeline_update(replace(RUN, segments=tuple(spoken)), number=1, names={})
    astral = sum(character > "\uffff" for character in update["value"])
    assert update["meta"]["length"] == len(update["value"]) + astral


@pytest.mark.parametrize(
    ("run", "status"), [(ENDED, None), (RUN, TimelineStatus.STOPPED), (RUN, TimelineStatus.FAILED)]
)
def test_a_cut_off_segment_is_kept_when_a_run_ends(run: Run, status: TimelineStatus | None) -> None:
    """What was said last stays in the transcript after a stop, an error or a spent budget."""
    update = timeline_update(run, number=1, names={}, status=status)
    assert update["value"].count("\n") == 1 + len(SEGMENTS) + 1
    assert update["meta"]["open"] is None


def test_names_and_talk_time_travel_by_label() -> None:
    """Renames and shares belong to the model's labels, also to unlabelled speech."""
    meta = timeline_update(ENDED, number=1, names={"S02": "Ann"})["meta"]
    assert meta["status"] == "done"
    assert meta["names"] == {"S02": "Ann"}
    assert meta["talk_s"] == [("S01", 1.5), ("S02", 1.0), (None, 0.0)]


def test_a_stamp_beyond_the_recording_does_not_rule_the_shares() -> None:
    """One corrupt end of 4,809 s leaves every share as the recording allows."""
    wild = Segment(8.0, 4809.8, "S02", "Bye.")
    assert talk_time_s((*SEGMENTS, wild), 10.0) == {"S01": 1.5, "S02": 3.0, None: 0.0}
    assert drawable((wild,), 10.0)[0].end == 10.0
    assert drawable((wild,), 0.0) == (wild,)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("  Ann \n Lee ", {"S01": "Ann Lee", "S02": "Bob"}),
        ("   ", {"S02": "Bob"}),
        ("S01", {"S02": "Bob"}),
        ("x" * 99, {"S01": "x" * 60, "S02": "Bob"}),
    ],
)
def test_a_speaker_is_renamed_tidily_or_back(name: str, expected: dict[str, str]) -> None:
    """Blanks are tidied, long names cut, and a blank name gives the label back."""
    assert with_name({"S01": "Old", "S02": "Bob"}, "S01", name) == expected


def test_a_speaker_without_label_has_a_name_too() -> None:
    """Unlabelled speech is called so, and unknown labels show as they are."""
    assert speaker_name(None, {}) == "Unlabelled"
    assert speaker_name("S03", {"S01": "Ann"}) == "S03"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0:00.0"), (59.96, "1:00.0"), (83.42, "1:23.4"), (3723.5, "1:02:03.5")],
)
def test_positions_carry_tenths(seconds: float, text: str) -> None:
    """Two turns within a second can be told apart."""
    assert stamp(seconds) == text


def test_model_text_is_no_markup_for_the_component() -> None:
    """A transcript that says `<script>` is data and raises no warning."""
    assert Timeline(audio_id="player").postprocess("<script>x</script>") == "<script>x</script>"


def test_the_component_raises_rename() -> None:
    """A page can listen to renames as to any event."""
    with gr.Blocks():
        timeline = Timeline(audio_id="player")
        assert callable(timeline.rename)


@pytest.mark.parametrize("audio_id", ["", "a b", 'x"onload="', "${x}", "{{x}}", "1"])
def test_an_identifier_that_could_break_the_markup_is_refused(audio_id: str) -> None:
    """The player's id is part of the template, so it has to be a plain word."""
    with pytest.raises(ValueError, match="id of a player"):
        Timeline(audio_id=audio_id)


def test_the_template_holds_nothing_that_gradio_would_evaluate() -> None:
    """Gradio runs templates as code: a backslash, backtick, `${` or `{{` would change them."""
    template = Timeline(audio_id="player").html_template
    assert not re.search(r"\\|`|\$\{|\{\{", template)


def test_no_word_of_the_script_hides_a_property() -> None:
    """A quoted property name in the script would make Gradio take it for an event."""
    script = Timeline(audio_id="player").js_on_load
    assert not re.search(r"""["'`](value|meta)["'`]""", script or "")


def test_every_flag_has_its_words() -> None:
    """Each irregularity that the parser knows is explained beside the segment."""
    words = asset_text("timeline/words.js")
    assert [flag for flag in SegmentFlag if f"{flag}: [" not in words] == []


def test_every_status_has_its_words() -> None:
    """An empty component always says why it is empty."""
    words = asset_text("timeline/words.js")
    hints = words[words.index("hint: {") :]
    assert [status for status in TimelineStatus if f"{status}: " not in hints] == []


@pytest.mark.parametrize(("scheme", "track"), [("light", "#ffffff"), ("dark", "#0f172a")])
def test_speaker_colours_stand_out_from_their_track(scheme: str, track: str) -> None:
    """Every speaker colour has at least 3:1 against the lane it is drawn on."""
    sheet = asset_text("timeline/style.css")
    rules = sheet[sheet.index(".dark .moss-tl {" if scheme == "dark" else ".moss-tl {") :]
    colours = dict(re.findall(r"(--[\w-]+): (#[0-9a-f]{6})", rules[: rules.index("}")]))
    speakers = {name: colour for name, colour in colours.items() if "speaker" in name}
    assert len(speakers) == 9
    assert colours["--tl-track"] == track
    assert {name: c for name, c in speakers.items() if contrast(c, track) < 3.0} == {}
    assert contrast(colours["--tl-soft"], colours["--tl-stripe"]) >= 4.5
    assert contrast(colours["--tl-soft"], colours["--tl-badge-back"]) >= 4.5
    assert contrast(colours["--tl-warn"], colours["--tl-warn-back"]) >= 4.5


def test_the_page_style_names_no_other_host() -> None:
    """Neither theme nor style makes the browser fetch anything from elsewhere."""
    theme = make_theme()
    sources = (load_css(), asset_text("timeline/style.css"), theme._get_theme_css())
    assert [source for source in sources if re.search(r"url\(.?(https?:)?//|@import", source)] == []
    assert theme._stylesheets == []


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of WCAG 2 between two colours."""
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
