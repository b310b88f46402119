import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moss_demo.errors import MossDemoError
from moss_demo.tiny.kokoro import Kokoro


@pytest.fixture
def package(tmp_path: Path) -> Iterator[Path]:
    """An empty folder in the place of the package, which no later test may import."""
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] == "kokoro"]:
        del sys.modules[name]


def test_modules_that_were_not_fetched_are_asked_for(package: Path) -> None:
    """The sentence says which module is missing and which command brings it."""
    with pytest.raises(MossDemoError, match=r"lack kokoro\.istftnet; run fetch again"):
        Kokoro(package, package / "kokoro.pt")


def test_the_package_that_the_modules_need_is_named(
    package: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The module is called attr, the package attrs."""
    (package / "istftnet.py").write_text("from attr import attr\n", encoding="utf-8")
    monkeypatch.setitem(sys.modules, "attr", None)
    with pytest.raises(MossDemoError, match="lack attr; pip install attrs"):
        Kokoro(package, package / "kokoro.pt")
