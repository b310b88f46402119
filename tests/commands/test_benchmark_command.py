"""`benchmark` on the command line: tables for people, JSON for programs."""

import json
from pathlib import Path

import pytest
import soundfile

from moss_demo.__main__ import main
from moss_demo.bench.clips import SAMPLES, SHORT


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Three seconds of a sample."""
    samples, rate = soundfile.read(SAMPLES / SHORT)
    path = tmp_path / "clip.wav"
    soundfile.write(path, samples[: 3 * rate], rate)
    return path


def test_tables_are_printed_and_the_last_line_is_the_report(
    clip: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Plans are measured in the order given; the file holds what the last line says."""
    saved = tmp_path / "report.json"
    words = ["benchmark", "memory", "batch", "--model", "tiny", "--quick", "--device", "cpu"]
    assert main([*words, "--clips", str(clip), "--json", str(saved)]) == 0
    printed = capsys.readouterr()
    *table, last = printed.out.splitlines()
    report = json.loads(last)
    assert report == json.loads(saved.read_text(encoding="utf-8"))
    assert (report["schema"], report["complete"], report["quick"]) == (1, True, True)
    assert report["plans"] == ["memory", "batch"]
    assert report["environment"]["checkpoint"] == "tiny"
    assert {case["plan"] for case in report["cases"]} == {"memory", "batch"}
    assert all(case["raw"] and "statistics" in case for case in report["cases"])
    text = "\n".join(table)
    for words_wanted in ("Batches", "Memory", "process, resident (/proc)", "sweet spot"):
        assert words_wanted in text
    assert "%|" not in printed.err  # no bar where nobody watches


def test_a_part_that_fails_is_told_by_the_exit_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing could be measured of a recording that the checkpoint cannot hold."""
    path = tmp_path / "long.wav"
    soundfile.write(path, [0.0] * (900 * 8_000), 8_000)
    words = ["benchmark", "memory", "--model", "tiny", "--quick", "--device", "cpu"]
    assert main([*words, "--clips", str(path)]) == 1
    out = capsys.readouterr().out
    assert out.count("not measured: memory, ") == 2
    assert json.loads(out.splitlines()[-1])["complete"] is False


def test_clips_and_random_weights_exclude_each_other(
    clip: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The message says what to leave out."""
    words = ["benchmark", "e2e", "--model", "synthetic-0.9b", "--device", "cpu"]
    assert main([*words, "--clips", str(clip)]) == 2
    assert "leave out --clips" in capsys.readouterr().err
