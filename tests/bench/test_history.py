"""Reports on disk: bounded, ordered, and safe against names from outside."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from moss_demo.bench import history
from moss_demo.bench.history import History, open_history
from moss_demo.bench.report import Report
from moss_demo.errors import ReportError


def test_reports_are_kept_and_found_again(report: Report, tmp_path: Path) -> None:
    """The newest comes first; a file that is no report is passed over."""
    kept = History(tmp_path / "reports")
    assert kept.kept() == ()
    assert report.environment is not None
    later = replace(
        report, environment=replace(report.environment, started_at="2026-12-01T00:00:00+00:00")
    )
    names = [kept.keep(report), kept.keep(later)]
    (tmp_path / "reports" / "20270101-x.report.json").write_text("{}", encoding="utf-8")
    assert [row.name for row in kept.kept()] == names[::-1]
    assert kept.load(names[0]) == report
    assert "NVIDIA H200" in kept.kept()[0].title


def test_the_folder_is_bounded(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest reports make room."""
    monkeypatch.setattr(history, "MAX_REPORTS", 3)
    kept = History(tmp_path)
    for _ in range(5):
        kept.keep(report)
    assert len(list(tmp_path.iterdir())) == 3


def test_names_from_outside_reach_nothing_else(report: Report, tmp_path: Path) -> None:
    """A path is no name of a report."""
    kept = History(tmp_path / "reports")
    kept.keep(report)
    (tmp_path / "secret.report.json").write_text("{}", encoding="utf-8")
    for name in ("../secret.report.json", "/etc/passwd", "", "nothing"):
        with pytest.raises(ReportError, match="not there any more"):
            kept.load(name)


def test_a_folder_that_cannot_be_written_says_what_to_do(report: Report, tmp_path: Path) -> None:
    """The message names the folder and the variable."""
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    with pytest.raises(ReportError, match="MOSS_DEMO_CACHE"):
        History(blocked / "reports").keep(report)


def test_a_cache_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    """Where the user has no home, reports go to the temporary folder."""
    assert open_history(tmp_path / "cache").folder == tmp_path / "cache" / "reports"
    homeless = open_history(Path("~nobody-of-that-name/cache"))
    assert homeless.folder.is_relative_to(tempfile.gettempdir())
