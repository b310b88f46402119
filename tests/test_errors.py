"""Visitors read names, the host reads paths: of every file of the host's, in one place."""

import ast
import pickle
from pathlib import Path

import pytest

from moss_demo.errors import CheckpointError, name_of, without_folders

SOURCES = Path(__file__).parents[1] / "moss_demo"
PATHS = {"path", "folder", "file", "directory", "root"}


def test_a_message_names_files_and_only_the_host_sees_where_they_lie() -> None:
    """Also after a process has handed the error to another one."""
    error = CheckpointError("config.json is missing in ", Path("/srv/models/mine"), "; copy it.")
    for copy in (error, pickle.loads(pickle.dumps(error))):
        assert str(copy) == "config.json is missing in mine; copy it."
        assert copy.in_full == "config.json is missing in /srv/models/mine; copy it."


def test_a_path_without_a_name_gets_that_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A host may start in the folder of its checkpoint."""
    monkeypatch.chdir(tmp_path)
    assert name_of(Path()) == tmp_path.name
    assert name_of(Path("/")) == "/"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("No such file: '/srv/models/a b.json'", "No such file: 'a b.json'"),
        ("in /tmp/x/cab.py:3, see http://host:8000/v1/x", "in cab.py:3, see http://host:8000/v1/x"),
        ("16 kHz and/or <b>3/4</b>", "16 kHz and/or <b>3/4</b>"),
    ],
)
def test_what_libraries_say_loses_its_folders(text: str, shown: str) -> None:
    """Their sentences reach reports that visitors read; addresses and fractions are no paths."""
    assert without_folders(text) == shown


def test_no_message_is_written_around_a_path() -> None:
    """A path in a formatted string would reach visitors in full; it is a part of its own."""
    found = []
    sources = [p for p in sorted(SOURCES.rglob("*.py")) if p.parent.name not in ("api", "tiny")]
    for source in sources:  # the one has addresses alone, the other no visitors
        for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call):
                found += [
                    f"{source.relative_to(SOURCES)}:{value.lineno}"
                    for value in ast.walk(node.exc)
                    if isinstance(value, ast.FormattedValue) and _last_word(value.value) in PATHS
                ]
    assert found == []


def _last_word(value: ast.expr) -> str:
    name = value.attr if isinstance(value, ast.Attribute) else getattr(value, "id", "")
    return name.removeprefix("_")
