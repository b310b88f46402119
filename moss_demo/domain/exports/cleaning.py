"""Makes words and names safe for formats where one line is one record. Knows no format."""

import json
import re
from collections.abc import Mapping, Sequence

_BREAKS = re.compile("[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_BLANKS = re.compile(r"\s+")
_FORMULA = re.compile(r"[=+\-@\t\r＝＋－＠]")

UNKNOWN_SPEAKER = "unknown"
"""Stands for unlabelled speech in formats that need a speaker."""


def clean_line(text: str) -> str:
    """Return the text on one line: breaks become blanks, control characters go.

    Half surrogate pairs, which no file can hold, become U+FFFD.
    """
    text = _CONTROLS.sub("", _BREAKS.sub(" ", text))
    return _SURROGATES.sub("\ufffd", text).strip()


def token(name: str) -> str:
    """Return a name as one field between blanks, such as a file or speaker of an RTTM line."""
    return _BLANKS.sub("_", clean_line(name)).lstrip(";") or UNKNOWN_SPEAKER


def session_id(name: str) -> str:
    """Return the name of a recording as one field, without the extension of its file."""
    return token(re.sub(r"\.(?=[0-9]*[A-Za-z])[A-Za-z0-9]{2,5}$", "", name.strip()))


def bracketed(name: str) -> str:
    """Return `[name]`; brackets in the name, which would end it, become parentheses."""
    return f"[{clean_line(name).replace('[', '(').replace(']', ')')}]"


def table_cell(text: str) -> str:
    """Return the text for a cell of a table; what would be calculated gets an apostrophe."""
    return f"'{text}" if _FORMULA.match(text) else text


def json_text(value: Mapping[str, object] | Sequence[object]) -> str:
    """Return JSON with one member a line, and one line a record in a list of records.

    Half surrogate pairs are escaped, since no file can hold them.
    """
    if isinstance(value, Mapping):
        members = [f"{_compact(key)}: {_records(member)}" for key, member in value.items()]
        text = _block("{", [f"  {member}" for member in members], "}")
    else:
        text = _block("[", [f"  {_compact(member)}" for member in value], "]")
    return _SURROGATES.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def _records(value: object) -> str:
    if isinstance(value, list) and value and isinstance(value[0], dict):
        return _block("[", [f"    {_compact(record)}" for record in value], "  ]")
    return _compact(value)


def _block(opening: str, lines: list[str], closing: str) -> str:
    return "\n".join([opening, ",\n".join(lines), closing]) if lines else opening + closing


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
