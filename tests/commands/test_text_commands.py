"""Commands that need no model: what they print and how they fail."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from moss_demo.__main__ import main
from moss_demo.domain.exports import ExportFormat

RAW = "[0.48][S01]Welcome everyone[1.66][1.70][S02]thank you[2.90]"


def _raw_file(folder: Path, text: str = RAW) -> str:
    path = folder / "raw.txt"
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_parse_prints_segments_completeness_and_warnings(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Raw text comes out as one JSON object with the fields that scripts rely on."""
    assert main(["parse", _raw_file(tmp_path), "--duration", "3"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["segments"][0] == {
        "start": 0.48,
        "end": 1.66,
        "speaker": "S01",
        "text": "Welcome everyone",
        "flags": [],
    }
    assert answer["complete"] is True
    assert answer["warnings"] == []


def test_parse_reads_standard_input_and_damaged_bytes() -> None:
    """A pipe works, and bytes that are no UTF-8 do not stop it."""
    done = subprocess.run(
        [sys.executable, "-m", "moss_demo", "parse"],
        input=b"[0.5][S01]caf\xc3\xa9 \xff[1.0]",
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout)["segments"][0]["text"] == "café \ufffd"


@pytest.mark.parametrize("fmt", ExportFormat)
def test_convert_writes_every_format(tmp_path: Path, fmt: ExportFormat) -> None:
    """Raw text becomes any export, in a file of its own."""
    out = tmp_path / "out"
    words = ["convert", _raw_file(tmp_path), "--format", fmt, "--output", str(out)]
    assert main([*words, "--duration", "3"]) == 0
    assert out.stat().st_size > 0


def test_convert_gives_json_back_as_it_was(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The project's JSON converts to itself."""
    out = tmp_path / "run.json"
    main(["convert", _raw_file(tmp_path), "--format", "json", "--output", str(out)])
    assert main(["convert", str(out), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(out.read_text())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["parse", "nowhere.txt"], "nowhere.txt cannot be read"),
        (["parse", "-", "--duration", "-1"], "positive number"),
        (["convert", "nowhere.json", "--format", "srt"], "nowhere.json cannot be read"),
        (["transcribe", "nowhere.wav"], "nowhere.wav"),
        (["transcribe", "nowhere.wav", "--stream", "--format", "srt"], "--stream prints"),
        (["transcribe", "nowhere.wav", "--max-new-tokens", "0"], "at least 1"),
        (["transcribe", "nowhere.wav", "--device", "cuda:9"], "cuda:9 is not available"),
        (["transcribe", "nowhere.wav", "--device", "abacus"], "is no device"),
    ],
)
def test_input_that_a_person_can_mend_ends_with_2_and_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """No traceback: one sentence on standard error and exit status 2."""
    assert main(words) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert captured.err.count("\n") == 1


def test_broken_json_is_refused_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JSON of something else is told apart from a transcript."""
    assert main(["convert", _raw_file(tmp_path, '{"a": 1}'), "--format", "srt"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", [["convert", "--format", "srt"], ["score"], ["compare"]])
def test_a_binary_file_is_no_transcript(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Sound given in place of a transcript is named, not printed to the terminal."""
    sound = tmp_path / "sound.wav"
    sound.write_bytes(b"RIFF\x00\x00WAVE")
    files = [str(sound)] * (1 if command[0] == "convert" else 2)
    assert main([command[0], *files, *command[1:]]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "is no text file" in captured.err


def test_a_time_beyond_any_recording_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A hand-edited stamp ends in a sentence, not in an overflow."""
    saved = tmp_path / "run.json"
    main(["convert", _raw_file(tmp_path), "--format", "json", "--output", str(saved)])
    saved.write_text(saved.read_text().replace("0.48", "1e308"))
    assert main(["convert", str(saved), "--format", "srt"]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_reference_without_words_cannot_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty truth gives no figures."""
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert main(["score", str(empty), _raw_file(tmp_path)]) == 2
    assert "holds no words" in capsys.readouterr().err


def test_wrong_arguments_are_answered_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """No page of usage: what is wrong and where the options are listed."""
    with pytest.raises(SystemExit) as ended:
        main(["convert", "x.txt", "--format", "docx"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "--help" in error


def test_an_unknown_command_lists_the_known_ones() -> None:
    """A typo ends with 2 and the choices."""
    done = subprocess.run(
        [sys.executable, "-m", "moss_demo", "transcribble"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "transcribe" in done.stderr
    assert "Traceback" not in done.stderr


def test_text_commands_load_no_model_library() -> None:
    """Parsing must not wait for torch."""
    code = (
        "import sys, io; sys.stdin = io.TextIOWrapper(io.BytesIO(b'[0][S01]a[1]'));"
        "from moss_demo.__main__ import main; main(['parse']);"
        "sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_info_names_versions_devices_and_checkpoints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One line each, and the embedded checkpoint is found."""
    assert main(["info"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["tiny"].endswith("moss-td-tiny")
    assert {"torch", "transformers", "gradio", "cpu"} <= lines.keys()


def test_a_closed_standard_output_is_no_error(tmp_path: Path) -> None:
    """As cron and some services start programs."""
    (tmp_path / "a.txt").write_text("[0.00][S01]hello[1.00]", encoding="utf-8")
    command = f"{sys.executable} -m moss_demo parse {tmp_path / 'a.txt'} >&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
