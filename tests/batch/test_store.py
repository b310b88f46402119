"""What a run's folder says when nothing can be written there."""

import errno
from pathlib import Path

import pytest

from moss_demo.batch.store import write_whole
from moss_demo.errors import DiskError, MossDemoError, RequestError


@pytest.mark.parametrize(
    ("number", "kind", "sentence"),
    [
        (errno.ENOSPC, DiskError, "The disk is full"),
        (errno.EROFS, RequestError, "run cannot be written to"),
    ],
)
def test_a_folder_that_takes_no_file_is_no_fault_of_the_model(
    number: int,
    kind: type[MossDemoError],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """One sentence says what is wrong; the draft takes nobody's name."""

    def fail(*_: object) -> None:
        raise OSError(number, "of the system")

    (tmp_path / "run").mkdir()
    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(kind, match=sentence):
        write_whole(tmp_path / "run" / "plan.json", lambda file: file.write(b"{}"))
    assert not (tmp_path / "run" / "plan.json").exists()
