"""Advanced SubStation Alpha subtitles, whose Name field is the speaker."""

import re

from moss_demo.domain.references.labels import split_labels
from moss_demo.domain.references.turns import clock_s, reading_error, turn
from moss_demo.domain.transcript import Transcript

WORD_JOINER = "\u2060"
"""Invisible character that keeps a spoken backslash from starting a control sequence."""

_DEFAULT_FIELDS = "Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text"
_CONTROL = re.compile(rf"\\[{{}}]|\{{[^{{}}]*\}}|\\[Nnh]|\\{WORD_JOINER}")


def is_ass(text: str) -> bool:
    """Say whether the text begins with the script's header section."""
    return text.lstrip().lower().startswith("[script info]")


def read_ass(text: str) -> Transcript:
    """Read the dialogue lines of the events section in file order; comments are skipped.

    Raises:
        TranscriptError: there are no events, or a dialogue lacks fields or times.
    """
    fields = _names(_DEFAULT_FIELDS)
    section, rows = "", []
    for line, written in enumerate(text.split("\n"), 1):
        key, _, rest = written.strip().partition(":")
        if key.startswith("["):
            section = key.lower()
        elif section == "[events]" and key == "Format":
            fields = _names(rest)
        elif section == "[events]" and key == "Dialogue":
            cells = [cell.strip() for cell in rest.split(",", len(fields) - 1)]
            if len(cells) < len(fields):
                raise reading_error(f"the dialogue has {len(cells)} of {len(fields)} fields.", line)
            rows.append((line, dict(zip(fields, cells, strict=True))))
    if not rows and "[events]" not in text.lower():
        raise reading_error("the subtitles hold no [Events] section.")
    if any({"start", "end", "text"} - row.keys() for _, row in rows):
        raise reading_error("the Format line of the events needs Start, End and Text.")
    named = any(row.get("name") for _, row in rows)
    texts = [_spoken(row["text"]) for _, row in rows]
    labelled = [(None, words) for words in texts] if named else split_labels(texts)
    return Transcript(
        tuple(
            turn(
                clock_s(row["start"], line),
                clock_s(row["end"], line),
                row.get("name") or label,
                words,
                f"Line {line}",
            )
            for (line, row), (label, words) in zip(rows, labelled, strict=True)
        )
    )


def _names(fields: str) -> list[str]:
    return [name.strip().lower().replace("actor", "name") for name in fields.split(",")]


def _spoken(text: str) -> str:
    return _CONTROL.sub(lambda match: _meaning(match[0]), text)


def _meaning(control: str) -> str:
    """Return what a control sequence stands for; an override block stands for nothing."""
    if control.startswith("{"):
        return ""
    return {"N": "\n", "n": " ", "h": " ", WORD_JOINER: "\\"}.get(control[1], control[1])
