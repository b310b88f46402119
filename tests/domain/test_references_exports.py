"""Whatever the project writes can be a reference again."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Segment, Transcript

Turn = tuple[float | None, float | None, str | None, str]

LOSSLESS = [
    ExportFormat.JSON,
    ExportFormat.DIARIZED_JSON,
    ExportFormat.VERBOSE_JSON,
    ExportFormat.SRT,
    ExportFormat.VTT,
    ExportFormat.ASS,
    ExportFormat.SEGLST,
    ExportFormat.TEXTGRID,
    ExportFormat.CSV,
    ExportFormat.TXT,
]
WORDS = (
    st.text("abc é你好<>&{}\\/,\"'=+-@[]0123", min_size=1, max_size=14)
    .map(lambda text: " ".join(text.split()))
    .filter(lambda text: text and "-->" not in text and not text.startswith("'"))
)
"""No arrow, which SRT cannot hold, and no apostrophe in front, which a table may add itself."""


@st.composite
def transcripts(draw: st.DrawFn, speakers: Sequence[str | None]) -> Transcript:
    """Draw turns one after the other, so that no format has to reorder or to invent a time."""
    reached, segments = 0, []
    for gap, length, speaker, words in draw(
        st.lists(
            st.tuples(st.integers(0, 500), st.integers(1, 900), st.sampled_from(speakers), WORDS),
            min_size=1,
            max_size=5,
        )
    ):
        start = reached + gap
        reached = start + length
        segments.append(Segment(start / 100, reached / 100, speaker, words))
    return Transcript(tuple(segments), "".join(s.text for s in segments))


def turns(transcript: Transcript) -> list[Turn]:
    """Return times, speaker and words of each segment."""
    return [(s.start, s.end, s.speaker, s.text) for s in transcript.segments]


def written(transcript: Transcript, fmt: ExportFormat, **names: str) -> str:
    """Return the transcript in a format."""
    return export(transcript, fmt, name="a talk.wav", duration_s=0.0, names=names)


@pytest.mark.parametrize("fmt", LOSSLESS)
@given(transcripts(["S01", "S02", "S13"]))
def test_turns_come_back_as_they_were(fmt: ExportFormat, transcript: Transcript) -> None:
    """Times, labels and words survive, whatever characters the words hold."""
    assert turns(read_reference(written(transcript, fmt))) == turns(transcript)


@pytest.mark.parametrize("fmt", LOSSLESS)
def test_speech_without_a_label_comes_back_without(fmt: ExportFormat) -> None:
    """Formats that need a label do not invent a speaker on the way back."""
    transcript = Transcript(
        (Segment(0.0, 1.0, None, "nobody knows"), Segment(1.0, 2.0, "S01", "I do"))
    )
    assert turns(read_reference(written(transcript, fmt))) == turns(transcript)


@pytest.mark.parametrize("fmt", [fmt for fmt in LOSSLESS if fmt is not ExportFormat.JSON])
def test_given_names_come_back(fmt: ExportFormat) -> None:
    """Renamed speakers are read under their new names."""
    transcript = Transcript((Segment(0.0, 1.0, "S01", "hello"), Segment(1.0, 2.0, "S02", "hi")))
    text = written(transcript, fmt, S01="Alice Smith", S02="Bob")
    assert [s.speaker for s in read_reference(text).segments] == ["Alice Smith", "Bob"]


def test_scoring_formats_keep_what_they_can_say() -> None:
    """RTTM has no words, and STM none of a scorer's own signs."""
    transcript = Transcript((Segment(0.1, 0.3, "S01", "a/b <c>"), Segment(0.3, 1.1, None, "(d)")))
    assert turns(read_reference(written(transcript, ExportFormat.RTTM))) == [
        (0.1, 0.3, "S01", ""),
        (0.3, 1.1, None, ""),
    ]
    assert turns(read_reference(written(transcript, ExportFormat.STM))) == [
        (0.1, 0.3, "S01", "a b c"),
        (0.3, 1.1, None, "d"),
    ]
