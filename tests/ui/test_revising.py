"""What the view's editor asks for, as its script sends it."""

from typing import Any

import pytest

from moss_demo.domain.editing import Revisions
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment, SegmentFlag
from moss_demo.errors import EditError
from moss_demo.ui.revising import Change, carry_out

START = Revisions(parse("[0.123456][S01]good morning[1.70][2.00][S02]hello[3.00]"))


def _asked(change: Change, **more: Any) -> dict[str, Any]:
    return {"change": change.value, "number": 0, "index": 0, **more}


def test_fields_left_alone_keep_what_they_held() -> None:
    """A time shown to two decimals is not rounded by saving the words."""
    asked = _asked(Change.SET, start=None, end="1:01.5", speaker="S02", text="good evening")
    segment = carry_out(START, asked, 70.0).present.segments[0]
    assert segment == Segment(0.123456, 61.5, "S02", "good evening", (SegmentFlag.EDITED,))


def test_a_plus_stands_for_somebody_new_and_nothing_for_nobody() -> None:
    """Both are choices beside the speakers that are there."""
    for chosen, label in (("+", "S03"), (None, None)):
        asked = _asked(Change.SET, start=None, end=None, speaker=chosen, text="good morning")
        assert carry_out(START, asked, 9.0).present.segments[0].speaker == label


def test_every_change_is_made_and_taken_back() -> None:
    """Each kind alters the segments; undo and redo walk between the states."""
    for change, more in (
        (Change.DELETE, {}),
        (Change.MERGE, {}),
        (Change.SPLIT, {"at": 4}),
    ):
        after = carry_out(START, _asked(change, **more), 9.0)
        assert after.present != START.present
        back = carry_out(after, _asked(Change.UNDO, number=1), 9.0)
        assert back.present == START.present
        assert carry_out(back, _asked(Change.REDO, number=2), 9.0).present == after.present


def test_a_change_to_what_is_no_longer_shown_is_refused() -> None:
    """Two quick clicks cannot delete two segments where one was meant."""
    after = carry_out(START, _asked(Change.DELETE), 9.0)
    with pytest.raises(EditError, match="changed meanwhile"):
        carry_out(after, _asked(Change.DELETE), 9.0)
