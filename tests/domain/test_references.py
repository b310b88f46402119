"""Transcripts of other tools: what is read from each format, and what is refused with its line."""

import json
from contextlib import suppress
from pathlib import Path

import pysubs2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from praatio import textgrid

from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.errors import TranscriptError

Turn = tuple[float | None, float | None, str | None, str]


def turns(transcript: Transcript) -> list[Turn]:
    """Return times, speaker and words of each segment."""
    return [(s.start, s.end, s.speaker, s.text) for s in transcript.segments]


RAW = "[0.48][S01]good morning[2.10][2.60][S02]shall we[3.00]"
TWO: list[Turn] = [(0.48, 2.1, "S01", "good morning"), (2.6, 3.0, "S02", "shall we")]

SRT = """1
00:00:00,480 --> 00:00:02,100
S01: good morning

2
00:00:02,600 --> 00:00:03,000
S02: shall we
"""
VTT = """WEBVTT - made by hand

NOTE spoken in a --> hall

1
00:00.480 --> 00:02.100 align:start
<v S01>good morning</v>

00:00:02.600 --> 00:00:03.000
<v.loud S02>shall <i>we</i>
"""
ASS = """[Script Info]
ScriptType: v4.00+

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.00,0:00:00.40,Default,,0,0,0,,not spoken
Dialogue: 0,0:00:00.48,0:00:02.10,Default,S01,0,0,0,,good {\\i1}morning
Dialogue: 0,0:00:02.60,0:00:03.00,Default,S02,0,0,0,,shall we
"""
RTTM = """;; a comment
SPEAKER talk 1 0.48 1.62 <NA> <NA> S01 <NA> <NA>
SPKR-INFO talk 1 <NA> <NA> <NA> unknown S01 <NA> <NA>
SPEAKER talk 1 2.6 0.4 <NA> <NA> S02 <NA>
"""
STM = """;; LABEL "O" "Overall" "all"
talk 1 S01 0.48 2.10 <o,f0,male> good morning
talk 1 S02 2.10 2.60 ignore_time_segment_in_scoring
talk 1 S02 2.60 3.00 {shall / will} (we)
"""
TEXTGRID = """File type = "ooTextFile"
Object class = "TextGrid"

xmin = 0
xmax = 3.5
tiers? <exists>
size = 2
item []:
    item [1]:
        class = "IntervalTier"
        name = "S01"
        xmin = 0
        xmax = 3.5
        intervals: size = 3
        intervals [1]:
            xmin = 0
            xmax = 0.48
            text = ""
        intervals [2]:
            xmin = 0.48
            xmax = 2.10
            text = "good morning"
        intervals [3]:
            xmin = 2.10
            xmax = 3.5
            text = ""
    item [2]:
        class = "IntervalTier"
        name = "S02"
        xmin = 0
        xmax = 3.5
        intervals: size = 1
        intervals [1]:
            xmin = 2.60
            xmax = 3.00
            text = "shall we"
"""
DIARIZED = json.dumps(
    {
        "task": "transcribe",
        "text": "good morning shall we",
        "segments": [
            {"id": "seg_0", "start": 0.48, "end": 2.1, "speaker": "S01", "text": " good morning"},
            {"id": "seg_1", "start": 2.6, "end": 3, "speaker": "S02", "text": "shall we"},
        ],
    }
)
VERBOSE = json.dumps(
    {
        "segments": [
            {"id": 0, "start": 0.48, "end": 2.1, "text": "[S01]good morning"},
            {"id": 1, "start": 2.6, "end": 3.0, "text": "[S2] shall we"},
        ]
    }
)
SEGLST = json.dumps(
    [
        {
            "session_id": "talk",
            "speaker": speaker,
            "start_time": start,
            "end_time": end,
            "words": words,
        }
        for start, end, speaker, words in TWO
    ]
)
CSV = 'start,end,speaker,text\r\n0.480,2.100,S01,good morning\r\n2.600,3.000,S02,"shall we"\r\n'
TSV = "Start\tEnd\tSpeaker\tText\n0.48\t2.1\tS01\tgood morning\n0:00:02.6\t0:03\tS02\tshall we\n"
PLAIN = "[0:00.480 - 0:02.100] S01: good morning\n[0:00:02.600 - 0:00:03.000] S02: shall we\n"

FORMS = {
    ".raw": RAW,
    ".srt": SRT,
    ".vtt": VTT,
    ".ass": ASS,
    ".stm": STM,
    ".TextGrid": TEXTGRID,
    ".json": DIARIZED,
    ".verbose.json": VERBOSE,
    ".seglst": SEGLST,
    ".csv": CSV,
    ".tsv": TSV,
    ".txt": PLAIN,
    ".text.json": json.dumps({"text": RAW}),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("suffix", ["", ".txt", ".JSON", ".srt"])
def test_the_same_two_turns_are_read_from_every_format(form: str, suffix: str) -> None:
    """The content decides, whatever the file is called."""
    assert turns(read_reference(form, suffix=suffix)) == TWO


def test_rttm_has_times_and_speakers_but_no_words() -> None:
    """Only speaker lines are turns."""
    assert turns(read_reference(RTTM)) == [(0.48, 2.1, "S01", ""), (2.6, 3.0, "S02", "")]


@pytest.mark.parametrize("form", [SRT, VTT, CSV, RAW, DIARIZED])
def test_a_byte_order_mark_and_windows_line_ends_do_not_matter(form: str) -> None:
    """Files from Windows read like all others."""
    windows = "\ufeff" + form.replace("\r\n", "\n").replace("\n", "\r\n")
    assert turns(read_reference(windows)) == TWO


def test_model_text_keeps_its_raw_form() -> None:
    """What the model wrote can be compared byte for byte."""
    assert read_reference(RAW, suffix=".txt").raw == RAW


def test_plain_words_are_one_segment_with_nothing_known() -> None:
    """A reference may be nothing but words."""
    assert turns(read_reference("Good morning.\nShall we?")) == [
        (None, None, None, "Good morning.\nShall we?")
    ]


def test_an_empty_file_is_an_empty_transcript() -> None:
    """Nobody spoke is an answer, also in a format of its own."""
    for suffix in ("", ".txt", ".srt", ".rttm", ".stm"):
        assert read_reference("", suffix=suffix).segments == ()


def test_free_names_are_labels_only_if_every_cue_has_one() -> None:
    """A single "Note:" is spoken."""
    named = SRT.replace("S01", "Alice").replace("S02", "Bob")
    assert [s.speaker for s in read_reference(named).segments] == ["Alice", "Bob"]
    mixed = SRT.replace("S01", "Note").replace("S02: ", "")
    assert [s.text for s in read_reference(mixed).segments] == ["Note: good morning", "shall we"]


def test_srt_survives_numbers_as_words_and_missing_blank_lines() -> None:
    """A spoken number is not the number of the next cue."""
    text = "1\n0:00:00,0 --> 0:00:01,0\n5\n\n2\n0:00:01,0 --> 0:00:02,5\n<i>six</i>\n3\n"
    text += "0:00:03,0 --> 0:00:02,0\n{\\an8}seven {eight}\n\nnine\n"
    assert turns(read_reference(text)) == [
        (0.0, 1.0, None, "5"),
        (1.0, 2.5, None, "six"),
        (3.0, 3.0, None, "seven {eight}\nnine"),
    ]
    assert read_reference(text).segments[2].flags == (SegmentFlag.END_BEFORE_START,)


def test_vtt_voices_entities_and_cues_with_two_speakers() -> None:
    """Every voice of a cue is a segment, and escapes are undone."""
    text = (
        "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann &amp; Co>a &lt; b</v>\n<v Bob>c --&gt; d</v>\n"
    )
    assert turns(read_reference(text)) == [
        (1.0, 2.0, "Ann & Co", "a < b"),
        (1.0, 2.0, "Bob", "c --> d"),
    ]


def test_ass_escapes_are_undone_and_overrides_dropped() -> None:
    """Spoken braces and backslashes stay, commands to the renderer go."""
    spoken = r"\{curly\} {\pos(1,2)}back\⁠slash, comma\Nnew".replace("⁠", "\u2060")
    text = ASS.replace("shall we", spoken)
    assert read_reference(text).segments[1].text == "{curly} back\\slash, comma\nnew"


def test_a_second_tier_of_one_speaker_is_the_same_speaker() -> None:
    """Self-overlap needs a tier of its own; points and foreign tiers do not disturb."""
    second = TEXTGRID.replace('"S02"', '"S01 (2)"')
    assert [s.speaker for s in read_reference(second).segments] == ["S01", "S01"]


def test_the_short_form_of_textgrid_with_points_and_quotes() -> None:
    """Praat's short form has the values alone."""
    text = 'File type = "ooTextFile"\nObject class = "TextGrid"\n0\n2\n<exists>\n2\n'
    text += '"TextTier" "marks" 0 2 1 0.5 "beep" ! a comment\n'
    text += '"IntervalTier" "A" 0 2 1 0 2 "say ""hi"" now"\n'
    assert turns(read_reference(text)) == [(0.0, 2.0, "A", 'say "hi" now')]


def test_whisper_tables_count_milliseconds() -> None:
    """A TSV without speakers and decimal points is in milliseconds."""
    assert turns(read_reference("start\tend\ttext\n480\t2100\tgood morning\n")) == [
        (0.48, 2.1, None, "good morning")
    ]


def test_the_guard_against_formulas_is_taken_off() -> None:
    """A cell that a spreadsheet would calculate comes back as it was spoken."""
    text = "start,end,speaker,text\n0,1,,'=1+1\n1,2,S01,'tis\n2,3,,a'=b\n"
    assert [s.text for s in read_reference(text).segments] == ["=1+1", "'tis", "a'=b"]


def test_stm_alternatives_and_optional_words() -> None:
    """The first alternative counts, `@` is no word, and a bracketed word is kept."""
    text = "talk 1 A 0 1 {um / @} yes {@ / uh} (okay) (%hesitation)\n"
    assert read_reference(text, suffix=".stm").segments[0].text == "um yes okay %hesitation"


@pytest.mark.parametrize("words", ["my number is 5 5 5 1 2 3", "it was about 3 4 weeks ago"])
def test_numbers_that_are_said_make_no_table(words: str) -> None:
    """Plain words stay words, whatever stands in their fourth and fifth place."""
    (segment,) = read_reference(words).segments
    assert (segment.text, segment.start, segment.speaker) == (words, None, None)


def test_the_projects_own_text_is_read_where_its_first_line_has_no_times() -> None:
    """What the model wrote before its first stamp comes first, and is no reason to misread."""
    text = "Sure: here it is.\n[00:00:00.480 - 00:00:01.660] S01: Welcome everyone\n"
    preamble, welcome = read_reference(text).segments
    assert preamble.start is None
    assert (welcome.start, welcome.speaker, welcome.text) == (0.48, "S01", "Welcome everyone")


@pytest.mark.parametrize("label", ["", "unknown", "  "])
def test_speech_without_a_label_stays_without(label: str) -> None:
    """Formats that need a label write `unknown`, which is none."""
    assert read_reference(f"start,end,speaker,text\n0,1,{label},a\n").segments[0].speaker is None


@pytest.mark.parametrize(
    ("text", "suffix", "message"),
    [
        ("SPEAKER talk 1 0.4\n", ".rttm", "Line 1: an RTTM speaker line has ten columns"),
        (RTTM.replace("2.6", "two"), "", "Line 4: the onset is 'two'"),
        (RTTM.replace("0.4 ", "-0.4 "), "", "Line 4: the duration -0.4 is negative"),
        (RTTM.replace("talk 1 2.6", "other 1 2.6"), "", "describes 2 recordings (other, talk)"),
        ("talk 1 S01 0.4\n", ".stm", "Line 1: an STM line has five columns"),
        ("\ntalk 1 S01 0.4 x y\n", ".stm", "Line 2: the end is 'x'"),
        (SRT.replace("00:00:02,600", "00:00:02;600"), "", "Line 6: a timing is"),
        ("good morning", ".srt", "hold no timing"),
        ("good morning", ".vtt", "Line 1: the first line of WebVTT"),
        (VTT.replace("00:00:02.600", "soon"), "", "Line 9: 'soon' is no time"),
        ("[Script Info]\n", "", "hold no [Events]"),
        (ASS.replace(",Default,S02,0,0,0,,shall we", ""), "", "Line 8: the dialogue has 3 of 10"),
        (ASS.replace("0:00:02.60", "2.60"), "", "Line 8: '2.60' is no time"),
        (TEXTGRID[:-20], "", "Line 35: the TextGrid ends where a quoted text is due"),
        (TEXTGRID.replace("xmax = 0.48", 'xmax = "x"'), "", 'Line 17: a number is due, not "x"'),
        ("{'a': 1}", "", "Line 1: the JSON is broken"),
        ('{"a":\n 1,}', ".json", "Line 2: the JSON is broken"),
        ('{"a": 1}', "", "neither segments nor text"),
        ('{"segments": [{"start": 0, "end": 1}]}', "", "Segment 1 of the JSON has no text"),
        ('{"segments": [{"start": "0", "text": ""}]}', "", "has the stamp '0'"),
        ('{"segments": [7]}', "", "Segment 1 of the JSON is no object"),
        ('{"segments": [{"start": NaN, "text": ""}]}', "", "Segment 1: nan is no time"),
        (
            '[{"session_id": "a", "words": ""}, {"session_id": "b", "words": ""}]',
            "",
            "2 recordings",
        ),
        ("start,end,text\n0,1\n", "", "Line 2: the row has 2 cells, the header 3"),
        ("start,end,text\n0,soon,a\n", "", "Line 2: the end is 'soon'"),
        ("start,end,text\n0,1e99,a\n", "", "Line 2: 1e+99 is no time"),
        ("a,b\n", ".csv", "Line 1: the header needs"),
        ("[" * 100_000, ".json", "nests too deep"),
        ("a" * 1_000_001, ".txt", "has 1,000,001 characters"),
        ("text,speaker\n" + "".join(f"a,{n}\n" for n in range(2001)), "", "has 2,001 speakers"),
    ],
)
def test_a_broken_file_is_refused_with_its_line(text: str, suffix: str, message: str) -> None:
    """The message tells where to look and what is wrong there."""
    with pytest.raises(TranscriptError) as caught:
        read_reference(text, suffix=suffix)
    assert message in str(caught.value)


WORDS = st.text("ab é你<>&{}\\", min_size=1, max_size=12).map(str.strip).filter(bool)
CENTISECONDS = st.integers(0, 400_000)


@given(st.lists(st.tuples(CENTISECONDS, CENTISECONDS, WORDS), min_size=1, max_size=4))
def test_subtitle_times_are_those_of_pysubs2(cues: list[tuple[int, int, str]]) -> None:
    """A second reader finds the same cues in SRT and ASS."""
    written = pysubs2.SSAFile()
    for start, length, _ in cues:
        event = pysubs2.SSAEvent(start * 10, (start + length) * 10, text="word")
        written.events.append(event)
    for form in ("srt", "ass"):
        text = written.to_string(form)
        expected = [(e.start / 1000, e.end / 1000) for e in pysubs2.SSAFile.from_string(text)]
        assert [(s.start, s.end) for s in read_reference(text).segments] == expected


def test_tiers_are_those_of_praatio(tmp_path: Path) -> None:
    """What a second tool writes is read, in its long and in its short form."""
    grid = textgrid.Textgrid()
    grid.addTier(textgrid.IntervalTier("A", [(0.5, 1.25, 'a "b"')], 0, 3))
    grid.addTier(textgrid.IntervalTier("B", [(1.0, 2.0, "c")], 0, 3))
    for form in ("long_textgrid", "short_textgrid"):
        path = tmp_path / f"{form}.TextGrid"
        grid.save(str(path), format=form, includeBlankSpaces=True)
        assert turns(read_reference(path.read_text(encoding="utf-8"))) == [
            (0.5, 1.25, "A", 'a "b"'),
            (1.0, 2.0, "B", "c"),
        ]


@given(st.text(), st.sampled_from(["", ".txt", *[s for s in FORMS if s.count(".") == 1]]))
def test_any_text_is_read_or_refused(text: str, suffix: str) -> None:
    """No file escapes as another error."""
    try:
        transcript = read_reference(text, suffix=suffix)
    except TranscriptError:
        return
    for segment in transcript.segments:
        assert isinstance(segment, Segment)
        assert segment.start is None or segment.end is None or segment.start <= segment.end


@given(st.sampled_from(sorted(FORMS)), st.integers(0, 2000), st.text(max_size=3))
def test_any_damage_is_read_or_refused(form: str, place: int, damage: str) -> None:
    """A file with a few characters changed never escapes as another error."""
    text = FORMS[form]
    place = min(place, len(text))
    with suppress(TranscriptError):
        read_reference(text[:place] + damage + text[place + len(damage) :], suffix=form)
