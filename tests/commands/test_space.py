"""The folder for a Space holds the app, the target's packages and nothing else."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from moss_demo.__main__ import main
from moss_demo.engine.checkpoints import PUBLISHED

ROOT = Path(__file__).parents[2]


def _front_matter(readme: str) -> dict[str, str]:
    block = readme.split("---")[1]
    return dict(re.findall(r"^(\w+): *(.*)$", block, re.MULTILINE))


@pytest.fixture
def space(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    """The folder as the command writes it."""
    folder = tmp_path / "space"
    assert main(["space", str(folder), *request.param]) == 0
    return folder


@pytest.mark.parametrize("space", [[]], indirect=True)
def test_the_folder_holds_the_app_and_no_tests(space: Path) -> None:
    """It starts from there as it does from here, and is small enough to push."""
    assert {path.name for path in space.iterdir()} >= {"app.py", "README.md", "requirements.txt"}
    assert not [p for p in space.rglob("*") if p.name in ("tests", "__pycache__", "tiny")]
    assert sum(p.stat().st_size for p in space.rglob("*") if p.is_file()) < 60 << 20
    sample = space / "assets" / "samples" / "two-speakers.flac"
    with subprocess.Popen(
        [sys.executable, "app.py", "--device", "cpu"],
        cwd=space,
        env={"PATH": "/usr/bin:/bin", "HOME": str(space.parent), "OMP_NUM_THREADS": "1"}
        | {"GRADIO_SERVER_PORT": os.environ["GRADIO_SERVER_PORT"]},
        stdout=subprocess.PIPE,
        text=True,
    ) as app:
        try:
            assert app.stdout is not None
            address = app.stdout.readline().removeprefix("Open ").strip()
            told = httpx.post(
                f"{address}v1/audio/transcriptions",
                data={"model": "tiny", "response_format": "text", "max_new_tokens": "40"},
                files={"file": sample.read_bytes()},
                timeout=300,
            )
        finally:
            app.terminate()
    assert told.text.startswith("hello ben can you hear me"), told.text


@pytest.mark.parametrize("space", [["--zero-gpu"]], indirect=True)
def test_zero_gpu_gets_what_it_supports(space: Path) -> None:
    """Its torch, the package that lends GPUs, its hardware; all else as pinned."""
    ours = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    theirs = (space / "requirements.txt").read_text(encoding="utf-8").splitlines()
    torch = next(line for line in theirs if line.startswith("torch=="))
    assert (2, 8) <= tuple(map(int, re.findall(r"\d+", torch)[:2])) <= (2, 11)
    assert set(ours) - set(theirs) == {"torch==2.13.0"}
    assert [line for line in theirs if line.startswith("spaces")]
    front = _front_matter((space / "README.md").read_text(encoding="utf-8"))
    assert front["suggested_hardware"] == "zero-a10g"
    assert front["python_version"] == '"3.12.12"'


def test_the_readme_configures_a_space_completely() -> None:
    """Every key that a GPU Space reads is there, and names what the project pins."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    front = _front_matter(readme)
    assert front.keys() >= {
        "title", "emoji", "colorFrom", "colorTo", "sdk", "sdk_version", "python_version",
        "app_file", "license", "short_description", "suggested_hardware", "models",
        "preload_from_hub", "startup_duration_timeout",
    }  # fmt: skip
    assert (front["sdk"], front["app_file"]) == ("gradio", "app.py")
    assert len(front["short_description"]) <= 60
    assert f"  - {PUBLISHED.repo}\n" in readme.split("---")[1]
    repo, files, revision = readme.split("preload_from_hub:\n  - ")[1].splitlines()[0].split()
    assert (repo, revision) == (PUBLISHED.repo, PUBLISHED.revision)
    assert {"config.json", "model.safetensors.index.json"} < set(files.split(","))


def test_a_folder_with_something_in_it_is_left_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is overwritten; the sentence says what to do."""
    (tmp_path / "mine.txt").write_text("keep", encoding="utf-8")
    assert main(["space", str(tmp_path)]) == 2
    assert "name a new folder" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_place_that_cannot_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line, as for every other command."""
    (tmp_path / "file").write_bytes(b"")
    assert main(["space", str(tmp_path / "file" / "space")]) == 2
    assert "cannot be written" in capsys.readouterr().err
