"""The map and the territory agree."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "moss_demo"
MODULES = sorted(PACKAGE.rglob("*.py"))
PAGE = (PACKAGE / "ARCHITECTURE.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_modules_stay_small(path: Path) -> None:
    """No module outgrows three hundred lines; one that does is split by noun."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300


def test_the_page_names_every_package_of_the_house() -> None:
    """A package that is not on the page is one that nobody finds."""
    packages = {p.parent.name for p in PACKAGE.glob("*/__init__.py")}
    named = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
    assert packages == named


def test_every_run_time_package_has_its_reason() -> None:
    """What is installed for users stands in the table of packages, and nothing else does."""
    lines = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    required = {re.split(r"[=<>~\[ ]", x)[0] for x in lines if x and not x.startswith("#")}
    table = PAGE.split("## Packages")[1].split("## Decisions")[0]
    named = {name for row in re.findall(r"^\| ([\w, -]+) \|", table, re.MULTILINE)
             for name in row.split(", ")} - {"package"}  # fmt: skip
    assert required == named


def test_files_named_on_the_page_exist() -> None:
    """A path on the page leads somewhere."""
    for name in re.findall(r"`((?:\w+/)+\w+(?:\.\w+)?)`", PAGE):
        assert (PACKAGE / name).exists(), name


def test_nothing_happens_at_import() -> None:
    """Modules hold definitions: no call at top level but of pure constructors."""
    for path in MODULES:
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            assert not isinstance(node, ast.For | ast.While | ast.With | ast.Try), path
            if isinstance(node, ast.Expr):
                assert isinstance(node.value, ast.Constant), path


def test_environment_variables_are_read_in_one_place() -> None:
    """Only the settings look at the environment."""
    readers = [p.name for p in MODULES if re.search(r"os\.(environ|getenv)", p.read_text("utf-8"))]
    assert readers == ["settings.py"]


def test_the_start_script_is_short() -> None:
    """`app.py` only wires arguments to the page."""
    assert len((ROOT / "app.py").read_text(encoding="utf-8").splitlines()) < 80
