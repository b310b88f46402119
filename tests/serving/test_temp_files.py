"""Whose files are deleted when."""

import os
import shutil
import threading
import time
from pathlib import Path

import pytest

from moss_demo.serving.temp_files import (
    GRACE_S,
    IDLE_S,
    Room,
    hold,
    leave,
    new_folder,
    sweep,
    used_bytes,
)

PLENTY = 1 << 30


def _upload(root: Path, content: str = "sound", name: str = "talk.wav") -> Path:
    """Lie there as Gradio puts it: a folder named after the content, the visitor's own name."""
    path = root / f"sha-of-{content}" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def _result(root: Path, visitor: str, content: str = "words") -> Path:
    path = new_folder(root, visitor) / "talk.srt"
    path.write_text(content, encoding="utf-8")
    return path


def test_folders_cannot_be_guessed(tmp_path: Path) -> None:
    """Neither from the visitor's name nor from one another."""
    first, second = new_folder(tmp_path, "ann"), new_folder(tmp_path, "ann")
    assert first != second
    assert first.parent == second.parent != new_folder(tmp_path, "bob").parent
    assert "ann" not in str(first.relative_to(tmp_path))
    assert len(first.name) == 40


def test_a_visitor_who_left_takes_everything_along(tmp_path: Path) -> None:
    """Uploads and results go a little after the connection ended, and nobody else's do."""
    upload, kept = _upload(tmp_path), _upload(tmp_path, "other sound")
    hold(tmp_path, "ann", upload)
    os.link(upload, new_folder(tmp_path, "ann") / "once more.wav")
    hold(tmp_path, "bob", kept)
    result, other = _result(tmp_path, "ann"), _result(tmp_path, "bob")
    leave(tmp_path, "ann")
    sweep(tmp_path, PLENTY)
    assert upload.exists()
    sweep(tmp_path, PLENTY, time.time() + GRACE_S + 1)
    assert not upload.exists()
    assert not upload.parent.exists()
    assert not result.exists()
    assert kept.exists()
    assert other.exists()


def test_a_connection_that_comes_back_keeps_its_files(tmp_path: Path) -> None:
    """Whoever makes something again has not left."""
    result = _result(tmp_path, "ann")
    leave(tmp_path, "ann")
    _result(tmp_path, "ann")
    sweep(tmp_path, PLENTY, time.time() + GRACE_S + 1)
    assert result.exists()


def test_an_upload_of_two_visitors_stays_for_the_second(tmp_path: Path) -> None:
    """The same sound is one file; it goes with the last one who holds it."""
    upload = _upload(tmp_path)
    hold(tmp_path, "ann", upload)
    hold(tmp_path, "bob", upload)
    leave(tmp_path, "ann")
    sweep(tmp_path, PLENTY, time.time() + GRACE_S + 1)
    assert upload.exists()
    leave(tmp_path, "bob")
    sweep(tmp_path, PLENTY, time.time() + GRACE_S + 1)
    assert not upload.exists()


def test_an_hour_without_use_ends_a_visit(tmp_path: Path) -> None:
    """Held or not, opened or not; what is listened to counts as used."""
    upload, unopened = _upload(tmp_path), _upload(tmp_path, "never opened")
    hold(tmp_path, "ann", upload)
    sweep(tmp_path, PLENTY, time.time() + IDLE_S - 10)
    assert upload.exists()
    assert unopened.exists()
    os.utime(upload)
    sweep(tmp_path, PLENTY, time.time() + IDLE_S + 10)
    assert not upload.exists()
    assert not unopened.exists()


def test_what_was_unused_for_longest_goes_when_there_is_too_much(tmp_path: Path) -> None:
    """The folder never stays larger than its limit."""
    old = _result(tmp_path, "ann", "x" * 600)
    time.sleep(0.02)  # file systems stamp files by the tick of a clock
    new = _result(tmp_path, "bob", "y" * 600)
    loose = _upload(tmp_path, "z" * 50)
    sweep(tmp_path, 1_000)
    assert not old.exists()
    assert new.exists()
    assert loose.exists()
    sweep(tmp_path, 60)
    assert not new.exists()
    assert loose.exists()
    sweep(tmp_path, 49)
    assert used_bytes(tmp_path) == 0


def test_no_more_goes_than_there_is_too_much(tmp_path: Path) -> None:
    """An upload of two visitors counts once and frees its place with the second of them."""
    upload = _upload(tmp_path, "x" * 60)
    for visitor in ("ann", "bob"):
        hold(tmp_path, visitor, upload)
        _result(tmp_path, visitor, "y" * 20)
        time.sleep(0.02)
    sweep(tmp_path, 80)
    assert used_bytes(tmp_path) == 80
    assert upload.exists()
    sweep(tmp_path, 79)
    assert used_bytes(tmp_path) == 0


def test_what_is_on_its_way_takes_room_too(tmp_path: Path) -> None:
    """Many uploads at once cannot fill the disk before the first one is there."""
    _result(tmp_path, "ann", "x" * 40)
    room = Room(tmp_path, 100)
    assert room.take(50)
    assert not room.take(11)
    assert room.take(10)
    room.give_back(50)
    assert room.take(50)


def test_files_that_come_and_go_are_no_error(tmp_path: Path) -> None:
    """Other requests make and delete folders while one is counting."""
    over = threading.Event()

    def work() -> None:
        while not over.is_set():
            shutil.rmtree(_result(tmp_path, "ann").parent)

    others = [threading.Thread(target=work) for _ in range(2)]
    for other in others:
        other.start()
    counted = [used_bytes(tmp_path) for _ in range(300)]
    over.set()
    for other in others:
        other.join()
    assert max(counted) <= len("words") * len(others)


def test_names_that_lead_elsewhere_are_not_held(tmp_path: Path) -> None:
    """A path outside the folder is nobody's upload, and is never deleted."""
    root = tmp_path / "root"
    foreign = tmp_path / "sample.flac"
    foreign.write_text("ours", encoding="utf-8")
    hold(root, "ann", foreign)
    sweep(root, 0, time.time() + 2 * IDLE_S)
    assert foreign.exists()


def test_a_disk_without_second_names_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where hard links fail the upload lives for its hour."""

    def fail(*_: object) -> None:
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", fail)
    upload = _upload(tmp_path)
    hold(tmp_path, "ann", upload)
    sweep(tmp_path, PLENTY)
    assert upload.exists()
