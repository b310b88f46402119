"""The recordings that runs are tried on."""

from pathlib import Path

import pytest

from tests.batch.turns import cut_turns, write_manifest


@pytest.fixture(scope="session")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The manifest of nine rows."""
    folder = tmp_path_factory.mktemp("turns")
    return write_manifest(folder, cut_turns(folder, 8))
