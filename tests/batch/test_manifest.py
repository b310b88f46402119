"""Manifests: every row is answered for, good or bad."""

import json
from pathlib import Path

import pytest

from moss_demo.batch.manifest import Entry, folder_manifest, names_a_file, read_manifest
from moss_demo.batch.sources import Sources, open_manifest
from moss_demo.errors import ManifestError, MossDemoError, TranscriptError


def test_json_lines_and_tables_say_the_same() -> None:
    """The same rows come out of JSON lines, comma, semicolon and tab."""
    row = {"audio": "a.wav", "reference": "hello there", "group": "g", "language": "en"}
    expected = Entry(1, "a.wav", "hello there", "g", "en")
    assert read_manifest(json.dumps(row)).entries == (expected,)
    for delimiter in ",;\t":
        table = f"{delimiter.join(row)}\n{delimiter.join(row.values())}\n"
        (entry,) = read_manifest(table).entries
        assert (entry.line, *_values(entry)) == (2, *_values(expected))


def _values(entry: Entry) -> tuple[object, ...]:
    return entry.audio, entry.reference, entry.group, entry.language, entry.fault


def test_bad_rows_keep_their_line_and_the_rest_go_on() -> None:
    """Broken JSON, a missing recording and a wrong type are faults of their row alone."""
    lines = ['{"audio": "a.wav"}', "{broken", "[1]", '{"reference": "x"}', "",
             '{"audio": "b.wav", "reference": 7}', '{"audio": "c.wav", "language": "?!"}',
             '{"audio": "d.wav"}']  # fmt: skip
    entries = read_manifest("\n".join(lines)).entries
    assert [entry.line for entry in entries] == [1, 2, 3, 4, 6, 7, 8]
    assert [entry.line for entry in entries if entry.fault is None] == [1, 8]
    assert all(entry.fault.endswith(".") for entry in entries if entry.fault)


def test_table_rows_of_the_wrong_width_are_faults() -> None:
    """A quoted cell may hold line breaks; the next row still has its own line number."""
    text = 'audio,reference\r\na.wav,"one\r\ntwo"\r\nb.wav\r\n\r\nc.wav,three\r\n'
    entries = read_manifest(text).entries
    assert [(entry.line, entry.fault is None) for entry in entries] == [
        (2, True), (4, False), (6, True)
    ]  # fmt: skip
    assert entries[0].reference == "one\r\ntwo"


def test_a_mistyped_column_is_named() -> None:
    """A column that means nothing here is reported, not ignored."""
    manifest = read_manifest('{"audio": "a.wav", "refernce": "x"}')
    assert manifest.unknown_columns == ("refernce",)


@pytest.mark.parametrize("text", ["", "\n\n", "path,text\na.wav,b\n", "audio\n"])
def test_what_lists_no_recording_is_refused(text: str) -> None:
    """One sentence says what a manifest needs."""
    with pytest.raises(ManifestError, match="manifest"):
        read_manifest(text)


def test_a_reference_may_be_json_itself() -> None:
    """Segments may stand in the row as they are."""
    row = {"audio": "a.wav", "reference": [{"start": 0, "end": 1, "speaker": "A", "text": "yes"}]}
    (entry,) = read_manifest(json.dumps(row)).entries
    reference = Sources(Path()).reference(entry)
    assert reference is not None
    assert [(s.speaker, s.text) for s in reference.segments] == [("A", "yes")]


def test_a_folder_pairs_recordings_with_references_of_the_same_name() -> None:
    """Words win over times alone; other files are left out; a sub-folder is a group."""
    names = ["b.wav", "b.rttm", "b.txt", "x/c.mp3", "x/c.SRT", "a.flac", "notes.md", "a.png"]
    entries = folder_manifest(names).entries
    assert [(e.line, e.audio, e.reference, e.group) for e in entries] == [
        (1, "a.flac", None, ""),
        (2, "b.wav", "b.txt", ""),
        (3, "x/c.mp3", "x/c.SRT", "x"),
    ]
    with pytest.raises(ManifestError, match="no recordings"):
        folder_manifest(["a.txt"])


@pytest.mark.parametrize(
    ("written", "is_file"),
    [("a.txt", True), ("x/y.TextGrid", True), ("hello there", False), ("[0.5][S01]a.txt\n", False)],
)
def test_names_of_files_are_told_from_words(written: str, is_file: bool) -> None:
    """A known suffix on one line is a file."""
    assert names_a_file(written) is is_file


def test_references_are_read_from_files_of_any_format(tmp_path: Path) -> None:
    """A subtitle file beside the manifest serves; one that is missing is named."""
    (tmp_path / "a.srt").write_text("1\n00:00:00,000 --> 00:00:01,000\nS01: yes\n")
    sources = Sources(tmp_path)
    reference = sources.reference(Entry(1, "a.wav", "a.srt"))
    assert reference is not None
    assert reference.text == "yes"
    with pytest.raises(TranscriptError, match=r"gone\.srt does not exist"):
        sources.reference(Entry(1, "a.wav", "gone.srt"))
    words = sources.reference(Entry(1, "a.wav", "i read it in notes.txt"))
    assert words is not None
    assert words.text == "i read it in notes.txt"


OUTSIDE = ["/etc/hosts.txt", "../outside.txt", "link.txt", "..\\outside.txt"]


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_upload_names_nothing_outside_itself(name: str, tmp_path: Path) -> None:
    """Absolute names, ways upward and links out of the folder are refused."""
    inside = tmp_path / "upload"
    inside.mkdir()
    (tmp_path / "outside.txt").write_text("secret")
    (inside / "link.txt").symlink_to(tmp_path / "outside.txt")
    sources = Sources(inside, confined=True)
    with pytest.raises(MossDemoError, match="outside the upload"):
        sources.reference(Entry(1, "a.wav", name))
    with pytest.raises(MossDemoError, match="outside the upload"):
        sources.audio(Entry(1, name))


@pytest.mark.parametrize(("content", "reason"), [(b"\0\1", "no text file"), (None, "cannot be")])
def test_a_manifest_that_is_none_is_refused(
    content: bytes | None, reason: str, tmp_path: Path
) -> None:
    """A binary or missing file is named in a sentence."""
    path = tmp_path / "manifest.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ManifestError, match=reason):
        open_manifest(path)


def test_a_quote_that_is_never_closed_swallows_no_row_silently() -> None:
    """The line is named; a reference that holds the rest of the table would be scored."""
    entries = read_manifest('audio,reference\na.wav,"hello\nb.wav,world\n').entries
    assert [(entry.line, bool(entry.fault)) for entry in entries] == [(2, True)]


def test_rows_end_where_lines_end_and_cells_may_have_blanks() -> None:
    """JSON holds separators of Unicode as they are; tables are written for people."""
    text = json.dumps({"audio": "a.wav", "reference": "one\u2028two\x85"}, ensure_ascii=False)
    (entry,) = read_manifest(text).entries
    assert (entry.line, entry.reference) == (1, "one\u2028two\x85")
    table = "audio, reference, group, language\na.wav, hello there, g, en\n"
    (entry,) = read_manifest(table).entries
    assert (entry.reference, entry.group, entry.language) == ("hello there", "g", "en")


def test_a_group_may_be_called_0() -> None:
    """Takes are numbered from there."""
    assert read_manifest('{"audio": "a.wav", "group": 0}').entries[0].group == "0"


@pytest.mark.parametrize("name", ["a\0.txt", "\ud800.wav"])
def test_what_no_file_can_be_called_is_a_fault_of_its_row(name: str, tmp_path: Path) -> None:
    """One sentence for the row; the others go on."""
    for confined in (True, False):
        with pytest.raises(MossDemoError):
            Sources(tmp_path, confined=confined).audio(Entry(1, name))


def test_long_words_that_end_like_a_name_are_words(tmp_path: Path) -> None:
    """No system takes such a name, and it was none."""
    words = " ".join(["and then"] * 60) + " she opened notes.txt"
    transcript = Sources(tmp_path).reference(Entry(1, "a.wav", words))
    assert transcript is not None
    assert transcript.segments[0].text == words


def test_links_that_form_a_ring_are_a_fault_of_their_row(tmp_path: Path) -> None:
    """An upload may hold none; outside of one the recording is looked for, and not found."""
    (tmp_path / "a.wav").symlink_to(tmp_path / "b.wav")
    (tmp_path / "b.wav").symlink_to(tmp_path / "a.wav")
    with pytest.raises(ManifestError):
        Sources(tmp_path, confined=True).audio(Entry(1, "a.wav"))
    assert Sources(tmp_path).audio(Entry(1, "a.wav")) == tmp_path / "a.wav"
