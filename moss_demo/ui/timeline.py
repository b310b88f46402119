"""The timeline-with-transcript component and the payload that drives it.

The payload functions are pure. Python sends values and names; every word of the model reaches the
page as a text node drawn by the script of the component, so nothing here escapes or builds HTML.
The component knows nothing of engines: it shows segments, whoever made them.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Literal, TypedDict

import gradio as gr

from moss_demo.domain.editing import Revisions
from moss_demo.domain.encodable import encodable
from moss_demo.domain.events import Run, StopReason
from moss_demo.domain.transcript import Segment
from moss_demo.ui.lanes import talk_time_s
from moss_demo.ui.theme import asset_text


class TimelineStatus(StrEnum):
    """What the component says about the run it shows."""

    IDLE = "idle"
    RUNNING = "running"
    DONE = "done"
    NO_SPEECH = "no_speech"
    STOPPED = "stopped"
    FAILED = "failed"


class SegmentPayload(TypedDict):
    """One segment as the script reads it; times in seconds or None."""

    start: float | None
    end: float | None
    speaker: str | None
    text: str
    flags: list[str]


class EditingMeta(TypedDict):
    """What the editor offers.

    Attributes:
        undo: there is a change to take back.
        redo: there is a change to make again.
        problem: why the last change was refused, or empty.
    """

    undo: bool
    redo: bool
    problem: str


class TimelineMeta(TypedDict):
    """What changes at every update and is small.

    Gradio hands properties and value to the page one after the other; run and length tell the
    script whether the text it has is the one that belongs to these.

    Attributes:
        run: number of the run within the session; another one makes the script start over.
        revision: number of the revision; another one draws everything again, where it stood.
        length: UTF-16 code units of the value.
        status: a `TimelineStatus`.
        duration_s: length of the recording, 0 when unknown.
        names: names given by a person, by label.
        talk_s: pairs of label (None: unlabelled) and seconds of speech.
        open: the segment being written, None once the run has ended.
        editing: what the editor offers, None where nothing can be changed.
    """

    run: int
    revision: int
    length: int
    status: str
    duration_s: float
    names: dict[str, str]
    talk_s: list[tuple[str | None, float]]
    open: SegmentPayload | None
    editing: EditingMeta | None


_PARTS = (
    "words",
    "state",
    "speakers",
    "rows",
    "paint",
    "pointer",
    "player",
    "find",
    "edit",
    "keys",
    "start",
)
"""Files of the script in the order in which they have to stand."""

_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode


_IDLE = TimelineMeta(
    run=0,
    revision=0,
    length=0,
    status=TimelineStatus.IDLE.value,
    duration_s=0.0,
    names={},
    talk_s=[],
    open=None,
    editing=None,
)


def segment_payload(segment: Segment) -> SegmentPayload:
    """Return a segment as plain data; infinite times count as unknown, lone surrogates as `?`."""
    return SegmentPayload(
        start=_finite(segment.start),
        end=_finite(segment.end),
        speaker=None if segment.speaker is None else encodable(segment.speaker),
        text=encodable(segment.text),
        flags=[str(flag) for flag in segment.flags],
    )


def run_lines(number: int, revision: int, segments: Iterable[Segment]) -> str:
    """Return JSON lines: one with the numbers of run and revision, then one a segment.

    Within a run the text only grows, so an update of a long transcript crosses the network as its
    new lines alone.
    """
    head = {"run": number, "revision": revision}
    lines = [_encode(head), *(_encode(segment_payload(s)) for s in segments)]
    return "".join(line + "\n" for line in lines)


def timeline_update(
    run: Run,
    *,
    number: int,
    names: Mapping[str, str],
    status: TimelineStatus | None = None,
    revisions: Revisions | None = None,
    problem: str = "",
) -> dict[str, Any]:
    """Return the Gradio update that shows a run in a `Timeline`.

    While the run goes on, the segment being written stands beside the finished ones; once it has
    ended, a segment that was cut off is an ordinary line.

    Args:
        run: the run so far.
        number: number of the run within the session, above 0 and another one for each run.
        names: names given by a person, by label.
        status: what to say about the run; left out, it is done when finished and else running, so
            a stopped or failed run has to say so.
        revisions: where the segments of the run come from and what can be taken back; left out,
            nothing can be changed.
        problem: why the last change was refused.
    """
    if status is None:
        status = _status(run)
    running = status is TimelineStatus.RUNNING
    revision = 0 if revisions is None else revisions.number
    value = run_lines(number, revision, run.segments if running else run.transcript.segments)
    writing = run.open_segment if running else None
    meta = TimelineMeta(
        run=number,
        revision=revision,
        length=len(value.encode("utf-16-le")) // 2,
        status=status.value,
        duration_s=run.duration_s,
        names=dict(names),
        talk_s=[
            (None if label is None else encodable(label), seconds)
            for label, seconds in talk_time_s(run.transcript.segments, run.duration_s).items()
        ],
        open=None if writing is None else segment_payload(writing),
        editing=None
        if revisions is None
        else EditingMeta(undo=bool(revisions.past), redo=bool(revisions.future), problem=problem),
    )
    return gr.update(value=value, meta=meta)


def empty_update() -> dict[str, Any]:
    """Return the Gradio update after which a `Timeline` shows no run."""
    return gr.update(value="", meta=_IDLE)


class Timeline(gr.HTML):
    """Lanes by speaker over a clickable transcript, tied to a `gr.Audio` of the same page.

    Raises the event `rename` with `evt.speaker` (the label) and `evt.name` (blank: undo), and
    `revise` with `evt.asked`, see `revising.carry_out`, so `timeline.rename(handler, …)` works like
    any listener. As an output it takes the result of
    `timeline_update`; use `show_progress="hidden"`, or Gradio covers it until the first yield.
    """

    def __init__(
        self,
        value: str = "",
        *,
        audio_id: str,
        side: Literal["", "A", "B"] = "",
        meta: TimelineMeta | None = None,
        **block: Any,
    ) -> None:
        """Lay out the empty component.

        Args:
            value: JSON lines, see `run_lines`.
            audio_id: `elem_id` of the player that clicks seek in: letters, digits, `-` and `_`.
            side: tells those apart that stand side by side.
            meta: see `TimelineMeta`; left out, the component says what will appear in it.
            block: what every Gradio block takes, such as `elem_id`.
        """
        super().__init__(
            value,
            html_template=_template(audio_id, side),
            js_on_load=_script(),
            apply_default_css=False,
            meta=_IDLE if meta is None else meta,
            **block,
        )

    def postprocess(self, value: str | None) -> str | None:
        """Send the lines as they are: they are data, and tags within them are never parsed."""
        return value


@cache
def _script() -> str:
    """Return the files of the script as the one function body that Gradio runs."""
    return "\n".join(asset_text(f"timeline/{part}.js") for part in _PARTS)


@cache
def _template(audio_id: str, side: str) -> str:
    """Return the static markup with its style sheet.

    Raises:
        ValueError: the identifier could break out of the attribute or the template.
    """
    if not re.fullmatch(r"[A-Za-z][\w-]*", audio_id, re.ASCII):
        raise ValueError(f"{audio_id!r} cannot be the id of a player")
    label = f"Timeline and transcript of {side}" if side else "Timeline and transcript"
    markup = (
        asset_text("timeline/markup.html").replace("AUDIO_ID", audio_id).replace("LABEL", label)
    )
    return f"<style>{asset_text('timeline/style.css')}</style>{markup}"


def _status(run: Run) -> TimelineStatus:
    if run.finished is None:
        return TimelineStatus.RUNNING
    silent = run.finished.stop is StopReason.NO_SPEECH
    return TimelineStatus.NO_SPEECH if silent else TimelineStatus.DONE


def _finite(seconds: float | None) -> float | None:
    return seconds if seconds is not None and math.isfinite(seconds) else None
