"""Uploads: gathered in one folder, zips bounded, nothing outside ever named."""

import errno
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from moss_demo.batch.archive import MAX_FILES, unpack
from moss_demo.batch.upload import gather
from moss_demo.errors import DiskError, ManifestError

MEGABYTE = 1 << 20


def _zip(path: Path, fill: Callable[[zipfile.ZipFile], None]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        fill(archive)
    return path


def _files(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def test_a_zip_comes_out_as_it_went_in(tmp_path: Path) -> None:
    """Folders are kept; what systems put beside files is left out."""

    def fill(archive: zipfile.ZipFile) -> None:
        archive.writestr("set/a.wav", b"sound")
        archive.writestr("set/会议.txt", "words")
        archive.writestr("__MACOSX/set/._a.wav", b"fork")
        archive.writestr("set/.DS_Store", b"junk")

    out = tmp_path / "out"
    out.mkdir()
    assert unpack(_zip(tmp_path / "a.zip", fill), out, MEGABYTE) == 10
    assert _files(out) == ["set/a.wav", "set/会议.txt"]


@pytest.mark.parametrize(
    "name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:/evil.txt"]
)
def test_a_path_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    """Nothing is written anywhere else."""
    archive = _zip(tmp_path / "a.zip", lambda z: z.writestr(name, b"x"))
    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match="leads out"):
        unpack(archive, tmp_path / "out", MEGABYTE)
    assert _files(tmp_path) == ["a.zip"]


def test_a_link_is_refused(tmp_path: Path) -> None:
    """A member that would become a link to a file of the server is not written."""

    def fill(archive: zipfile.ZipFile) -> None:
        member = zipfile.ZipInfo("passwd.txt")
        member.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(member, "/etc/passwd")

    archive = _zip(tmp_path / "a.zip", fill)
    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match="a link"):
        unpack(archive, tmp_path / "out", MEGABYTE)
    assert _files(tmp_path / "out") == []


def test_a_bomb_is_given_up_at_the_limit(tmp_path: Path) -> None:
    """A hundred kilobytes that unpack to a hundred megabytes stop at one."""
    archive = _zip(tmp_path / "a.zip", lambda z: z.writestr("zeros.wav", bytes(100 * MEGABYTE)))
    assert archive.stat().st_size < MEGABYTE
    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match="unpacks to more"):
        unpack(archive, tmp_path / "out", MEGABYTE)
    assert sum(p.stat().st_size for p in (tmp_path / "out").iterdir()) <= MEGABYTE


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    """A zip of nothing but names costs no disk."""

    def fill(archive: zipfile.ZipFile) -> None:
        for number in range(MAX_FILES + 1):
            archive.writestr(f"{number}", b"")

    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match="files; send at most"):
        unpack(_zip(tmp_path / "a.zip", fill), tmp_path / "out", MEGABYTE)


def test_folders_in_folders_are_refused(tmp_path: Path) -> None:
    """A name of four kilobytes would be two thousand folders, which no clean-up gets rid of."""
    archive = _zip(tmp_path / "a.zip", lambda z: z.writestr("a/" * 2_000 + "x.wav", b"x"))
    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match="folders in each other"):
        unpack(archive, tmp_path / "out", MEGABYTE)
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_damage_within_a_compressed_file_is_refused(method: int, tmp_path: Path) -> None:
    """Every kind of compression has an error of its own for it."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("a.wav", b"sound" * 200)
    whole = path.read_bytes()
    at = whole.index(b"a.wav") + len(b"a.wav")
    (tmp_path / "out").mkdir()
    for end in range(at + 4, at + 24):
        path.write_bytes(whole[:at] + bytes(b ^ 0xFF for b in whole[at:end]) + whole[end:])
        with pytest.raises(ManifestError, match="cannot be unpacked"):
            unpack(path, tmp_path / "out", MEGABYTE)


def test_a_full_disk_is_not_the_fault_of_the_zip(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its sender is told to come back, not to rename a file."""

    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    archive = _zip(tmp_path / "a.zip", lambda z: z.writestr("d/a.wav", b"sound"))
    monkeypatch.setattr(Path, "mkdir", fail)
    with pytest.raises(DiskError, match="disk is full"):
        unpack(archive, tmp_path / "out", MEGABYTE)


@pytest.mark.parametrize(
    ("change", "reason"),
    [(lambda b: b[:40], "cannot be unpacked"), (lambda b: b.replace(b"words", b"wards"), "CRC")],
)
def test_a_damaged_zip_is_refused(
    change: Callable[[bytes], bytes], reason: str, tmp_path: Path
) -> None:
    """A torn file and one whose content was changed are named."""
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "words")
    path.write_bytes(change(path.read_bytes()))
    (tmp_path / "out").mkdir()
    with pytest.raises(ManifestError, match=reason):
        unpack(path, tmp_path / "out", MEGABYTE)


def test_recordings_and_references_are_paired_whatever_they_came_in(tmp_path: Path) -> None:
    """Loose files and a zip together; two files of one name both stay."""
    first, second, out = tmp_path / "1", tmp_path / "2", tmp_path / "out"
    for folder in (first, second, out):
        folder.mkdir()
    (first / "a.wav").write_bytes(b"1")
    (second / "a.wav").write_bytes(b"2")
    (first / "a.txt").write_text("words")
    archive = _zip(tmp_path / "z.zip", lambda z: z.writestr("b.wav", b"3"))
    uploads = [first / "a.wav", second / "a.wav", first / "a.txt", archive]
    manifest, sources = gather(uploads, out, MEGABYTE)
    assert [(e.audio, e.reference) for e in manifest.entries] == [
        ("a-2.wav", None), ("a.wav", "a.txt"), ("b.wav", None)
    ]  # fmt: skip
    assert sources.confined


def test_a_manifest_in_the_upload_leads(tmp_path: Path) -> None:
    """Inside a zip it may lie in a folder; a reference table is not mistaken for one."""
    (tmp_path / "out").mkdir()

    def fill(archive: zipfile.ZipFile) -> None:
        archive.writestr("set/list.csv", "audio;reference\na.wav;a.csv\n")
        archive.writestr("set/a.wav", b"1")
        archive.writestr("set/b.wav", b"2")
        archive.writestr("set/a.csv", "start,end,speaker,text\n0,1,A,yes\n")

    manifest, sources = gather([_zip(tmp_path / "a.zip", fill)], tmp_path / "out", MEGABYTE)
    (entry,) = manifest.entries
    assert sources.audio(entry).read_bytes() == b"1"
    reference = sources.reference(entry)
    assert reference is not None
    assert reference.text == "yes"


def test_two_manifests_are_one_too_many(tmp_path: Path) -> None:
    """Which one is meant cannot be guessed."""
    for name in ("a.jsonl", "b.jsonl"):
        (tmp_path / name).write_text('{"audio": "x.wav"}')
    (tmp_path / "out").mkdir()
    uploads = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    with pytest.raises(ManifestError, match="several manifests"):
        gather(uploads, tmp_path / "out", MEGABYTE)


def test_a_zip_writes_over_nothing(tmp_path: Path) -> None:
    """A name that is taken may be a second name of a file that others have too."""
    shared, folder = tmp_path / "talk.wav", tmp_path / "upload"
    shared.write_bytes(b"shared")
    folder.mkdir()
    for name in ("a.zip", "b.zip"):
        with zipfile.ZipFile(tmp_path / name, "w") as packed:
            packed.writestr("talk.wav", name)
    manifest, _ = gather([shared, tmp_path / "a.zip", tmp_path / "b.zip"], folder, 1_000)
    assert shared.read_bytes() == b"shared"
    found = {entry.audio: (folder / entry.audio).read_bytes() for entry in manifest.entries}
    assert sorted(found.values()) == [b"a.zip", b"b.zip", b"shared"]


@pytest.mark.parametrize("comment", [b"", b"a comment"])
def test_a_list_of_files_without_end_is_not_read(
    comment: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would fill the memory before its lines are counted."""
    monkeypatch.setattr("moss_demo.batch.archive.MAX_DIRECTORY_BYTES", 10_000)
    for count in (50, 500):
        with zipfile.ZipFile(tmp_path / f"{count}.zip", "w") as packed:
            packed.comment = comment
            for number in range(count):
                packed.writestr(f"{number}.wav", b"x")
    assert unpack(tmp_path / "50.zip", tmp_path / "few", 1_000) == 50
    with pytest.raises(ManifestError, match="lists too many files"):
        unpack(tmp_path / "500.zip", tmp_path / "many", 1_000)
