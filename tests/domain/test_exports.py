"""Every export against its golden file, against other people's readers, and against its rules."""

import csv
import html
import io
import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pysubs2
import pytest
import webvtt
from hypothesis import given, settings
from hypothesis import strategies as st
from openai.types.audio import TranscriptionDiarized, TranscriptionVerbose
from praatio import textgrid

from moss_demo.domain.exports import ExportFormat, export, export_notes
from moss_demo.domain.exports.times import assign_lanes, clock, to_ms
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment, Transcript
from tests.domain.golden import DURATION_S, NAMES, RAW, path_of, sample_run, written

TIMES = st.one_of(st.none(), st.floats(0, 100).map(lambda time: round(time, 2)))
NAMES_OR_NONE = st.one_of(st.none(), st.sampled_from(["S01", "S02", "S03"]))
WORDS = st.one_of(
    st.text(max_size=30), st.sampled_from(["{\\b1}a", "a --> b", "<b>", "\u2028x", '"'])
)


@st.composite
def transcripts(draw: st.DrawFn) -> Transcript:
    """Build transcripts of any words, any order and any gaps in what is known."""
    segments = []
    for _ in range(draw(st.integers(0, 8))):
        start, end = draw(TIMES), draw(TIMES)
        if start is not None and end is not None:
            start, end = min(start, end), max(start, end)
        segments.append(Segment(start, end, draw(NAMES_OR_NONE), draw(WORDS) or "x"))
    return Transcript(tuple(segments), "", True)


def of(raw: str, fmt: ExportFormat, *, duration_s: float = 60.0, **options: Any) -> str:
    """Return raw text in a format."""
    return export(parse(raw), fmt, name="talk.wav", duration_s=duration_s, **options)


@pytest.mark.parametrize("fmt", ExportFormat)
def test_golden(fmt: ExportFormat) -> None:
    """The sample with everything that breaks exports is written as reviewed, byte for byte."""
    assert written(fmt) == path_of(fmt).read_bytes().decode()


def test_formats_can_lie_in_one_folder() -> None:
    """Each format has its own extension and a label."""
    assert len({fmt.extension.lower() for fmt in ExportFormat}) == len(ExportFormat)
    assert len({fmt.label for fmt in ExportFormat}) == len(ExportFormat)


@pytest.mark.parametrize("fmt", [fmt for fmt in ExportFormat if fmt is not ExportFormat.UEM])
def test_a_new_name_is_in_every_export(fmt: ExportFormat) -> None:
    """Whoever renames a speaker finds the name in every file, and the old label in none."""
    text = of("[0.5][S01]hello[1.0]", fmt, names={"S01": "Zoë", "S02": " "})
    assert "Zoë" in text
    if fmt is not ExportFormat.JSON:
        assert "S01" not in text


@given(transcripts(), st.sampled_from(list(ExportFormat)), st.floats(0, 120))
@settings(max_examples=300)
def test_anything_can_be_written(
    transcript: Transcript, fmt: ExportFormat, duration_s: float
) -> None:
    """No transcript stops an export, and every export can be stored as UTF-8."""
    text = export(transcript, fmt, name="a b.wav", duration_s=duration_s, names={"S01": "A, <B>"})
    assert text.encode("utf-8").decode("utf-8") == text


def test_half_characters_can_be_stored() -> None:
    """A half surrogate pair in the text does not make a file that cannot be saved."""
    for fmt in ExportFormat:
        if fmt is not ExportFormat.RAW:
            of("[0.5][S01]a\ud83d b[1.0]", fmt).encode("utf-8")


@pytest.mark.parametrize(
    ("seconds", "ms", "text"),
    [
        (0.0005, 1, "00:00:00.001"),
        (1.9996, 2000, "00:00:02.000"),
        (59.9996, 60_000, "00:01:00.000"),
        (-1.0, 0, "00:00:00.000"),
        (1.005, 1005, "00:00:01.005"),
        (360_000.25, 360_000_250, "100:00:00.250"),
    ],
)
def test_milliseconds(seconds: float, ms: int, text: str) -> None:
    """Times are rounded half up as they are written, and carry into minutes and hours."""
    assert to_ms(seconds) == ms
    assert clock(ms) == text


def test_srt_is_read_by_pysubs2() -> None:
    """A subtitle editor sees each cue with its words, times and speaker."""
    events = pysubs2.SSAFile.from_string(written(ExportFormat.SRT), format_="srt").events
    assert len(events) == 12
    assert [event.start for event in events] == sorted(event.start for event in events)
    assert all(event.end > event.start for event in events)
    joiner = "\u2060"
    assert events[3].text.replace(joiner, "") == (
        'Alice Smith: mind the {braces} & <b>tags</b> -> "quoted", \\N and \\an8'
    )
    assert (events[11].start, events[11].end) == (60_000, 62_500)


@given(transcripts())
def test_srt_keeps_every_cue_apart(transcript: Transcript) -> None:
    """Words can never end a cue, begin one, or leave one without length."""
    text = export(transcript, ExportFormat.SRT, name="a", duration_s=50.0)
    cues = text.rstrip("\n").split("\n\n") if text else []
    for number, cue in enumerate(cues, 1):
        index, times, words = cue.split("\n")
        assert index == str(number)
        assert words
        assert "-->" not in words
        start, end = times.split(" --> ")
        assert re.fullmatch(r"\d\d+:[0-5]\d:[0-5]\d,\d{3}", start)
        assert start < end


def test_a_cue_without_length_is_shown_for_half_a_second_where_there_is_room() -> None:
    """Nothing said is invisible, and nothing covers the next cue for it."""
    raw = "[1.0][S01]hm[1.0][5.0][S01]ah[5.0][5.2][S01]oh[5.2]"
    times = re.findall(r"(\S+) --> (\S+)", of(raw, ExportFormat.SRT, duration_s=5.2))
    assert times == [
        ("00:00:01,000", "00:00:01,500"),
        ("00:00:05,000", "00:00:05,200"),
        ("00:00:05,200", "00:00:05,201"),
    ]


def test_vtt_is_read_by_webvtt() -> None:
    """A player sees the speaker as the voice and the words as they were said."""
    captions = webvtt.from_string(written(ExportFormat.VTT)).captions
    run = sample_run()
    assert len(captions) == 12
    assert captions[1].voice == "Alice Smith"
    assert captions[4].voice is None
    assert html.unescape(captions[3].text) == run.transcript.segments[3].text
    assert captions[11].start == "00:01:00.000"


@given(transcripts())
def test_vtt_is_valid_for_any_words(transcript: Transcript) -> None:
    """Words and names can break no cue; the reader finds as many cues as have words."""
    text = export(transcript, ExportFormat.VTT, name="a", duration_s=50.0, names={"S01": "<&>"})
    captions = webvtt.from_string(text).captions
    lines = [turn for turn in text.split("\n") if "-->" in turn]
    assert len(captions) == len(lines)
    assert all(caption.end_in_seconds >= caption.start_in_seconds for caption in captions)


def test_ass_is_read_by_pysubs2() -> None:
    """A subtitle editor sees speakers, styles and raised overlaps, and braces stay visible."""
    script = pysubs2.SSAFile.from_string(written(ExportFormat.ASS), format_="ass")
    assert [event.name for event in script.events[:3]] == ["", "Alice Smith", "S02"]
    assert all(event.style in script.styles for event in script.events)
    assert script.events[3].text.startswith(r"mind the \{braces\} & <b>tags</b> -->")
    assert "\\N" not in script.events[3].text
    assert [event.marginv for event in script.events[2:5]] == [0, 110, 0]
    assert script.events[5].text == "=SUM(A1:A2), really"


def test_textgrid_is_read_by_praatio(tmp_path: Path) -> None:
    """Praat sees a tier a speaker, a second one for self-overlap, and every word."""
    path = tmp_path / "sample.TextGrid"
    path.write_text(written(ExportFormat.TEXTGRID), encoding="utf-8")
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=False)
    renamed = "O'Neil, R&D [lead]"
    assert grid.tierNames == ("unknown", "Alice Smith", "Alice Smith (2)", "S02", renamed)
    labels = [entry.label for tier in grid.tiers for entry in tier.entries]
    assert len(labels) == 12
    assert 'mind the {braces} & <b>tags</b> --> "quoted", \\N and \\an8' in labels
    assert (grid.minTimestamp, grid.maxTimestamp) == (0.0, 62.5)


@given(transcripts())
@settings(max_examples=60)
def test_textgrid_is_valid_for_any_times(
    tmp_path_factory: pytest.TempPathFactory, transcript: Transcript
) -> None:
    """Overlap, missing length and stamps beyond the audio still make contiguous tiers."""
    path = tmp_path_factory.mktemp("grid") / "any.TextGrid"
    text = export(transcript, ExportFormat.TEXTGRID, name="a", duration_s=50.0)
    path.write_text(text, encoding="utf-8")
    grid = textgrid.openTextgrid(str(path), includeEmptyIntervals=True, reportingMode="error")
    for tier in grid.tiers:
        edges = [edge for entry in tier.entries for edge in (entry.start, entry.end)]
        assert edges[0] == 0
        assert edges[-1] == grid.maxTimestamp
        assert edges[1:-1:2] == edges[2::2]


def test_textgrid_of_nothing_still_has_a_tier(tmp_path: Path) -> None:
    """An empty transcript makes a TextGrid that Praat opens."""
    path = tmp_path / "empty.TextGrid"
    path.write_text(of("", ExportFormat.TEXTGRID), encoding="utf-8")
    assert len(textgrid.openTextgrid(str(path), includeEmptyIntervals=True).tiers) == 1


@given(transcripts())
def test_rttm_has_ten_fields_and_no_self_overlap(transcript: Transcript) -> None:
    """Scorers get valid lines by start, each with a length, and nobody overlaps themselves."""
    text = export(
        transcript, ExportFormat.RTTM, name="a b.wav", duration_s=50.0, names={"S01": "Al B"}
    )
    reached: dict[str, int] = {}
    starts = []
    for line in text.splitlines():
        kind, file, channel, start, length, _, _, speaker, _, _ = line.split(" ")
        assert (kind, file, channel) == ("SPEAKER", "a_b", "1")
        start_ms, length_ms = int(start.replace(".", "")), int(length.replace(".", ""))
        assert length_ms > 0
        assert start_ms >= reached.get(speaker, 0)
        reached[speaker] = start_ms + length_ms
        starts.append(start_ms)
    assert starts == sorted(starts)


def test_rttm_merges_overlap_of_one_speaker_only() -> None:
    """Turns that only touch stay two, and two labels under one new name are one speaker."""
    raw = "[0.0][S01]a[2.0][1.1][S02]b[2.2034][2.2034][S02]c[3.0]"
    assert of(raw, ExportFormat.RTTM).count("SPEAKER") == 3
    both = of(raw, ExportFormat.RTTM, names={"S01": "Al", "S02": "Al"})
    assert both.splitlines() == [
        "SPEAKER talk 1 0.000 2.203 <NA> <NA> Al <NA> <NA>",
        "SPEAKER talk 1 2.203 0.797 <NA> <NA> Al <NA> <NA>",
    ]


def test_notes_count_what_a_format_cannot_say() -> None:
    """What was left out, filled in or shortened is told with its number, format by format."""
    transcript = parse(RAW, DURATION_S)
    rttm = export_notes(transcript, ExportFormat.RTTM, duration_s=DURATION_S)
    assert rttm == (
        "1 segment was left out, because RTTM holds no turns without length.",
        "3 segments were given times by their neighbours.",
        "1 segment was shortened to the end of the audio.",
    )
    assert export_notes(transcript, ExportFormat.SRT, duration_s=DURATION_S) == rttm[1:]
    assert export_notes(transcript, ExportFormat.JSON, duration_s=DURATION_S) == ()
    good = parse("[0.5][S01]a[1.0]")
    assert export_notes(good, ExportFormat.RTTM, duration_s=2.0) == ()


def test_uem_covers_the_recording() -> None:
    """Whoever scores the RTTM finds its file name and the whole recording in the UEM."""
    assert of("[0.5][S01]a[1.0]", ExportFormat.UEM, duration_s=62.5) == "talk 1 0.000 62.500\n"
    assert of("[0.5][S01]a[1.5]", ExportFormat.UEM, duration_s=0) == "talk 1 0.000 1.500\n"


@given(transcripts())
def test_stm_words_hold_no_markup(transcript: Transcript) -> None:
    """A scorer reads five fields and plain words, whatever was said."""
    text = export(transcript, ExportFormat.STM, name=";;talk", duration_s=50.0)
    lines = text.split("\n")[:-1]
    assert len(lines) == len(transcript.segments)
    for line in lines:
        file, channel, speaker, start, end, *words = line.split(" ")
        assert (file, channel) == ("talk", "1")
        assert speaker
        assert float(start) <= float(end)
        assert not set("".join(words)) & set("{}()<>/")


def test_openai_shapes_validate() -> None:
    """Code written for OpenAI's SDK reads both JSON forms."""
    diarized = TranscriptionDiarized.model_validate_json(
        written(ExportFormat.DIARIZED_JSON), strict=True
    )
    assert diarized.segments[1].speaker == "Alice Smith"
    assert diarized.segments[4].speaker == "unknown"
    verbose = TranscriptionVerbose.model_validate_json(
        written(ExportFormat.VERBOSE_JSON), strict=True
    )
    assert verbose.segments is not None
    assert verbose.segments[2].text.startswith("[S02]")
    assert verbose.segments[5].text.startswith("[O'Neil, R&D (lead)]=SUM")
    assert verbose.duration == DURATION_S


def test_seglst_keeps_order_and_flags() -> None:
    """Scoring tools get the words as said, in the model's order, with what is doubtful."""
    records = json.loads(written(ExportFormat.SEGLST))
    assert [record["words"] for record in records] == [
        segment.text for segment in sample_run().transcript.segments
    ]
    assert records[9]["flags"] == ["open_end"]
    assert records[9]["filled"] is True


def test_csv_cells_are_not_calculated() -> None:
    """A spreadsheet shows what was said instead of running it, and rows survive any comma."""
    text = written(ExportFormat.CSV)
    assert text.count("\r\n") == 13
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert rows[0] == ["start", "end", "speaker", "text"]
    assert rows[6] == ["5.000", "6.200", NAMES["S03"], "'=SUM(A1:A2), really"]
    for cell in ("+1", "-1", "@a", "=1"):
        assert f",'{cell}" in of(f"[0.5][S01]{cell}[1.0]", ExportFormat.CSV)


@given(transcripts())
def test_audacity_labels_are_one_line(transcript: Transcript) -> None:
    """Each label has two times and a text, and no line begins with a frequency range."""
    text = export(transcript, ExportFormat.AUDACITY, name="a", duration_s=50.0)
    for line in text.split("\n")[:-1]:
        start, end, _ = line.split("\t")
        assert float(start) <= float(end)


def test_raw_keeps_all_but_renamed_labels() -> None:
    """Raw text is the model's own; only markers of renamed speakers carry the new name."""
    raw = "[0.5][ s1 ]S01 said [S02] no[1.0]<|im_end|>"
    assert of(raw, ExportFormat.RAW) == raw
    renamed = of(raw, ExportFormat.RAW, names={"S01": "A]l\n"})
    assert renamed == "[0.5][A)l]S01 said [S02] no[1.0]<|im_end|>"


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("[1.0][S01]a[S02]bbb[5.0]", [(1.0, 2.0), (2.0, 5.0)]),  # shared by length of words
        ("[1.0][S01]a[2.0][4.0][S02]b", [(1.0, 2.0), (4.0, 10.0)]),  # open end: end of the audio
        ("[S01]a[2.0][4.0][S02]b[5.0]", [(0.0, 2.0), (4.0, 5.0)]),  # unknown start: 0
        ("[S01]aa[S02]bbb", [(0.0, 4.0), (4.0, 10.0)]),  # no times at all
        ("[1.0][S01]a[2.0][9.0][S02]b[99.0]", [(1.0, 2.0), (9.0, 10.0)]),  # beyond the audio
        ("Hi[3.0][S01]a[2.0]", [(0.0, 3.0), (3.0, 3.0)]),
    ],
)
def test_unknown_times_come_from_neighbours(raw: str, expected: list[tuple[float, float]]) -> None:
    """Formats that need times get them from what stands beside, and never run backwards."""
    records = json.loads(of(raw, ExportFormat.SEGLST, duration_s=10.0))
    assert [(record["start_time"], record["end_time"]) for record in records] == expected


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), max_size=30))
def test_lanes_never_overlap(spans: list[tuple[int, int]]) -> None:
    """Within a lane spans follow each other, and no lane more than needed is used."""
    spans = sorted((start, start + length) for start, length in spans)
    lanes = assign_lanes(spans)
    for lane in set(lanes):
        own = [span for span, other in zip(spans, lanes, strict=True) if other == lane]
        assert all(first[1] <= second[0] for first, second in pairwise(own))
    most = max((sum(a <= at < b for a, b in spans) for at, _ in spans), default=0)
    assert len(set(lanes)) == most


def test_three_thousand_segments() -> None:
    """A long meeting is written in every format without more than linear work."""
    raw = "".join(f"[{at}.10][S0{at % 4}]word {at}[{at}.90]" for at in range(3000))
    transcript = parse(raw, 3000.0)
    for fmt in ExportFormat:
        assert export(transcript, fmt, name="long", duration_s=3000.0)


@pytest.mark.parametrize("words", ["hello <laugh> there a < b and c > d", "<3 love <4> </x>"])
def test_no_word_of_a_subtitle_is_taken_for_a_tag(words: str) -> None:
    """A reader that drops tags drops none of them."""
    transcript = Transcript((Segment(0.0, 1.0, "S01", words),))
    text = export(transcript, ExportFormat.SRT, name="a", duration_s=1.0)
    (cue,) = pysubs2.SSAFile.from_string(text, format_="srt")
    assert cue.plaintext.replace("\u2060", "") == f"S01: {words}"
