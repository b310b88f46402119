"""Writes text, tables and OpenAI's response shapes. Knows nothing of subtitles or annotations."""

import csv
import io
import re
from collections.abc import Mapping, Sequence

from moss_demo.domain.exports.cleaning import (
    UNKNOWN_SPEAKER,
    bracketed,
    clean_line,
    json_text,
    table_cell,
)
from moss_demo.domain.exports.times import Turn, clock, seconds_text, to_ms
from moss_demo.domain.markers import LABEL_PATTERN, canonical_label
from moss_demo.domain.transcript import Segment, Transcript


def txt(transcript: Transcript) -> str:
    """Return one line a segment in emission order; times that were not written stay out."""
    return "".join(f"{_txt_line(segment)}\n" for segment in transcript.segments)


def raw(transcript: Transcript, names: Mapping[str, str]) -> str:
    """Return the model's text as generated; only the labels of renamed speakers are rewritten.

    Brackets and line breaks in a new name would end its marker and become parentheses and blanks.
    A text with new names cannot be read back: the parser knows labels only.
    """

    def renamed(found: re.Match[str]) -> str:
        name = names.get(canonical_label(found.group(1)))
        return found.group() if name is None else bracketed(name)

    return LABEL_PATTERN.sub(renamed, transcript.raw)


def csv_table(turns: Sequence[Turn]) -> str:
    """Return `start,end,speaker,text` in emission order, times in seconds, rows after RFC 4180.

    A cell that a spreadsheet would calculate gets an apostrophe in front.
    """
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\r\n")
    writer.writerow(("start", "end", "speaker", "text"))
    for turn in turns:
        writer.writerow(
            (
                seconds_text(turn.start_ms),
                seconds_text(turn.end_ms),
                table_cell(turn.name),
                table_cell(turn.line),
            )
        )
    return table.getvalue()


def diarized_json(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return OpenAI's diarized transcription; unlabelled speech has the speaker `unknown`."""
    return json_text(
        {
            "task": "transcribe",
            "duration": limit_ms / 1000,
            "text": _whole_text(turns),
            "segments": [
                {
                    "type": "transcript.text.segment",
                    "id": f"seg_{index}",
                    "start": turn.start_ms / 1000,
                    "end": turn.end_ms / 1000,
                    "text": turn.text,
                    "speaker": turn.speaker or UNKNOWN_SPEAKER,
                }
                for index, turn in enumerate(turns)
            ],
            "usage": {"type": "duration", "seconds": limit_ms / 1000},
        }
    )


def verbose_json(turns: Sequence[Turn], limit_ms: int) -> str:
    """Return OpenAI's verbose transcription, which has no speaker: `[name]` precedes the words.

    The language and the figures of Whisper's decoder are not known here: `unknown`, 0 and -1.
    """
    return json_text(
        {
            "task": "transcribe",
            "language": "unknown",
            "duration": limit_ms / 1000,
            "text": _whole_text(turns),
            "segments": [
                {
                    "id": index,
                    "seek": 0,
                    "start": turn.start_ms / 1000,
                    "end": turn.end_ms / 1000,
                    "text": (bracketed(turn.speaker) if turn.speaker else "") + turn.text,
                    "tokens": [],
                    "temperature": 0.0,
                    "avg_logprob": -1.0,
                    "compression_ratio": 0.0,
                    "no_speech_prob": 0.0,
                }
                for index, turn in enumerate(turns)
            ],
            "usage": {"type": "duration", "seconds": limit_ms / 1000},
        }
    )


def _txt_line(segment: Segment) -> str:
    words = clean_line(segment.text)
    if segment.speaker is not None:
        words = f"{clean_line(segment.speaker)}: {words}"
    if segment.start is None and segment.end is None:
        return words
    return f"[{_txt_clock(segment.start)} - {_txt_clock(segment.end)}] {words}"


def _txt_clock(seconds: float | None) -> str:
    return "?" if seconds is None else clock(to_ms(seconds))


def _whole_text(turns: Sequence[Turn]) -> str:
    return " ".join(turn.text for turn in turns)
