"""What the README tells people to type works, and what it points to is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from moss_demo.domain.exports import ExportFormat
from moss_demo.settings import from_environment

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
COMMANDS = [line for block in BLOCKS for line in block.splitlines() if "-m moss_demo" in line]


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda c: re.sub(r"\s+#.*|.*-m moss_demo ", "", c)
)
def test_command_lines_run(command: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Each line of the README's shell blocks ends with 0, in order, in one folder."""
    folder = tmp_path_factory.getbasetemp() / "readme"
    folder.mkdir(exist_ok=True)
    if not (folder / "assets").exists():
        (folder / "assets").symlink_to(ROOT / "assets")
    line = command.split("  #")[0].replace("python -m", f"{sys.executable} -m")
    done = subprocess.run(
        ["bash", "-c", line],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT), "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_install_lines_name_files_that_exist() -> None:
    """The two commands install from files of this repository."""
    named = set(re.findall(r"-r (\S+)", README))
    assert named == {"requirements.txt", "tests/requirements.txt"}
    assert all((ROOT / name).is_file() for name in named)


def test_links_and_pictures_lead_somewhere() -> None:
    """Relative targets exist."""
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        if "://" not in target:
            assert (ROOT / target).exists(), target


def test_the_tree_is_the_real_one() -> None:
    """Every file and folder in the README's tree exists."""
    tree = README.split("## The tree")[1].split("```")[1]
    for line in tree.strip().splitlines():
        name = line.split()[0]
        assert (ROOT / name).exists(), name


def test_front_matter_pins_the_installed_gradio() -> None:
    """A Space installs the version the project was tested with."""
    sdk = re.search(r"^sdk_version: (\S+)", README, re.MULTILINE)
    pinned = re.search(r"^gradio==(\S+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert sdk
    assert pinned
    assert sdk[1] == pinned[1]


def test_counts_in_the_text_are_right() -> None:
    """The README says how many formats there are."""
    assert len(ExportFormat) == 15
    assert "fifteen formats" in README


VALUES = {
    "MOSS_DEMO_MODEL": "tiny",
    "MOSS_DEMO_AUTH": "ann:secret",
    "MOSS_DEMO_ALLOW_DOWNLOAD": "0",
    "MOSS_DEMO_FULL_BENCHMARK": "0",
    "MOSS_DEMO_REMOTES": "gpu=http://gpu:8000/v1",
}
"""Of settings that are no numbers."""


def test_settings_listed_are_settings_read() -> None:
    """Each environment variable in the README changes a setting."""
    names = set(re.findall(r"`(MOSS_DEMO_\w+)`", README))
    assert names
    for name in names:
        value = VALUES.get(name, "7")
        assert from_environment({name: value}) != from_environment({}), name


def test_the_container_uses_variables_that_are_listed() -> None:
    """What the Dockerfile sets stands in the README's table, and its files are here."""
    dockerfile = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    block = dockerfile.split("ENV ")[1].split("VOLUME")[0]
    names = set(re.findall(r"(\w+)=", block)) - {"HOME"}
    assert names
    assert {name for name in names if f"`{name}`" not in README} == set()
    for line in re.findall(r"^COPY (.*) \S+$", dockerfile, re.MULTILINE):
        assert all((ROOT / name).exists() for name in line.split())


def test_tests_named_in_the_security_review_exist() -> None:
    """Each attack points to the tests that hold it off."""
    review = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    for name in re.findall(r"`(tests/\S+\.py)`", review):
        assert (ROOT / name).is_file(), name
