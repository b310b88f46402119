"""Transcripts as JSON: the project's own, OpenAI's response shapes, SegLST and plain segments."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from moss_demo.domain.exports import read_project_json
from moss_demo.domain.parser import parse
from moss_demo.domain.references.labels import split_labels
from moss_demo.domain.references.turns import in_time, one_recording, reading_error, turn
from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.errors import TranscriptError


def is_json(text: str) -> bool:
    """Say whether the text is a JSON object, or a list of objects.

    The model's own text begins with a bracket too, so only the whole text can tell.
    """
    if not text.lstrip().startswith(("{", "[")):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text.lstrip().startswith("{")
    return isinstance(value, dict) or (
        isinstance(value, list) and all(isinstance(item, dict) for item in value)
    )


def read_json(text: str) -> Transcript:
    """Read any of the known shapes.

    The project's own keeps the labels of the model, renamed or not. `diarized_json` and
    `verbose_json` have `segments`, with the speaker in a field of its own or as a label in front of
    the words; `json` has `text` alone, read as the model's text; a list holds SegLST entries or
    plain segments.

    Raises:
        TranscriptError: the text is no JSON, of no known shape, or holds impossible values.
    """
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise reading_error(f"the JSON is broken ({error.msg}).", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise reading_error("The JSON nests too deep or holds a number too long.") from error
    match value:
        case {"schema": _}:
            return in_time(read_project_json(text).transcript)
        case {"segments": [*segments]} if segments:
            return Transcript(tuple(_read_segments(segments)))
        case {"text": str(words)}:
            return parse(words)
        case [*segments]:
            one_recording(
                (
                    str(s["session_id"])
                    for s in segments
                    if isinstance(s, dict) and "session_id" in s
                ),
                "SegLST",
            )
            return Transcript(tuple(_read_segments(segments)))
    raise reading_error("The JSON holds neither segments nor text; give a transcript.")


def _read_segments(entries: Sequence[Any]) -> list[Segment]:
    segments = [_read_segment(entry, f"Segment {n}") for n, entry in enumerate(entries, 1)]
    if any(segment.speaker for segment in segments):
        return segments
    labels = split_labels([segment.text for segment in segments])
    return [
        replace(segment, speaker=speaker, text=words.strip())
        for segment, (speaker, words) in zip(segments, labels, strict=True)
    ]


def _read_segment(entry: Any, place: str) -> Segment:
    if not isinstance(entry, Mapping):
        raise TranscriptError(f"{place} of the JSON is no object; give start, end and text.")
    text = entry.get("text", entry.get("words"))
    if not isinstance(text, str):
        raise TranscriptError(f"{place} of the JSON has no text; give its words as a string.")
    speaker = entry.get("speaker")
    return turn(
        _seconds(entry.get("start", entry.get("start_time")), place),
        _seconds(entry.get("end", entry.get("end_time")), place),
        None if speaker is None else str(speaker),
        text,
        place,
    )


def _seconds(value: Any, place: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TranscriptError(f"{place} of the JSON has the stamp {value!r}; give seconds or null.")
    try:
        return float(value)
    except OverflowError as error:
        raise TranscriptError(f"{place} of the JSON has a stamp beyond all time.") from error
