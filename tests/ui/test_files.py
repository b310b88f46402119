"""Downloads: every format, safe names, one folder a run that nobody can guess."""

import errno
from pathlib import Path

import pytest

from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.exports import ExportFormat
from moss_demo.domain.transcript import Segment
from moss_demo.errors import DiskError
from moss_demo.ui.files import discard, safe_stem, write_downloads

SEGMENTS = (Segment(0.5, 2.0, "S01", "good morning"), Segment(2.0, 3.0, "S02", "hello"))
RUN = Run(
    "会议 talk.wav",
    "0" * 16,
    10.0,
    SEGMENTS,
    raw="[0.50][S01]good morning[2.00][2.00][S02]hello[3.00]",
    finished=Finished(1.0, "", (), StopReason.END_OF_TEXT),
)


def test_every_format_is_written_with_the_names_of_the_view() -> None:
    """A renamed speaker is renamed in every file that names speakers."""
    files = write_downloads(RUN, {"S01": "Alice"}, {}, ()).exports
    assert files.keys() == set(ExportFormat)
    assert len(set(files.values())) == len(ExportFormat)
    without_speakers = {ExportFormat.UEM}
    for fmt, path in files.items():
        assert ("Alice" in Path(path).read_text(encoding="utf-8")) == (fmt not in without_speakers)


def test_two_runs_never_share_a_folder() -> None:
    """The same recording twice gives two sets of files."""
    one, other = (write_downloads(RUN, {}, {}, ()) for _ in range(2))
    assert one.folder != other.folder


def test_what_is_discarded_is_gone_and_nothing_else() -> None:
    """Files of an older state of a transcript, or of a deleted run, do not fill the disk."""
    one, other = (write_downloads(RUN, {}, {}, ()) for _ in range(2))
    discard(one)
    discard(one)
    discard(None)
    assert not Path(one.folder).exists()
    assert Path(other.charts).exists()


def test_a_full_disk_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """The visitor hears what is lost; the next files are written when there is room again."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", fail)
    with pytest.raises(DiskError, match="disk is full"):
        write_downloads(RUN, {}, {}, ())
    monkeypatch.undo()
    assert Path(write_downloads(RUN, {}, {}, ()).charts).exists()


@pytest.mark.parametrize(
    ("name", "stem"),
    [
        ("talk.wav", "talk"),
        ("会议录音 – Zoë’s №1.wav", "会议录音_Zoë_s_1"),
        ("../../etc/passwd", "passwd"),
        ("..", "transcript"),
        ("-rf.wav", "rf"),
        ("a\r\nSet-Cookie: x.wav", "a_Set-Cookie_x"),
        ("会" * 200 + ".wav", "会" * 26),
    ],
)
def test_names_become_safe_files(name: str, stem: str) -> None:
    """No path, no control character, no option, bounded in bytes; letters of any script stay."""
    assert safe_stem(name) == stem
