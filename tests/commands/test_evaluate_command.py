"""`evaluate` as a shell user meets it; a server on the loopback address does the transcribing."""

import csv
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from moss_demo.__main__ import main
from moss_demo.domain.parser import parse
from moss_demo.scoring.normalize import Level
from moss_demo.scoring.report import score_dict
from tests.batch.turns import cut_turns, write_manifest
from tests.engine.loopback import Loopback, always, loopback

HEARD = "[0.00][S01]so that the next meeting[1.20]"


@pytest.fixture
def server() -> Iterator[Loopback]:
    """A server that hears the same in every recording."""
    with loopback(always(HEARD)) as served:
        yield served


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, str]]]:
    """A folder of four recordings, and five rows for them."""
    folder = tmp_path_factory.mktemp("recordings")
    return folder, cut_turns(folder, 4)


def _evaluate(manifest: Path, out: Path, server: Loopback, *words: str) -> int:
    remote = ["--engine", "openai", "--base-url", server.server.base_url]
    return main(["evaluate", str(manifest), "--out", str(out), *remote, *words])


def _table(out: Path) -> list[dict[str, str]]:
    with (out / "clips.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_every_row_is_answered_for(
    rows: tuple[Path, list[dict[str, str]]],
    server: Loopback,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Bad rows are in the tables with line and reason, good ones with their errors; status 0."""
    folder, good = rows
    bad = [{"audio": "gone.wav"}, {"audio": "01.flac", "reference": "gone.srt"}, {"audo": "x"}]
    manifest = write_manifest(folder, [*good, *bad])
    assert _evaluate(manifest, tmp_path / "out", server) == 0
    captured = capsys.readouterr()
    assert "8 recordings, 3 failed, 5 measured" in captured.out
    assert 'line 6: "gone.wav" does not exist; check the path.' in captured.out
    assert "line 8: The row names no recording" in captured.out
    assert "the column audo means nothing here" in captured.err
    table = _table(tmp_path / "out")
    assert [int(row["line"]) for row in table] == list(range(1, 9))
    assert [row["status"] for row in table] == ["done"] * 5 + ["failed"] * 3
    assert all(bool(row["reason"]) == (row["status"] == "failed") for row in table)
    row, asked = table[1], good[1]
    figures = score_dict(parse(asked["reference"]), parse(HEARD))
    text = figures["text"][Level.LANGUAGE]
    assert float(row["wer"]) == text["wer"]["rate"]
    assert float(row["cpcer"]) == text["cpcer"]["rate"]
    assert float(row["der"]) == figures["diarization"][0]["der"]
    assert row["rules"] == text["normalization"]


def test_tables_agree_with_each_other(
    rows: tuple[Path, list[dict[str, str]]], server: Loopback, tmp_path: Path
) -> None:
    """CSV and Parquet hold the same; the summary is the ratio of sums; takes are ranked."""
    folder, good = rows
    out = tmp_path / "out"
    assert _evaluate(write_manifest(folder, good), out, server, "--batch-size", "1") == 0
    columns = pq.read_table(out / "clips.parquet").to_pydict()
    table = _table(out)
    assert [row["text"] for row in table] == columns["text"]
    assert [float(row["wer"]) for row in table] == columns["wer"]
    edits = ("substitutions", "deletions", "insertions")
    wrong = sum(sum(columns[name]) for name in edits)
    report = json.loads((out / "report.json").read_text(encoding="utf-8"))
    assert report["summary"][0]["wer"] == pytest.approx(wrong / sum(columns["words"]), abs=1e-6)
    assert report["times"]["clips"] == 5
    assert [row["scope"] for row in report["summary"]] == ["all", "group", "group", "group"]
    assert [(take["group"], take["rank"]) for take in report["takes"]] == [
        ("takes", 1), ("takes", 2)
    ]  # fmt: skip
    assert server.most_at_once == 1


def test_a_run_is_resumed_only_when_asked_and_only_with_the_same_rows(
    rows: tuple[Path, list[dict[str, str]]],
    server: Loopback,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A finished run is not done again, and its folder is never mixed with another run."""
    folder, good = rows
    manifest, out = write_manifest(folder, good), tmp_path / "out"
    assert _evaluate(manifest, out, server) == 0
    asked = len(server.asked)
    assert _evaluate(manifest, out, server) == 2
    assert "--resume" in capsys.readouterr().err
    assert _evaluate(manifest, out, server, "--resume") == 0
    assert len(server.asked) == asked
    (part,) = (out / "parts").glob("*.clips.parquet")
    written, plan = part.read_bytes(), out / "plan.json"
    part.write_bytes(b"")
    assert _evaluate(manifest, out, server, "--resume") == 2
    assert "clips.parquet is damaged" in capsys.readouterr().err
    part.write_bytes(written)
    recorded = plan.read_text(encoding="utf-8")
    plan.write_text(json.dumps(json.loads(recorded) | {"parts": []}), encoding="utf-8")
    assert _evaluate(manifest, out, server, "--resume") == 2
    assert "damaged batch plan" in capsys.readouterr().err
    plan.write_text(recorded, encoding="utf-8")
    other = write_manifest(folder, good[:2])
    assert _evaluate(other, out, server, "--resume") == 2
    assert "another manifest" in capsys.readouterr().err
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    assert _evaluate(other, tmp_path / "mine", server) == 2
    assert "not empty" in capsys.readouterr().err
    assert _evaluate(other, tmp_path / "mine" / "thesis.txt", server) == 2
    assert "is a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch-size", "0"], "at least 1"),
        (["--engine", "openai"], "--base-url"),
        (["--base-url", "http://x/v1"], "--engine openai"),
        (["--engine", "openai", "--base-url", "ftp://x"], "http://host:8000/v1"),
    ],
)
def test_impossible_wishes_end_in_one_line(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Status 2, one sentence, and no folder is made."""
    manifest = write_manifest(tmp_path, [{"audio": "a.wav"}])
    assert main(["evaluate", str(manifest), "--out", str(tmp_path / "out"), *words]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_folder_without_recordings_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The sentence says what to give."""
    assert main(["evaluate", str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "no recordings" in capsys.readouterr().err


def test_the_command_needs_no_page() -> None:
    """A machine without the page's packages can evaluate."""
    code = (
        "import sys, moss_demo.commands.evaluate;"
        "sys.exit(any(name in sys.modules for name in ('gradio', 'plotly', 'av', 'pandas')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_text_that_breaks_the_rules_of_words_costs_its_own_row_only(
    rows: tuple[Path, list[dict[str, str]]], server: Loopback, tmp_path: Path
) -> None:
    """A number of thousands of digits is no word that the normalizer can spell."""
    folder, good = rows
    odd = good[0] | {"reference": "the" + "9" * 4_400, "language": "en"}
    _evaluate(write_manifest(folder, [odd, good[1]]), tmp_path / "out", server)
    first, second = _table(tmp_path / "out")
    assert (first["status"], second["status"]) == ("failed", "done")
    assert "could not be measured" in first["reason"]
