"""The project's own JSON: everything known of a transcript, and the reader that takes it back.

Reads raw model text as well, so that either can be turned into any export. Knows no files.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from moss_demo.domain.diagnostics import (
    Diagnostic,
    DiagnosticKind,
    diagnose,
    diagnose_transcript,
)
from moss_demo.domain.events import Run
from moss_demo.domain.exports.cleaning import json_text
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment, SegmentFlag, Transcript
from moss_demo.errors import TranscriptError

SCHEMA = 1

MAX_TIME_S = 10_000_000.0
"""Beyond four months no stamp is one; formats count milliseconds and would overflow far later."""


@dataclass(frozen=True, slots=True)
class ProjectTranscript:
    """A transcript with all that is kept beside it.

    Attributes:
        transcript: segments under the model's own labels.
        name: what the person calls the recording.
        duration_s: its length in seconds, or 0 when that is not known.
        names: names given to speakers, by label.
        token_ids: every generated token, if known.
        warnings: what is doubtful about the transcript.
        figures: how the run went, by name; JSON values.
    """

    transcript: Transcript
    name: str
    duration_s: float
    names: Mapping[str, str] = field(default_factory=dict)
    token_ids: tuple[int, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()
    figures: Mapping[str, object] = field(default_factory=dict)


def project_of(
    transcript: Transcript,
    *,
    name: str,
    duration_s: float,
    run: Run | None,
    names: Mapping[str, str],
    figures: Mapping[str, object],
) -> ProjectTranscript:
    """Gather what is kept beside a transcript; `figures` are added to those of the run."""
    if run is None:
        warnings = diagnose_transcript(transcript, duration_s if duration_s > 0 else None)
        return ProjectTranscript(transcript, name, duration_s, names, (), warnings, figures)
    kept = {**run_record(run), **figures}
    return ProjectTranscript(
        transcript, name, duration_s, names, run.token_ids, diagnose(run), kept
    )


def run_record(run: Run) -> dict[str, object]:
    """Return the figures that a run knows of itself, as JSON values."""
    started, finished = run.started, run.finished
    record: dict[str, object] = {
        "audio_digest": run.clip_digest,
        "stop": "stopped" if finished is None else finished.stop.value,
        "tokens": len(run.token_ids),
        "first_token_s": run.first_token_at,
        "tokens_per_s": run.tokens_per_s,
        "rtf": run.rtf,
    }
    if started is not None:
        spans = started.speech
        record |= {
            "prompt_tokens": started.prompt_tokens,
            "audio_tokens": started.audio_tokens,
            "max_new_tokens": started.max_new_tokens,
            "speech_spans_s": None if spans is None else [list(span) for span in spans],
        }
    if finished is not None:
        record |= {
            "total_s": finished.at,
            "phases": asdict(finished.phases),
            "peak_memory_bytes": finished.peak_memory_bytes,
            "memory_source": finished.memory_source,
        }
    return record


def transcript_record(
    transcript: Transcript, warnings: tuple[Diagnostic, ...]
) -> dict[str, object]:
    """Return segments, completeness and warnings as JSON values."""
    return {
        "segments": [
            {
                "start": segment.start,
                "end": segment.end,
                "speaker": segment.speaker,
                "text": segment.text,
                "flags": list(segment.flags),
            }
            for segment in transcript.segments
        ],
        "complete": transcript.complete,
        "warnings": [
            {"kind": one.kind, "message": one.message, "segments": list(one.segments)}
            for one in warnings
        ],
    }


def project_json(project: ProjectTranscript) -> str:
    """Return the project's own JSON; segments keep their labels, `speakers` gives their names."""
    labels = [label for label in project.transcript.speakers if label is not None]
    return json_text(
        {
            "schema": SCHEMA,
            "name": project.name,
            "duration_s": project.duration_s if project.duration_s > 0 else None,
            "speakers": {label: label for label in labels} | dict(project.names),
            **transcript_record(project.transcript, project.warnings),
            "figures": dict(project.figures),
            "raw": project.transcript.raw,
            "token_ids": list(project.token_ids),
        }
    )


def read_transcript(
    text: str, *, name: str = "transcript", duration_s: float | None = None
) -> ProjectTranscript:
    """Read the project's own JSON, or raw model text.

    Args:
        text: content of a file.
        name: what the recording is called where the text does not say.
        duration_s: length of the recording; stands above what the text says.

    Raises:
        TranscriptError: the text is JSON, but not a transcript of this project.
    """
    if _is_json(text):
        project = read_project_json(text)
        return project if duration_s is None else replace(project, duration_s=duration_s)
    transcript = parse(text, duration_s)
    warnings = diagnose_transcript(transcript, duration_s)
    return ProjectTranscript(transcript, name, duration_s or 0.0, warnings=warnings)


def read_project_json(text: str) -> ProjectTranscript:
    """Read what `project_json` wrote; the result equals what was given to it.

    Raises:
        TranscriptError: the text is no JSON, of another schema, or lacks something.
    """
    try:
        data = json.loads(text.removeprefix("\ufeff"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise TranscriptError(
            f"The transcript is damaged JSON ({error}); export it again."
        ) from error
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise TranscriptError(
            "The JSON is no transcript of this app in a version that it knows; "
            "export the transcript as json, or give the raw model text."
        )
    try:
        return _project(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TranscriptError(
            f"The transcript JSON lacks or garbles a part ({error}); export it again."
        ) from error


def _is_json(text: str) -> bool:
    """Tell JSON from model text, which may begin with a bracket and a number too."""
    text = text.removeprefix("\ufeff").lstrip()
    return re.match(r'\{\s*"|\[\s*\{\s*"', text) is not None


def _project(data: dict[str, Any]) -> ProjectTranscript:
    speakers = {_text(label): _text(name) for label, name in data["speakers"].items()}
    figures = data.get("figures", {})
    if not isinstance(figures, dict) or not isinstance(data["complete"], bool):
        raise TypeError("figures must be an object and complete true or false")
    return ProjectTranscript(
        transcript=Transcript(
            tuple(_segment(record) for record in data["segments"]),
            _text(data["raw"]),
            data["complete"],
        ),
        name=_text(data["name"]),
        duration_s=_time(data["duration_s"]) or 0.0,
        names={label: name for label, name in speakers.items() if label != name},
        token_ids=tuple(_whole(token) for token in data.get("token_ids", ())),
        warnings=tuple(_warning(record) for record in data.get("warnings", ())),
        figures=figures,
    )


def _segment(record: dict[str, Any]) -> Segment:
    speaker = record["speaker"]
    return Segment(
        _time(record["start"]),
        _time(record["end"]),
        None if speaker is None else _text(speaker),
        _text(record["text"]),
        tuple(SegmentFlag(flag) for flag in record["flags"]),
    )


def _warning(record: dict[str, Any]) -> Diagnostic:
    segments = tuple(_whole(index) for index in record["segments"])
    return Diagnostic(DiagnosticKind(record["kind"]), _text(record["message"]), segments)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value


def _whole(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _time(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not math.isfinite(value):
        raise TypeError(f"{value!r} is no time in seconds")
    if abs(value) > MAX_TIME_S:
        raise TypeError(f"{value!r} lies beyond any recording")
    return float(value)


def _refuse_constant(constant: str) -> float:
    raise ValueError(f"{constant} is no number")
