"""An evaluation as the page shows it; a server on the loopback address does the transcribing."""

import csv
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from moss_demo.batch.manifest import Entry
from moss_demo.batch.rows import ClipRow, Status
from moss_demo.domain.references import read_reference
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.pool import EnginePool
from moss_demo.errors import MossDemoError, RequestError
from moss_demo.scoring.verdict import Gate
from moss_demo.serving.context import AppContext, build_context
from moss_demo.settings import Settings
from moss_demo.ui.comparison import compare
from moss_demo.ui.evaluation import Snapshot, Wishes, evaluate_uploads, write_files
from moss_demo.ui.evaluation_figures import error_figure, length_figure, speakers_figure
from moss_demo.ui.handover import hand_over
from moss_demo.ui.present_comparison import figure_rows
from moss_demo.ui.present_evaluation import clip_rows, summary_tables, worst_first
from tests.batch.turns import cut_turns, write_manifest
from tests.engine.loopback import Loopback, always, loopback

HEARD = "[0.00][S01]so that the next meeting[1.20]"


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server that hears the same in every recording."""
    with loopback(always(HEARD)) as served:
        yield served


@pytest.fixture
def host(server: Loopback) -> AppContext:
    """A host that offers this server beside its own checkpoints."""
    return build_context(Settings(remotes=(server.server,)), "cpu")


@pytest.fixture
def uploads(tmp_path: Path) -> list[str]:
    """Four recordings with a manifest of five good rows, a missing one and a mistyped column."""
    rows = [*cut_turns(tmp_path, 4), {"audio": "gone.wav", "grup": "x"}]
    return [str(write_manifest(tmp_path, rows)), *map(str, sorted(tmp_path.glob("*.flac")))]


def _wishes(uploads: list[str], host: AppContext) -> Wishes:
    return Wishes(uploads, host.remote_choices()[0])


def test_snapshots_grow_into_a_report(uploads: list[str], host: AppContext) -> None:
    """Rows come in, progress is told, and the tables can be taken away."""
    with closing(evaluate_uploads(_wishes(uploads, host), host)) as states:
        snapshots = list(states)
    counts = [len(snapshot.clips) for snapshot in snapshots]
    assert counts == sorted(counts)
    last = snapshots[-1]
    assert (counts[-1], last.notes) == (6, ("The column grup means nothing here.",))
    assert last.report is not None
    assert last.status.startswith("6 recordings, 0:09 · WER ")
    assert last.status.endswith(" · 1 failed")
    bars = [snapshot.bar for snapshot in snapshots if snapshot.bar]
    assert bars[-1]["doing"] == "6 of 6 recordings"
    _, folder = write_files(last)
    with (folder / "clips.csv").open(newline="", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == 6
    titles = [table.title for table in summary_tables(last.report)]
    assert titles[:3] == ["Corpus", "By language and group", "Time"]
    assert "Takes, best first" in titles


def test_an_evaluation_that_was_stopped_leaves_its_rows(
    uploads: list[str], host: AppContext
) -> None:
    """Closing early keeps what was measured, as tables like those of a whole run."""
    kept = Snapshot("")
    with closing(evaluate_uploads(_wishes(uploads, host), host)) as states:
        for kept in states:
            if kept.clips:
                break
    assert kept.report is None
    report, folder = write_files(kept)
    assert report.summaries[0].clips == len(kept.clips)
    assert json.loads((folder / "report.json").read_text())["schema"] == 1


def test_a_host_bounds_what_one_visitor_may_send(uploads: list[str], server: Loopback) -> None:
    """The sentence says how much was sent and how much is allowed."""
    bounded = build_context(Settings(remotes=(server.server,), max_evaluation_s=5.0), "cpu")
    with pytest.raises(RequestError, match="0:09 together and this server takes 0:05"):
        list(evaluate_uploads(_wishes(uploads, bounded), bounded))
    assert server.asked == []


def test_an_upload_cannot_name_files_of_the_server(
    uploads: list[str], host: AppContext, tmp_path: Path
) -> None:
    """A manifest that points elsewhere gets a failed row and nothing is read."""
    secret = tmp_path / "secret.txt"
    secret.write_text("precious words")
    rows = [{"audio": "00.flac", "reference": str(secret)}, {"audio": uploads[1]}]
    folder = tmp_path / "other"
    folder.mkdir()
    sent = [str(write_manifest(folder, rows)), uploads[1]]
    *_, last = evaluate_uploads(_wishes(sent, host), host)
    assert [row.status for row in last.clips] == [Status.FAILED] * 2
    assert all("outside the upload" in row.reason for row in last.clips)


def test_a_row_is_handed_to_compare_with_its_reference(
    uploads: list[str], host: AppContext
) -> None:
    """Recording, truth and transcript come as files that the Compare tab reads."""
    *_, last = evaluate_uploads(_wishes(uploads, host), host)
    assert last.sources is not None
    row = next(row for row in last.clips if row.line == 2)
    files = hand_over(last.entries[1], row, last.sources, 60.0)
    *_, state = compare((Path(files.first), Path(files.second)), lambda: None, EnginePool())
    assert state.verdict is not None
    assert state.verdict.word_errors.errors > 0
    assert state.sides[1].transcript.segments == read_reference(HEARD).segments
    assert Path(files.player).is_file()


def test_a_row_without_a_partner_says_so(uploads: list[str], host: AppContext) -> None:
    """A failed row and one without a reference cannot be compared."""
    *_, last = evaluate_uploads(_wishes(uploads, host), host)
    assert last.sources is not None
    failed = next(row for row in last.clips if row.status is Status.FAILED)
    with pytest.raises(MossDemoError, match="no transcript"):
        hand_over(last.entries[5], failed, last.sources, 60.0)
    done = next(row for row in last.clips if row.status is Status.DONE)
    with pytest.raises(MossDemoError, match="no reference"):
        hand_over(Entry(1, done.audio), done, last.sources, 60.0)


def test_a_server_elsewhere_is_a_side_of_a_comparison(
    uploads: list[str], host: AppContext, tmp_path: Path
) -> None:
    """Its run is compared like any other and has a time, but no tokens."""
    saved = tmp_path / "a.txt"
    saved.write_text(HEARD)
    choice = host.remote(host.remote_choices()[0])
    assert choice is not None
    request = Request(read_audio(Path(uploads[1])))
    *_, state = compare((saved, choice), lambda: request, EnginePool())
    assert state.verdict is not None
    assert state.verdict.gate is Gate.PASS
    assert state.sides[1].title == "loopback (remote)"
    figures = {row[0]: row for row in figure_rows((state.sides[0], state.sides[1]))}
    assert figures["Run, s"][2] != "n/a"
    assert figures["Tokens"][1:3] == ["n/a", "n/a"]


def _row(line: int, **figures: Any) -> ClipRow:
    return ClipRow(line=line, audio=f"{line}.wav", status=Status.DONE, duration_s=2.0, **figures)


def test_the_rows_that_deserve_a_look_come_first() -> None:
    """Failed rows, then errors from the highest down, then what could not be measured."""
    rows = [_row(1), _row(2, wer=0.1), _row(3, wer=0.4),
            ClipRow(line=4, audio="4.wav", status=Status.FAILED, reason="It is gone.")]  # fmt: skip
    assert [row.line for row in worst_first(rows)] == [4, 3, 2, 1]
    shown = clip_rows(worst_first(rows))
    assert shown[0][-1] == "It is gone."
    assert shown[1][:7] == ["3", "3.wav", "40.0", "", "", "", "0:02"]


def test_figures_draw_what_was_measured_and_escape_names() -> None:
    """Bars of the worst first, points of length and error, speakers found against there are."""
    rows = [
        _row(1, wer=0.1, reference_speakers=2, speaker_count_error=0),
        _row(2, wer=0.5, reference_speakers=2, speaker_count_error=1),
    ]
    bars = error_figure([*rows, ClipRow(line=3, audio="<b>x</b>", status=Status.DONE, wer=0.2)])
    assert bars is not None
    assert list(bars.data[0].x) == [50.0, 20.0, 10.0]
    assert "&lt;b&gt;x" in bars.layout.yaxis.ticktext[1]
    points = length_figure(rows)
    assert points is not None
    assert list(points.data[0].y) == [10.0, 50.0]
    matrix = speakers_figure(rows)
    assert matrix is not None
    assert (list(matrix.data[0].x), list(matrix.data[0].z[0])) == (["2", "3"], [1, 1])
    assert (error_figure([]), length_figure([]), speakers_figure([])) == (None, None, None)
