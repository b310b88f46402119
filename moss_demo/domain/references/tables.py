"""CSV and TSV with a header that names `text` and any of `start`, `end` and `speaker`."""

import csv
import re
from collections.abc import Sequence
from io import StringIO

from moss_demo.domain.references.turns import clock_s, number, reading_error, turn
from moss_demo.domain.transcript import Segment, Transcript

_DELIMITERS = "\t,;"
_COLUMNS = ("start", "end", "speaker")
_GUARDED = re.compile(r"\A'(?=[=+\-@\t\r＝＋－＠])")


def is_table(text: str) -> bool:
    """Say whether the first line is such a header."""
    header = _header(text.split("\n", 1)[0])
    return "text" in header and any(column in header for column in _COLUMNS)


def read_table(text: str) -> Transcript:
    """Read one segment a row; the delimiter is that of the header.

    Times are seconds or clock times, except in a TSV without speakers and without a decimal point,
    where they are milliseconds, as Whisper writes them. The apostrophe that keeps spreadsheets from
    reading a cell as a formula is taken off.

    Raises:
        TranscriptError: the header lacks `text`, a row is short or a time cannot be read.
    """
    first = text.split("\n", 1)[0]
    header, delimiter = _header(first), _delimiter(first)
    if "text" not in header:
        raise reading_error("the header needs the columns start, end, speaker and text.", 1)
    reader = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
    try:
        rows = [(reader.line_num, row) for row in reader][1:]
    except csv.Error as error:
        raise reading_error(f"the table cannot be read ({error}).", reader.line_num) from error
    unit_s = 0.001 if delimiter == "\t" and _in_milliseconds(header, [r for _, r in rows]) else 1.0
    return Transcript(tuple(_read_row(line, row, header, unit_s) for line, row in rows if row))


def _read_row(line: int, row: Sequence[str], header: Sequence[str], unit_s: float) -> Segment:
    if len(row) < len(header):
        raise reading_error(f"the row has {len(row)} cells, the header {len(header)}.", line)
    cells = {name: _GUARDED.sub("", cell) for name, cell in zip(header, row, strict=False)}
    start, end = (_seconds(cells.get(name, ""), line, name, unit_s) for name in ("start", "end"))
    return turn(start, end, cells.get("speaker"), cells["text"], f"Line {line}")


def _seconds(cell: str, line: int, what: str, unit_s: float) -> float | None:
    if not cell.strip():
        return None
    if ":" in cell:
        return clock_s(cell, line)
    value = number(cell, line, what)
    return value if unit_s == 1.0 else round(value * unit_s, 3)


def _in_milliseconds(header: Sequence[str], rows: Sequence[Sequence[str]]) -> bool:
    columns = [header.index(name) for name in ("start", "end") if name in header]
    cells = [row[column] for row in rows for column in columns if column < len(row)]
    return "speaker" not in header and bool(cells) and all(cell.isdecimal() for cell in cells)


def _header(first: str) -> list[str]:
    return [name.strip().strip('"').lower() for name in first.split(_delimiter(first))]


def _delimiter(first: str) -> str:
    return max(_DELIMITERS, key=first.count)
