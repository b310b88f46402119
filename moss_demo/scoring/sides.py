"""One side of a comparison, read from a saved transcript or taken from a run."""

import json
from collections.abc import Mapping
from typing import NamedTuple

from moss_demo.domain.events import Run
from moss_demo.domain.exports import read_project_json
from moss_demo.domain.exports.project import run_record
from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.run_meta import RunMeta


class Side(NamedTuple):
    """A transcript and what is known of its run."""

    transcript: Transcript
    meta: RunMeta


def read_side(text: str, *, suffix: str = "") -> Side:
    """Read a transcript of any known format; the project's own also tells how its run ended.

    Args:
        text: the whole file.
        suffix: end of the file's name, such as `.json`; empty when there is none.

    Raises:
        TranscriptError: the text is broken for its format.
    """
    if _is_project_json(text):
        project = read_project_json(text)
        return Side(project.transcript, _meta(project.figures))
    return Side(read_reference(text, suffix=suffix), RunMeta())


def _is_project_json(text: str) -> bool:
    """Say whether a JSON object states a schema, wherever in it that stands."""
    if '"schema"' not in text:
        return False
    try:
        value = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and "schema" in value


def side_of(run: Run) -> Side:
    """Return a run as a side."""
    return Side(run.transcript, _meta(run_record(run)))


def _meta(figures: Mapping[str, object]) -> RunMeta:
    stop, spans = figures.get("stop"), figures.get("speech_spans_s")
    last = spans[-1] if isinstance(spans, list) and spans else None
    end = last[-1] if isinstance(last, list) and last else None
    return RunMeta(
        finish_reason=stop if isinstance(stop, str) else None,
        speech_end_s=float(end) if isinstance(end, int | float) else None,
    )
