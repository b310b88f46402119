"""What a person asks for in the view's editor, read and carried out.

Pure: the script of the view sends plain values, and another state of the transcript comes back.
"""

from enum import StrEnum
from typing import Any

from moss_demo.domain import editing
from moss_demo.domain.editing import Revisions
from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.errors import EditError

NEWCOMER = "+"
"""Stands for a speaker nobody has been yet; a label never is a plus sign alone."""


class Change(StrEnum):
    """What can be asked for."""

    SET = "set"
    DELETE = "delete"
    SPLIT = "split"
    MERGE = "merge"
    UNDO = "undo"
    REDO = "redo"


def carry_out(revisions: Revisions, asked: dict[str, Any], duration_s: float) -> Revisions:
    """Make one change.

    Args:
        revisions: the transcript so far.
        asked: `change`, `number` of the revision that the person saw and, but for undo and redo,
            `index` of the segment. A split has `at`; new values are `text`, `speaker` (a label,
            None for unlabelled, or `+` for somebody new) and the typed `start` and `end`, None
            where they were left alone.
        duration_s: length of the recording, or 0 when unknown.

    Raises:
        EditError: the change is impossible; nothing was changed.
    """
    if asked["number"] != revisions.number:
        raise EditError("The transcript changed meanwhile; open the segment again.")
    match Change(asked["change"]):
        case Change.UNDO:
            return revisions.undone()
        case Change.REDO:
            return revisions.redone()
        case change:
            return revisions.revised(_made(change, revisions.present, asked, duration_s))


def _made(
    change: Change, transcript: Transcript, asked: dict[str, Any], duration_s: float
) -> Transcript:
    index = asked["index"]
    match change:
        case Change.DELETE:
            return editing.removed(transcript, index)
        case Change.SPLIT:
            return editing.split(transcript, index, asked["at"])
        case Change.MERGE:
            return editing.merged(transcript, index)
    before = editing.segment_at(transcript, index)
    start, end = (
        known if asked[name] is None else editing.read_time(asked[name])
        for name, known in (("start", before.start), ("end", before.end))
    )
    speaker = editing.new_label(transcript) if asked["speaker"] == NEWCOMER else asked["speaker"]
    wanted = Segment(start, end, speaker, asked["text"])
    return editing.changed(transcript, index, wanted, duration_s)
