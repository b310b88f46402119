"""Whether one transcript can be compared at all: empty, cut off, stopped early, not repeatable."""

from dataclasses import dataclass
from math import inf
from typing import NamedTuple

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.verdict import Reason

MAX_UNSPOKEN_TAIL_S = 5.0
"""A transcript that ends earlier than this before the end of speech is unfinished."""


@dataclass(frozen=True, slots=True)
class RunMeta:
    """What is known of the run behind a transcript.

    Attributes:
        finish_reason: `length` when the token budget cut the text, else anything or None.
        repeats: raw texts of further runs of the same kind, which ought to be equal.
        speech_end_s: where the speech of the recording ends, None when nobody looked.
    """

    finish_reason: str | None = None
    repeats: tuple[str, ...] = ()
    speech_end_s: float | None = None


class SideReasons(NamedTuple):
    """The names of the same four faults on one side."""

    empty: Reason
    truncated: Reason
    stops_early: Reason
    repeats: Reason


REFERENCE = SideReasons(
    Reason.EMPTY_REFERENCE,
    Reason.REFERENCE_TRUNCATED,
    Reason.REFERENCE_STOPS_EARLY,
    Reason.REFERENCE_REPEATS,
)
CANDIDATE = SideReasons(
    Reason.EMPTY_CANDIDATE,
    Reason.CANDIDATE_TRUNCATED,
    Reason.CANDIDATE_STOPS_EARLY,
    Reason.CANDIDATE_REPEATS,
)


def side_reasons(transcript: Transcript, meta: RunMeta, names: SideReasons) -> list[Reason]:
    """List what is wrong with one side whatever the other one is.

    An end of text can come too soon without any token limit, so a complete transcript is still
    unfinished when speech goes on after its last stamp.
    """
    empty = not any(segment.text.strip() for segment in transcript.segments)
    runs = {text.strip() for text in meta.repeats}
    if runs and transcript.raw:
        runs.add(transcript.raw.strip())
    stamps = [t for s in transcript.segments for t in (s.start, s.end) if t is not None]
    tail_s = -inf if meta.speech_end_s is None else meta.speech_end_s - max(stamps, default=inf)
    found = {
        names.empty: empty,
        names.truncated: meta.finish_reason == "length" or not (transcript.complete or empty),
        names.stops_early: tail_s > MAX_UNSPOKEN_TAIL_S,
        names.repeats: len(runs) > 1,
    }
    return [reason for reason, holds in found.items() if holds]
