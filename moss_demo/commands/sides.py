"""A transcript named on the command line: any known format, with what is known of its run."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.commands.output import read_text
from moss_demo.domain.exports import read_project_json
from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import TranscriptError
from moss_demo.scoring.run_meta import RunMeta


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a comparison.

    Attributes:
        transcript: what was read.
        meta: why its run ended and where speech ends, as far as the file says.
    """

    transcript: Transcript
    meta: RunMeta


def read_side(source: str) -> Side:
    """Read a transcript file, or standard input for `-`.

    Raises:
        TranscriptError: the file cannot be read or is in no known format.
    """
    text = read_text(source)
    try:
        return Side(read_reference(text, suffix=Path(source).suffix), _meta(text))
    except TranscriptError as error:
        raise TranscriptError(f"{source}: {error}") from error


def _meta(text: str) -> RunMeta:
    """Return what the project's own JSON says of its run; other formats say nothing."""
    try:
        figures = read_project_json(text).figures
    except TranscriptError:
        return RunMeta()
    stop, speech = figures.get("stop"), figures.get("speech_s")
    ends = [span[1] for span in speech if span] if isinstance(speech, list) else []
    return RunMeta(
        finish_reason=str(stop) if stop else None, speech_end_s=float(max(ends)) if ends else None
    )
