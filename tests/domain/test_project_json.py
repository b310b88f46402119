"""The project's own JSON is read back as it was written, and bad files end in a sentence."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.diagnostics import DiagnosticKind
from moss_demo.domain.exports import (
    ExportFormat,
    export,
    export_project,
    read_project_json,
    read_transcript,
)
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import TranscriptError
from tests.domain.golden import NAMES, RAW, sample_run, written


def test_everything_comes_back() -> None:
    """Segments, raw text, names, tokens, warnings and figures survive the file."""
    project = read_project_json(written(ExportFormat.JSON))
    run = sample_run()
    assert project.transcript == run.transcript
    assert project.name == run.clip_name
    assert project.duration_s == run.duration_s
    assert project.names == NAMES
    assert project.token_ids == run.token_ids
    assert {one.kind for one in project.warnings} >= {DiagnosticKind.BEYOND_AUDIO}
    assert project.figures["load_s"] == 1.5
    assert project.figures["total_s"] == 2.5


@pytest.mark.parametrize("fmt", ExportFormat)
def test_a_saved_transcript_becomes_any_export(fmt: ExportFormat) -> None:
    """Converting the saved JSON gives what the page would have given, new names included."""
    assert export_project(read_transcript(written(ExportFormat.JSON)), fmt) == written(fmt)


@given(st.text(max_size=60), st.floats(0.1, 100), st.dictionaries(st.text(), st.text()))
def test_round_trip_of_any_text(text: str, duration_s: float, names: dict[str, str]) -> None:
    """Whatever was said comes back to the character, and writing it again changes nothing."""
    transcript = parse(f"[0.5][S01]{text}[1.25][2.0][S02]bye", duration_s)
    once = export(transcript, ExportFormat.JSON, name=text, duration_s=duration_s, names=names)
    project = read_transcript(once)
    assert project.transcript == transcript
    assert project.name == text
    assert export_project(project, ExportFormat.JSON) == once


def test_half_characters_come_back() -> None:
    """Even half a surrogate pair survives a file in UTF-8."""
    transcript = parse("[0.5][S01]a\ud83db[1.0]")
    text = export(transcript, ExportFormat.JSON, name="x", duration_s=2.0)
    assert read_project_json(text.encode().decode()).transcript == transcript


def test_raw_text_is_read_too() -> None:
    """A file with the model's text is as good as the JSON; a length of the recording helps."""
    project = read_transcript(RAW, name="talk", duration_s=62.5)
    assert project.transcript == parse(RAW, 62.5)
    assert (project.name, project.duration_s) == ("talk", 62.5)
    assert project.warnings
    spoken = read_transcript("[2024]")
    assert spoken.transcript == Transcript((), "[2024]", complete=False)
    assert read_transcript("{curly} words").transcript.text == "{curly} words"


def test_a_given_duration_stands_above_the_file() -> None:
    """Whoever knows the length better can say so."""
    assert read_transcript(written(ExportFormat.JSON), duration_s=70.0).duration_s == 70.0


def test_an_unknown_duration_is_kept_unknown() -> None:
    """A transcript without a known length is written and read as such."""
    text = export(parse("[0.5][S01]a[1.0]"), ExportFormat.JSON, name="x", duration_s=0.0)
    assert json.loads(text)["duration_s"] is None
    assert read_project_json(text).duration_s == 0.0


def test_a_byte_order_mark_is_no_obstacle() -> None:
    """Files that an editor saved with a byte order mark are read."""
    assert read_transcript("\ufeff" + written(ExportFormat.JSON)).names == NAMES


def broken(**changes: object) -> str:
    """Return the sample with some members replaced."""
    return json.dumps(json.loads(written(ExportFormat.JSON)) | changes)


@pytest.mark.parametrize(
    "text",
    [
        written(ExportFormat.JSON)[:-30],
        '{"a": 1}',
        '[{"session_id": "x"}]',
        '{"a": ' + "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        broken(schema=2),
        broken(segments=[{"start": 0.0}]),
        broken(segments=[None]),
        broken(segments=7),
        broken(complete="yes"),
        broken(name=None),
        broken(duration_s=True),
        broken(duration_s=float("nan")),
        broken(token_ids=["a"]),
        broken(token_ids=None),
        broken(speakers=[]),
        broken(warnings=[{"kind": "unheard of", "message": "", "segments": []}]),
        written(ExportFormat.JSON).replace('"start": 0.52', '"start": 1e999'),
        written(ExportFormat.JSON).replace('"open_end"', '"unheard of"'),
    ],
    ids=lambda text: text[:10] + text[-10:],
)
def test_bad_json_ends_in_a_sentence(text: str) -> None:
    """A file that is no transcript of this app is refused with its cause and the remedy."""
    with pytest.raises(TranscriptError, match="export"):
        read_transcript(text)
