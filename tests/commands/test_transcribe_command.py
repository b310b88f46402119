"""`transcribe` on a real sample: what a shell user gets."""

import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moss_demo.__main__ import main
from moss_demo.domain.parser import parse

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"
SHORTEST = min(SAMPLES.glob("*.flac"), key=lambda path: path.stat().st_size)


@pytest.fixture(scope="module")
def streamed() -> subprocess.CompletedProcess[str]:
    """The shortest sample with `--stream`, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "moss_demo", "transcribe", str(SHORTEST), "--stream"],
        capture_output=True,
        text=True,
        check=True,
    )


@pytest.fixture(scope="module")
def as_json(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The same sample as JSON."""
    out = tmp_path_factory.mktemp("transcribe") / "run.json"
    assert main(["transcribe", str(SHORTEST), "--format", "json", "--output", str(out)]) == 0
    answer: dict[str, object] = json.loads(out.read_text(encoding="utf-8"))
    return answer


def test_stream_prints_one_segment_a_line(streamed: subprocess.CompletedProcess[str]) -> None:
    """Each line is a segment in the model's own form."""
    lines = streamed.stdout.splitlines()
    assert len(lines) > 3
    assert all(re.fullmatch(r"\[\d+\.\d\d\]\[S\d\d\].+\[\d+\.\d\d\]", line) for line in lines)


def test_figures_and_the_checkpoint_are_named_on_standard_error(
    streamed: subprocess.CompletedProcess[str],
) -> None:
    """The shell user sees what ran, its limits, and how long it took; no library chatter."""
    assert "tiny · fp32 · cpu · attention sdpa" in streamed.stderr
    assert "embedded demonstration checkpoint" in streamed.stderr
    for figure in ("RTF", "Tokens/s", "Time to first token", "Peak memory", "Load"):
        assert figure in streamed.stderr
    assert "Traceback" not in streamed.stderr
    assert "Warning" not in streamed.stderr


def test_ctrl_c_ends_cleanly() -> None:
    """An interrupt in the middle of a run says so and gives the shell its status."""
    longest = max(SAMPLES.glob("*.flac"), key=lambda path: path.stat().st_size)
    with subprocess.Popen(
        [sys.executable, "-m", "moss_demo", "transcribe", str(longest), "--stream"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("[")
        process.send_signal(signal.SIGINT)
        _, error = process.communicate()
    assert process.returncode == 130
    assert error.strip() == "stopped"


def test_json_carries_everything_of_the_run(as_json: dict[str, object]) -> None:
    """Segments, raw text, token ids, completeness, warnings and figures are all there."""
    assert {"segments", "raw", "token_ids", "complete", "warnings", "figures"} <= as_json.keys()
    raw, duration_s = as_json["raw"], as_json["duration_s"]
    assert isinstance(raw, str)
    assert isinstance(duration_s, float)
    segments = as_json["segments"]
    assert isinstance(segments, list)
    assert [s["text"] for s in segments] == [s.text for s in parse(raw, duration_s).segments]
    assert as_json["complete"] is True
    figures = as_json["figures"]
    assert isinstance(figures, dict)
    assert figures["checkpoint"] == "tiny"
    assert figures["stop"] == "end_of_text"


def test_token_ids_decode_to_the_raw_text(as_json: dict[str, object]) -> None:
    """Tokens are as generated, with the end token last."""
    from moss_demo.engine.loading import TINY_DIR, MossTranscribeDiarizeProcessor

    tokenizer = MossTranscribeDiarizeProcessor.from_pretrained(TINY_DIR).tokenizer
    ids = as_json["token_ids"]
    assert isinstance(ids, list)
    assert ids[-1] == tokenizer.eos_token_id
    assert tokenizer.decode(ids[:-1]) == as_json["raw"]


def test_streamed_segments_equal_those_of_the_json(
    streamed: subprocess.CompletedProcess[str], as_json: dict[str, object]
) -> None:
    """Two ways to ask, one answer."""
    assert "".join(streamed.stdout.splitlines()) == as_json["raw"]


@pytest.mark.parametrize("name", ["nowhere/run.txt", "."])
def test_an_output_without_a_place_is_refused_before_the_work(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody waits for a transcript that has nowhere to go."""
    assert main(["transcribe", str(SHORTEST), "--output", str(tmp_path / name)]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert re.search("does not exist|is a folder", told.err)


@pytest.mark.parametrize("wish", [["--temperature", "1e-38"], ["--seed", "9" * 23]])
def test_sampling_that_no_sampler_can_do_is_refused(
    wish: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """By so little scores cannot be divided; the device would be lost to it."""
    assert main(["transcribe", str(SHORTEST), *wish]) == 2
    assert re.search("temperature must be 0 or lie in 0.01|seed must be", capsys.readouterr().err)
