"""Runs that ended without an end: a stop, or an error halfway."""

from dataclasses import replace

from moss_demo.domain.events import Run
from moss_demo.domain.parser import parse


def with_every_word(run: Run) -> Run:
    """Return a run that broke off with its text read to the last character.

    While text streams, what may become a marker is held back until more comes; here nothing does.
    A finished run is returned as it is.
    """
    if run.finished is not None:
        return run
    segments = parse(run.raw, run.duration_s).segments
    return replace(run, segments=segments, open_segment=None)
