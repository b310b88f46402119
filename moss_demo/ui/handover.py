"""What one tab hands to another: a recording with its reference and its transcript, as files."""

from dataclasses import dataclass

from moss_demo.batch.manifest import Entry
from moss_demo.batch.rows import ClipRow, Status
from moss_demo.batch.sources import Sources
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import RequestError
from moss_demo.ui.files import safe_stem, write_text
from moss_demo.ui.recording import open_recording


@dataclass(frozen=True, slots=True)
class ComparisonFiles:
    """A comparison that is ready to be made.

    Attributes:
        player: the sound, in a form that browsers play; None when it is gone.
        first: the reference.
        second: what was written.
    """

    player: str | None
    first: str
    second: str


def hand_over(
    entry: Entry, row: ClipRow, sources: Sources, max_duration_s: float
) -> ComparisonFiles:
    """Write what the Compare tab needs of one row.

    Raises:
        RequestError: the row has no transcript, or no reference.
        MossDemoError: the reference cannot be read.
    """
    if row.status is Status.FAILED:
        raise RequestError(f"This recording has no transcript: {row.reason}")
    reference = sources.reference(entry)
    if reference is None:
        raise RequestError("This recording has no reference to be compared with.")
    heard = parse(row.text, row.duration_s)
    recording = open_recording(str(sources.audio(entry)), max_duration_s)
    return ComparisonFiles(
        recording.player,
        _write("reference", row, reference),
        _write("transcript", row, heard),
    )


def _write(what: str, row: ClipRow, transcript: Transcript) -> str:
    text = export(
        transcript,
        ExportFormat.JSON,
        name=row.audio,
        duration_s=row.duration_s or 0.0,
        figures={} if what == "reference" else {"stop": row.stop},
    )
    return write_text(f"{safe_stem(row.audio)}.{what}.json", text)
