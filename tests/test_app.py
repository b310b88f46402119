"""Starting the page: what a host sees when a setting is wrong."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    ("variables", "words", "message"),
    [
        ({"MOSS_DEMO_MAX_MINUTES": "many"}, [], "MOSS_DEMO_MAX_MINUTES"),
        ({"MOSS_DEMO_MODEL": "/nowhere"}, [], "/nowhere"),
        ({"GRADIO_SERVER_PORT": "abc"}, [], "GRADIO_SERVER_PORT"),
        ({"GRADIO_TEMP_DIR": "/dev/null"}, [], "GRADIO_TEMP_DIR"),
        ({}, ["--port", "99999"], "--port"),
        ({}, ["--device", "cuda:9"], "cuda:9"),
    ],
)
def test_a_wrong_setting_ends_the_start_in_one_line(
    variables: dict[str, str], words: list[str], message: str
) -> None:
    """Status 2 and a sentence that names the setting; no traceback.

    The user has no home that can be written to, as a container may give one: nothing needs it.
    """
    done = subprocess.run(
        [sys.executable, str(ROOT / "app.py"), *words],
        env={"PATH": "/usr/bin:/bin", "HOME": "/dev/null", **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr
