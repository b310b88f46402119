"""Two sides, one verdict: what the Compare tab shows."""

from pathlib import Path

import pytest

from moss_demo.domain.parser import parse
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from moss_demo.errors import RequestError, TranscriptError
from moss_demo.scoring.verdict import Gate, Reason
from moss_demo.ui.comparison import Comparison, compare
from moss_demo.ui.figures import axis_figure, drift_figure
from moss_demo.ui.present_comparison import (
    REASON_SENTENCES,
    diff_rows,
    figure_rows,
    verdict_notices,
    verdict_tiles,
)

A = "[0.50][S01]good morning everyone[2.10][2.60][S02]shall we begin[4.20]"
B = "[0.50][S01]good morning all of you[2.10][2.90][S02]shall we begin[4.20]"


def _compared(folder: Path, first: str, second: str) -> Comparison:
    paths = []
    for name, text in (("a.txt", first), ("b.txt", second)):
        path = folder / name
        path.write_text(text, encoding="utf-8")
        paths.append(path)
    *_, last = compare((paths[0], paths[1]), lambda: None, EnginePool())
    return last


def test_saved_sides_need_no_recording_and_no_model(tmp_path: Path) -> None:
    """Transcripts of other machines are judged by themselves."""
    state = _compared(tmp_path, A, A)
    assert state.verdict is not None
    assert state.verdict.gate is Gate.PASS
    assert state.verdict.identical
    assert [side.title for side in state.sides] == ["a.txt (saved)", "b.txt (saved)"]


def test_differences_are_marked_where_they_are(tmp_path: Path) -> None:
    """Each line has both texts; equal words once, others on the side they stand on."""
    state = _compared(tmp_path, A, B)
    assert state.verdict is not None
    rows = diff_rows(state.verdict, (state.sides[0], state.sides[1]))
    assert [row["time"] for row in rows] == ["0:01", "0:03"]
    assert [row["speakers"] for row in rows] == [["S01"], ["S02"]]
    for side, text in ((1, parse(A)), (2, parse(B))):
        words = " ".join(token[side] for row in rows for token in row["tokens"] if token[side])
        assert words == " ".join(text.text.split())
    assert {token[0] for token in rows[1]["tokens"]} == {"equal"}


def test_the_verdict_says_what_failed_and_where(tmp_path: Path) -> None:
    """Words and drift are named apart, with the place of the first difference."""
    state = _compared(tmp_path, A, B)
    assert state.verdict is not None
    sides = (state.sides[0], state.sides[1])
    messages = [row["message"] for row in verdict_notices(state.verdict, sides)]
    assert messages[0] == "B differs from A."
    assert "Words differ as written." in messages
    assert any(m.startswith("First difference (") and "B at 0:01" in m for m in messages)
    assert set(REASON_SENTENCES) == set(Reason)
    tiles = dict(verdict_tiles(state.verdict))
    assert (tiles["Gate"], tiles["Words safe"]) == ("fail", "no")
    assert tiles["Word errors"].startswith("3 of 6")


def test_saved_sides_show_no_figures_of_a_run(tmp_path: Path) -> None:
    """A file says nothing of how fast it was made: no ratio is invented."""
    state = _compared(tmp_path, A, B)
    rows = figure_rows((state.sides[0], state.sides[1]))
    assert {cell for row in rows for cell in row[1:]} == {"n/a"}


def test_a_side_that_has_to_run_needs_a_recording() -> None:
    """An engine cannot make a side from nothing."""
    config = EngineConfig("tiny", "cpu", Precision.FP32)
    with pytest.raises(RequestError, match="no recording yet"):
        list(compare((config, config), lambda: None, EnginePool()))


def test_a_broken_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """JSON of something else is no transcript."""
    with pytest.raises(TranscriptError):
        _compared(tmp_path, A, '{"not": "a transcript"}')


def test_both_timelines_share_one_axis(tmp_path: Path) -> None:
    """Lanes of A stand above those of B; drift bars count every stamp."""
    state = _compared(tmp_path, A, B)
    assert state.verdict is not None
    figure = axis_figure([side.transcript for side in state.sides], 5.0)
    assert [bar.name for bar in figure.data] == ["A · S01", "A · S02", "B · S01", "B · S02"]
    bars = drift_figure(state.verdict.drift).data[0]
    assert sum(bars.y) == 2 * state.verdict.matched
