"""Reads a transcript of any known format by what it holds, then by what it is called."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from moss_demo.domain.parser import parse
from moss_demo.domain.references.ass import is_ass, read_ass
from moss_demo.domain.references.json_forms import is_json, read_json
from moss_demo.domain.references.plain import is_plain, read_plain
from moss_demo.domain.references.rttm import is_rttm, read_rttm
from moss_demo.domain.references.srt import is_srt, read_srt
from moss_demo.domain.references.stm import is_stm, read_stm
from moss_demo.domain.references.tables import is_table, read_table
from moss_demo.domain.references.textgrid import is_textgrid, read_textgrid
from moss_demo.domain.references.vtt import is_vtt, read_vtt
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import TranscriptError

MAX_CHARACTERS = 1_000_000
"""More than is spoken in sixteen hours."""

MAX_SPEAKERS = 2_000
"""More than any meeting has."""

_MODEL_MARKER = re.compile(r"\s*\[(?:[0-9:.,\s-]+|\s*[Ss][0-9]{1,4}\s*)\]")


@dataclass(frozen=True, slots=True)
class _Format:
    """A format: how it looks, how it is read and how its files are called."""

    suffixes: tuple[str, ...]
    looks_right: Callable[[str], bool]
    read: Callable[[str], Transcript]


def _is_model_text(text: str) -> bool:
    """Say whether the text begins with one of the model's markers."""
    return _MODEL_MARKER.match(text) is not None


_FORMATS = (
    _Format((".json", ".seglst"), is_json, read_json),
    _Format((".vtt",), is_vtt, read_vtt),
    _Format((".ass", ".ssa"), is_ass, read_ass),
    _Format((".textgrid",), is_textgrid, read_textgrid),
    _Format((".srt",), is_srt, read_srt),
    _Format((".rttm",), is_rttm, read_rttm),
    _Format((".csv", ".tsv"), is_table, read_table),
    _Format((".stm",), is_stm, read_stm),
    _Format((), is_plain, read_plain),
    _Format((), _is_model_text, parse),
)


def read_reference(text: str, *, suffix: str = "") -> Transcript:
    """Read a transcript from text.

    The content decides: a subtitle file called `.txt` is still one. Where the content is of no
    known format, the suffix names the reader, whose error then tells what is wrong. Everything else
    is read as the model's text, of which plain words are a case.

    Args:
        text: the whole file.
        suffix: end of the file's name, such as `.srt`, in any case; empty when there is none.

    Raises:
        TranscriptError: the text is broken for its format; the message names the line. Or it is
            too long for any recording.
    """
    content = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    named = [form for form in _FORMATS if suffix.lower() in form.suffixes]
    for form in (*named, *_FORMATS):
        if form.looks_right(content):
            return _within_limits(form.read(text if form.read is parse else content))
    return _within_limits(named[0].read(content) if named else parse(text))


def _within_limits(transcript: Transcript) -> Transcript:
    """Refuse what no recording holds, since comparing costs the square of it."""
    counts = (
        (sum(len(segment.text) for segment in transcript.segments), MAX_CHARACTERS, "characters"),
        (len(transcript.speakers), MAX_SPEAKERS, "speakers"),
    )
    for count, limit, what in counts:
        if count > limit:
            raise TranscriptError(
                f"The transcript has {count:,} {what}, more than a recording can hold; "
                f"give at most {limit:,}."
            )
    return transcript
