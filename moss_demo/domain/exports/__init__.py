"""Every form a transcript can be written in, and the reader of the project's own.

Text in and text out: UTF-8 without a byte order mark, lines end with LF (CSV: CRLF). Files are
for others.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from moss_demo.domain.events import Run
from moss_demo.domain.exports import annotations, interchange, subtitles
from moss_demo.domain.exports.formats import ExportFormat
from moss_demo.domain.exports.project import (
    ProjectTranscript,
    project_json,
    project_of,
    read_project_json,
    read_transcript,
    transcript_record,
)
from moss_demo.domain.exports.times import Turn, length_ms, turns_of
from moss_demo.domain.transcript import Transcript

__all__ = [
    "ExportFormat",
    "ProjectTranscript",
    "export",
    "export_notes",
    "export_project",
    "read_project_json",
    "read_transcript",
    "transcript_record",
]


@dataclass(frozen=True, slots=True)
class _Sheet:
    """What any writer may need.

    Attributes:
        transcript: speakers renamed.
        names: new names by label.
        turns: the segments with times, in emission order.
        limit_ms: where the recording ends.
        name: what the person calls the recording.
    """

    transcript: Transcript
    names: Mapping[str, str]
    turns: tuple[Turn, ...]
    limit_ms: int
    name: str


_WRITERS: Mapping[ExportFormat, Callable[[_Sheet], str]] = {
    ExportFormat.TXT: lambda sheet: interchange.txt(sheet.transcript),
    ExportFormat.RAW: lambda sheet: interchange.raw(sheet.transcript, sheet.names),
    ExportFormat.DIARIZED_JSON: lambda sheet: interchange.diarized_json(
        sheet.turns, sheet.limit_ms
    ),
    ExportFormat.VERBOSE_JSON: lambda sheet: interchange.verbose_json(sheet.turns, sheet.limit_ms),
    ExportFormat.SRT: lambda sheet: subtitles.srt(sheet.turns, sheet.limit_ms),
    ExportFormat.VTT: lambda sheet: subtitles.vtt(sheet.turns, sheet.limit_ms),
    ExportFormat.ASS: lambda sheet: subtitles.ass(sheet.turns, sheet.limit_ms),
    ExportFormat.RTTM: lambda sheet: annotations.rttm(sheet.turns, sheet.name),
    ExportFormat.UEM: lambda sheet: annotations.uem(sheet.name, sheet.limit_ms),
    ExportFormat.STM: lambda sheet: annotations.stm(sheet.turns, sheet.name),
    ExportFormat.SEGLST: lambda sheet: annotations.seglst(sheet.turns, sheet.name),
    ExportFormat.TEXTGRID: lambda sheet: annotations.textgrid(sheet.turns, sheet.limit_ms),
    ExportFormat.AUDACITY: lambda sheet: annotations.audacity(sheet.turns),
    ExportFormat.CSV: lambda sheet: interchange.csv_table(sheet.turns),
}
"""Every format but the project's JSON, which holds more than a sheet."""

_AS_WRITTEN = (ExportFormat.TXT, ExportFormat.RAW, ExportFormat.JSON, ExportFormat.UEM)


def export(
    transcript: Transcript,
    fmt: ExportFormat,
    *,
    name: str,
    duration_s: float,
    run: Run | None = None,
    names: Mapping[str, str] | None = None,
    figures: Mapping[str, object] | None = None,
) -> str:
    """Return the transcript in a format.

    Args:
        transcript: segments under the model's own labels.
        fmt: the format.
        name: what the person calls the recording.
        duration_s: its length in seconds; 0 when unknown, which takes the last stamp.
        run: where the transcript comes from; the project's JSON keeps its tokens and figures.
        names: new names by label; blank ones are ignored.
        figures: more figures for the project's JSON, such as the load time; JSON values.
    """
    given = {label: new.strip() for label, new in (names or {}).items() if new.strip()}
    if fmt is ExportFormat.JSON:
        return project_json(
            project_of(
                transcript,
                name=name,
                duration_s=duration_s,
                run=run,
                names=given,
                figures=figures or {},
            )
        )
    return _written(transcript, fmt, name, duration_s, given)


def export_project(project: ProjectTranscript, fmt: ExportFormat) -> str:
    """Return a transcript that was read back in a format, its names, tokens and figures kept."""
    if fmt is ExportFormat.JSON:
        return project_json(project)
    return _written(project.transcript, fmt, project.name, project.duration_s, project.names)


def export_notes(
    transcript: Transcript, fmt: ExportFormat, *, duration_s: float
) -> tuple[str, ...]:
    """Return what the format cannot say as the model wrote it, one sentence each.

    The files themselves stay free of comments, which common readers of RTTM take for broken lines.
    """
    if fmt in _AS_WRITTEN:
        return ()
    turns = turns_of(transcript, length_ms(transcript, duration_s))
    left_out = annotations.without_length(turns) if fmt is ExportFormat.RTTM else 0
    notes = (
        (left_out, "left out, because RTTM holds no turns without length"),
        (sum(turn.filled for turn in turns), "given times by their neighbours"),
        (sum(turn.clamped for turn in turns), "shortened to the end of the audio"),
    )
    return tuple(
        f"{count:,} segment{' was' if count == 1 else 's were'} {what}."
        for count, what in notes
        if count
    )


def _written(
    transcript: Transcript,
    fmt: ExportFormat,
    name: str,
    duration_s: float,
    names: Mapping[str, str],
) -> str:
    limit_ms = length_ms(transcript, duration_s)
    named = transcript.renamed(names)
    return _WRITERS[fmt](_Sheet(named, names, turns_of(named, limit_ms), limit_ms, name))
