import html

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.ui.figures import (
    BLOCK_OPACITY,
    MAX_BARS,
    SPEAKER_COLOURS,
    UNLABELLED_COLOUR,
    talk_time_figure,
    timeline_figure,
)

TALK = Transcript(
    (
        Segment(0.0, 4.0, "S01", "Good morning."),
        Segment(3.0, 5.0, "S02", "Hello & <b>welcome</b>."),
        Segment(5.0, 6.0, None, "Who is it?"),
        Segment(None, None, "S01", "No times here."),
        Segment(6.0, 99.0, "S01", "Past the end."),
    )
)
SILENT = Transcript((Segment(None, None, "S01", "No times at all."),))


def test_each_speaker_has_a_lane_in_order_of_appearance() -> None:
    """The figure has the lanes of the live view, unlabelled speech last."""
    figure = timeline_figure(TALK, 10.0, {"S02": "Ann"})
    assert [name.strip() for name in figure.layout.yaxis.ticktext] == ["S01", "Ann", "Unlabelled"]
    assert [bar.name for bar in figure.data] == ["S01", "Ann", "Unlabelled"]


def test_blocks_stand_at_their_times_and_end_with_the_recording() -> None:
    """A block starts and lasts as the segment does, cut at the end of the recording."""
    first = timeline_figure(TALK, 10.0, {}).data[0]
    # Dates, not numbers: plotly takes a bare 6000 on this axis for a year.
    assert list(first.base) == ["1970-01-01 00:00:00.000", "1970-01-01 00:00:06.000"]
    assert list(first.x) == [4000.0, 4000.0]
    assert first.customdata[0][0] == "0:00.0 – 0:04.0"


def test_a_long_lane_is_one_line_with_gaps() -> None:
    """What would be thousands of bars is one shape, with the same times and words."""
    talk = tuple(Segment(2.0 * n, 2.0 * n + 1, "S01", f"turn {n}") for n in range(MAX_BARS + 1))
    lane = timeline_figure(Transcript(talk), 1_000.0, {}).data[0]
    assert lane.name == "S01"
    assert list(lane.x[3:6]) == ["1970-01-01 00:00:02.000", "1970-01-01 00:00:03.000", None]
    assert lane.y[5] is None
    assert {tuple(words) for words in lane.customdata[3:6]} == {
        ("0:02.0 – 0:03.0", "turn 1", "S01")
    }


def test_words_under_the_pointer_are_shown_as_they_are() -> None:
    """Markup that somebody spoke is not rendered by plotly."""
    second = timeline_figure(TALK, 10.0, {"S02": "<a href='x'>Ann</a>"}).data[1]
    assert second.customdata[0][1] == "Hello &amp; &lt;b&gt;welcome&lt;/b&gt;."
    assert second.customdata[0][2] == "&lt;a href='x'&gt;Ann&lt;/a&gt;"


@given(st.text())
def test_no_text_reaches_plotly_as_markup(text: str) -> None:
    """Whatever is said, the only tag in the hover is our own line break."""
    figure = timeline_figure(Transcript((Segment(0.0, 1.0, text, text),)), 1.0, {})
    _, words, name = figure.data[0].customdata[0]
    for shown in (words.replace("<br>", ""), name, figure.layout.yaxis.ticktext[0]):
        assert "<" not in shown
        assert html.escape(html.unescape(shown), quote=False) == shown


@pytest.mark.parametrize("draw", [timeline_figure, talk_time_figure])
@pytest.mark.parametrize("transcript", [SILENT, Transcript()])
def test_a_transcript_without_times_says_so(draw: object, transcript: Transcript) -> None:
    """An empty figure carries a sentence instead of bare axes."""
    assert callable(draw)
    figure = draw(transcript, 10.0, {})
    assert figure.layout.annotations[0].text == "The transcript holds no times."


def test_talk_time_is_counted_within_the_recording() -> None:
    """Each bar is a speaker's seconds, with the share of all speech beside it."""
    figure = talk_time_figure(TALK, 10.0, {"S01": "Bob"})
    assert list(figure.data[0].x) == [8.0, 2.0, 1.0]
    assert list(figure.data[0].text) == ["0:08 · 73%", "0:02 · 18%", "0:01 · 9%"]
    assert figure.layout.yaxis.ticktext[0].strip() == "Bob"


def test_two_speakers_of_one_name_keep_their_lanes() -> None:
    """Renaming two speakers alike does not pour them into one lane."""
    figure = timeline_figure(TALK, 10.0, {"S01": "Ann", "S02": "Ann"})
    assert [set(bar.y) for bar in figure.data] == [{0}, {1}, {2}]


def test_figures_survive_the_way_to_the_browser() -> None:
    """A figure of 3,000 segments becomes JSON without numbers that JSON lacks."""
    many = Transcript(tuple(Segment(i, i + 0.5, f"S{i % 12:02}", "Yes.") for i in range(3000)))
    figure = go.Figure(timeline_figure(many, 3000.0, {}))
    assert sum(len(lane.customdata) for lane in figure.data) == 3 * 3000  # start, end and gap
    assert "NaN" not in figure.to_json()


@pytest.mark.parametrize("page", ["#ffffff", "#0f172a"])
def test_colours_are_seen_in_both_modes(page: str) -> None:
    """The server does not know the visitor's mode, so every colour has 3:1 on both surfaces."""
    faint = [
        c for c in (*SPEAKER_COLOURS, UNLABELLED_COLOUR) if _contrast(_over(c, page), page) < 3
    ]
    assert faint == []


def _over(colour: str, page: str) -> str:
    mixed = (
        BLOCK_OPACITY * int(colour[i : i + 2], 16) + (1 - BLOCK_OPACITY) * int(page[i : i + 2], 16)
        for i in (1, 3, 5)
    )
    return "#" + "".join(f"{round(channel):02x}" for channel in mixed)


def _contrast(first: str, second: str) -> float:
    low, high = sorted((_luminance(first), _luminance(second)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    channels = (int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
