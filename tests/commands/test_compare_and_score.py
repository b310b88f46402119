"""Verdicts and scores as a shell user gets them."""

import json
from pathlib import Path

import pytest

from moss_demo.__main__ import main

VECTORS = [
    json.loads(line)
    for line in (Path(__file__).parents[1] / "data" / "parity.jsonl")
    .read_text("utf-8")
    .splitlines()
]
SHORTEST = min(
    (Path(__file__).parents[2] / "assets" / "samples").glob("*.flac"),
    key=lambda path: path.stat().st_size,
)
STATUS = {"pass": 0, "fail": 1, "invalid": 3}
REFERENCE = "[0.50][S01]good morning everyone[2.10][2.60][S02]shall we begin[4.20]"


def _files(folder: Path, *texts: str) -> list[str]:
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.txt"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return paths


@pytest.mark.parametrize(
    "vector",
    [v for v in VECTORS if not {"ref_meta", "cand_meta"} & v.keys()],
    ids=lambda v: v["id"],
)
def test_compare_prints_the_verdict_and_exits_with_it(
    vector: dict[str, object], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Field names and gate are those of the published vectors; the exit status says the gate."""
    expected, free = vector["expected"], vector.get("free", [])
    assert isinstance(expected, dict)
    assert isinstance(free, list)
    files = _files(tmp_path, str(vector["reference"]), str(vector["candidate"]))
    status = main(["compare", *files])
    verdict = json.loads(capsys.readouterr().out)
    assert status == STATUS[verdict["gate"]]
    for name in expected.keys() - set(free) - {"reasons"}:
        assert verdict[name] == expected[name], name


def test_a_run_cut_by_its_budget_is_no_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A project JSON carries why its run ended, and a truncated reference is invalid."""
    reference = tmp_path / "run.json"
    raw = _files(tmp_path, REFERENCE)[0]
    main(["convert", raw, "--format", "json", "--output", str(reference)])
    saved = json.loads(reference.read_text())
    saved["figures"] = {"stop": "length"}
    reference.write_text(json.dumps(saved))
    assert main(["compare", str(reference), raw]) == 3
    assert "reference" in json.loads(capsys.readouterr().out)["reasons"][0]


def test_score_prints_every_metric(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One wrong word of six: WER and cpWER of a sixth, no diarization error."""
    files = _files(tmp_path, REFERENCE, REFERENCE.replace("morning", "warning"))
    assert main(["score", *files]) == 0
    text = capsys.readouterr().out
    for name in ("wer", "cer", "cpwer", "cpcer", "der", "jer"):
        assert name in text.lower()


@pytest.mark.parametrize("command", ["compare", "score"])
def test_a_file_in_no_known_format_is_named(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Broken JSON ends with 2 and the file's name."""
    files = _files(tmp_path, REFERENCE, '{"not": "a transcript"}')
    assert main([command, *files]) == 2
    assert "1.txt" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.txt"], "Name two transcripts"),
        (["--audio", "x.wav"], "--audio needs --a and --b"),
        (["--audio", "x.wav", "--a", "speed=9", "--b", "precision=fp32"], "key=value pairs"),
        (["--audio", "x.wav", "--a", "precision=fp7", "--b", "precision=fp32"], "no precision"),
        (["--audio", "x.wav", "--a", "decode=magic", "--b", "precision=fp32"], "no decode path"),
    ],
)
def test_impossible_comparisons_are_explained(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing is named in one line."""
    assert main(["compare", *words]) == 2
    assert message in capsys.readouterr().err


def test_two_runs_of_one_engine_are_identical(capsys: pytest.CaptureFixture[str]) -> None:
    """fp32 against fp32 on a real sample passes byte for byte, and so do its tensors."""
    side = "model=tiny,precision=fp32,device=cpu"
    words = ["--audio", str(SHORTEST), "--a", side, "--b", side, "--tensors"]
    assert main(["compare", *words]) == 0
    verdict = json.loads(capsys.readouterr().out)
    assert verdict["gate"] == "pass"
    assert verdict["identical"] is True
    assert verdict["engines"]["a"] | {"load_s": 0} == verdict["engines"]["b"] | {"load_s": 0}
    for stage in verdict["tensors"]:
        assert stage["max_abs"] == 0
        assert stage["noise_floor"]["relative_error"] < 1e-4


def test_weights_reports_what_a_precision_does(capsys: pytest.CaptureFixture[str]) -> None:
    """Bytes and errors of every matrix, and none where the precision is no weight format."""
    assert main(["weights", "--model", "tiny", "--device", "cpu", "--precision", "int8"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["quantization"]["in_memory"]
    assert told["weight_bytes"] < 0.8 * 2 * 18_881_664
    assert main(["weights", "--model", "tiny", "--device", "cpu", "--precision", "bf16"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["quantization"], told["weight_bytes"]) == (None, 2 * 18_881_664)
