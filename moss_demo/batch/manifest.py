"""What is to be evaluated: the rows of a manifest, or the recordings of a folder.

Pure: text or file names in, entries out. A bad row becomes an entry with its fault, so that it
stands in the results like any other and the rest go on.
"""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import PurePosixPath
from typing import Any

from moss_demo.errors import ManifestError

COLUMNS = ("audio", "reference", "group", "language")

REFERENCE_SUFFIXES = (
    ".txt", ".json", ".seglst", ".stm", ".textgrid", ".vtt", ".srt", ".ass", ".ssa", ".csv", ".tsv",
    ".rttm",
)  # fmt: skip
"""Of several references of one recording the first counts: those with words come first."""

AUDIO_SUFFIXES = (
    ".wav", ".flac", ".mp3", ".ogg", ".oga", ".opus", ".m4a", ".m4b", ".mp4", ".mov", ".mkv",
    ".webm", ".aac", ".aif", ".aiff", ".caf", ".amr", ".3gp", ".wma", ".w64", ".au", ".mka",
)  # fmt: skip
"""Files of a folder that are taken for recordings; in a manifest any name may be one."""

MAX_NAME_CHARACTERS = 1_000
_DELIMITERS = "\t,;"
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8})*", re.ASCII)


@dataclass(frozen=True, slots=True)
class Entry:
    """One recording to be transcribed and, where there is a reference, measured.

    Attributes:
        line: line of the manifest, or number of the file in a folder, from 1.
        audio: path as written, relative to the manifest.
        reference: a path or the transcript itself, as written; None where there is none.
        group: what it belongs to, such as the line that several takes speak; empty for none.
        language: code such as `en`, or None to guess it from the reference.
        fault: why this row cannot be used, or None.
    """

    line: int
    audio: str
    reference: str | None = None
    group: str = ""
    language: str | None = None
    fault: str | None = None


@dataclass(frozen=True, slots=True)
class Manifest:
    """All entries in their order.

    Attributes:
        entries: good and bad rows.
        unknown_columns: names that mean nothing here, such as a mistyped `reference`.
    """

    entries: tuple[Entry, ...]
    unknown_columns: tuple[str, ...] = ()


def read_manifest(text: str) -> Manifest:
    """Read JSON lines, or CSV with a header (comma, semicolon or tab).

    Raises:
        ManifestError: there is no row, or a table without the column `audio`.
    """
    content = text.removeprefix("\ufeff")
    rows = _json_rows(content) if content.lstrip().startswith("{") else _table_rows(content)
    unknown: dict[str, None] = {}
    entries = []
    for line, row in rows:
        if isinstance(row, str):
            entries.append(Entry(line, "", fault=row))
            continue
        unknown |= dict.fromkeys(name for name in row if name not in COLUMNS)
        entries.append(_entry(line, row))
    if not entries:
        raise ManifestError("The manifest has no rows; give one recording a line.")
    return Manifest(tuple(entries), tuple(unknown))


def folder_manifest(names: Iterable[str]) -> Manifest:
    """Pair the recordings among files with references of the same name beside them.

    Args:
        names: paths relative to the folder, with `/`; the first part of a nested one is its group.

    Raises:
        ManifestError: no file is a recording.
    """
    files = {PurePosixPath(name) for name in names}
    recordings = sorted(path for path in files if path.suffix.lower() in AUDIO_SUFFIXES)
    if not recordings:
        raise ManifestError("There are no recordings; give audio files, or a manifest of them.")
    references = {
        (path.parent, path.stem, path.suffix.lower()): path
        for path in sorted(files, reverse=True)
        if path.suffix.lower() in REFERENCE_SUFFIXES
    }
    entries = []
    for number, path in enumerate(recordings, 1):
        keys = ((path.parent, path.stem, suffix) for suffix in REFERENCE_SUFFIXES)
        reference = next((str(references[key]) for key in keys if key in references), None)
        group = path.parts[0] if len(path.parts) > 1 else ""
        entries.append(Entry(number, str(path), reference, group))
    return Manifest(tuple(entries))


def is_manifest(head: str) -> bool:
    """Tell a manifest by its beginning from a reference of the same kind of file."""
    first = head.removeprefix("\ufeff").lstrip().split("\n", 1)[0]
    if first.startswith("{"):
        return '"audio"' in head
    return "audio" in _cells(first)


def names_a_file(reference: str) -> bool:
    """Tell whether a reference looks like the name of a transcript file, not like a transcript."""
    if len(reference) > MAX_NAME_CHARACTERS or "\n" in reference:
        return False
    return PurePosixPath(reference.strip()).suffix.lower() in REFERENCE_SUFFIXES


def _json_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    # Not at every separator of Unicode: JSON may hold those as they are.
    for line, written in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        if not written.strip():
            continue
        try:
            value = json.loads(written)
        except (ValueError, RecursionError) as error:
            yield line, f"The row is no JSON ({error}); write one object a line."
            continue
        named = isinstance(value, dict)
        yield line, value if named else "The row is no JSON object; give it the key audio."


def _cells(header: str) -> list[str]:
    """Return the names of a table's columns."""
    delimiter = max(_DELIMITERS, key=header.count)
    return [name.strip().strip('"').lower() for name in header.split(delimiter)]


def _table_rows(text: str) -> Iterator[tuple[int, Mapping[str, Any] | str]]:
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    header: list[str] = []
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, f"The row cannot be read ({error}); quote its cells anew."
            line = reader.line_num + 1
            continue
        if not header:
            header = [cell.strip().lower() for cell in cells]
            if "audio" not in header:
                raise ManifestError(
                    "The manifest needs JSON objects, one a line, or a table whose first line "
                    "names the column audio."
                )
        elif any(cells) and len(cells) != len(header):
            yield line, f"The row has {len(cells)} cells and the header {len(header)}; mend it."
        elif any(cells):
            filled = (cell.strip() or None for cell in cells)
            yield line, dict(zip(header, filled, strict=True))
        line = reader.line_num + 1


def _entry(line: int, row: Mapping[str, Any]) -> Entry:
    audio, language = row.get("audio"), row.get("language")
    if not isinstance(audio, str) or not audio.strip() or "\0" in audio:
        return Entry(line, "", fault="The row names no recording; fill in audio.")
    reference = row.get("reference")
    if isinstance(reference, dict | list):
        reference = json.dumps(reference, ensure_ascii=False)
    group = row.get("group")
    group = "" if group is None else str(group)
    entry = Entry(line, audio, reference, group, language or None)
    if reference is not None and not isinstance(reference, str):
        return Entry(line, audio, fault="The reference is no text; give a transcript or its file.")
    if language and not (isinstance(language, str) and _LANGUAGE.fullmatch(language)):
        return Entry(line, audio, fault=f"{language!r} is no language code such as en or zh.")
    return entry
