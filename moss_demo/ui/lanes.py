"""What a timeline can show of a transcript: drawable times, talk time and names.

Pure. Knows nothing of HTML, plotly or Gradio; the transcript itself is never changed by it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace

from moss_demo.domain.transcript import Segment, Transcript

UNLABELLED = "Unlabelled"
"""Name of the lane of speech that the model gave no speaker."""

NAME_LENGTH = 60
"""Longest name of a speaker, in characters."""


def drawable(segments: Iterable[Segment], duration_s: float) -> tuple[Segment, ...]:
    """Return the segments that have both times, cut to the recording.

    A stamp beyond the end would otherwise rule the axis and every share.

    Args:
        segments: in any order; those without both times, or with infinite ones, are left out.
        duration_s: length of the recording in seconds, or 0 when unknown: then nothing is cut.
    """
    limit = duration_s if duration_s > 0 else math.inf
    return tuple(
        replace(
            segment,
            start=min(limit, max(0.0, segment.start)),
            end=min(limit, max(0.0, segment.end)),
        )
        for segment in segments
        if segment.start is not None
        and segment.end is not None
        and math.isfinite(segment.start)
        and math.isfinite(segment.end)
    )


def talk_time_s(segments: Iterable[Segment], duration_s: float) -> dict[str | None, float]:
    """Return seconds of speech within the recording by label, in order of first appearance.

    Speakers without any time count 0, so each lane has its figure.
    """
    everyone = tuple(segments)
    speech = Transcript(drawable(everyone, duration_s)).talk_time_s()
    return {label: speech.get(label, 0.0) for label in Transcript(everyone).speakers}


def speaker_name(label: str | None, names: Mapping[str, str]) -> str:
    """Return the name a person gave the speaker, else the label."""
    return UNLABELLED if label is None else names.get(label) or label


def with_name(names: Mapping[str, str], label: str, name: str) -> dict[str, str]:
    """Return the names after one speaker was renamed.

    Args:
        names: names so far, by label.
        label: the model's label, such as `S01`.
        name: the new name; runs of blanks become one, a blank name or the label itself undoes.
    """
    tidy = " ".join(name.split())[:NAME_LENGTH].strip()
    others = {key: value for key, value in names.items() if key != label}
    return others if tidy in ("", label) else {**others, label: tidy}


def namesake(labels: Iterable[str | None], names: Mapping[str, str], label: str) -> str | None:
    """Return the label of another speaker who is shown under the same name, if there is one."""
    shown = speaker_name(label, names).casefold()
    for other in labels:
        if other not in (None, label) and speaker_name(other, names).casefold() == shown:
            return other
    return None


def stamp(seconds: float) -> str:
    """Return a position as `m:ss.t` or `h:mm:ss.t`, with tenths of a second."""
    minutes, tenths = divmod(round(10 * seconds), 600)
    hours, minute = divmod(minutes, 60)
    clock = f"{hours}:{minute:02}" if hours else str(minute)
    return f"{clock}:{tenths // 10:02}.{tenths % 10}"
