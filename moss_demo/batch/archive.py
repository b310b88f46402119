"""Unpacks a zip that a stranger sent: paths inside the folder only, sizes bounded, no links."""

import errno
import lzma
import os
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath

from moss_demo.errors import DiskError, ManifestError

MAX_FILES = 10_000
MAX_FOLDERS = 16
"""Around a file; thousands would be made, and could not be deleted again, for a few bytes."""

MAX_DIRECTORY_BYTES = 16 << 20
"""Of the list of files in a zip: 1,600 for each that may be in it."""

_BLOCK_BYTES = 1 << 20
_LAST_RECORD, _LAST_RECORD_BYTES = b"PK\5\6", 22 + (1 << 16)
"""Ends every zip, with a comment of 64 KiB at most behind it (APPNOTE 4.3.16)."""

_JUNK = ("__MACOSX",)


def unpack(archive: Path, folder: Path, most_bytes: int) -> int:
    """Unpack a zip into a folder.

    What the archive says of its sizes is not believed: bytes are counted as they are written.

    Args:
        archive: the zip.
        folder: where its files go, below their own folders.
        most_bytes: what all files together may have.

    Returns:
        Bytes that were written.

    Raises:
        ManifestError: it is no zip, is locked, names something outside the folder, holds a link or
            more than is allowed.
        DiskError: the disk is full.
    """
    try:
        if _directory_bytes(archive) > MAX_DIRECTORY_BYTES:
            raise _refused(archive, f"lists too many files; send at most {MAX_FILES:,}")
        with zipfile.ZipFile(archive) as opened:
            members = [m for m in opened.infolist() if not m.is_dir() and not _is_junk(m.filename)]
            if len(members) > MAX_FILES:
                raise _refused(archive, f"holds {len(members):,} files; send at most {MAX_FILES:,}")
            written = 0
            for member in members:
                path = free_name(folder / _inside(archive, member))
                path.parent.mkdir(parents=True, exist_ok=True)
                written += _write(archive, opened, member, path, most_bytes - written)
            return written
    except (zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError) as error:
        raise _damaged(archive, error) from error
    except RuntimeError as error:  # how the library says that a password is needed
        raise _refused(archive, "is locked; send it without a password") from error
    except (OSError, ValueError) as error:
        number = error.errno if isinstance(error, OSError) else errno.EINVAL
        if number == errno.ENOSPC:
            raise DiskError from error
        if number is None:  # bzip2's word for damage
            raise _damaged(archive, error) from error
        raise _refused(archive, "holds a file that cannot be written; rename it") from error


def _directory_bytes(archive: Path) -> int:
    """Return the size of the list of files, which is read whole before its lines are counted."""
    with archive.open("rb") as file:
        file.seek(max(0, archive.stat().st_size - _LAST_RECORD_BYTES))
        tail = file.read()
    last = tail[-22:]
    if not (last.startswith(_LAST_RECORD) and last.endswith(b"\0\0")):  # a comment follows
        at = tail.rfind(_LAST_RECORD)
        last = tail[at:] if at >= 0 else b""  # no zip; the library says so
    return int.from_bytes(last[12:16], "little")


def free_name(path: Path) -> Path:
    """Return the path, with a number where something has it already.

    What lies there may be a second name of a file that others have too: it is never written to.
    """
    found, number = path, 1
    while os.path.lexists(found):
        number += 1
        found = path.with_name(f"{path.stem}-{number}{path.suffix}")
    return found


def _inside(archive: Path, member: zipfile.ZipInfo) -> PurePosixPath:
    """Return the member's path within the folder."""
    path = PurePosixPath(member.filename.replace("\\", "/"))
    if len(path.parts) > MAX_FOLDERS:
        raise _refused(archive, f"holds more than {MAX_FOLDERS} folders in each other; pack fewer")
    leads_out = path.is_absolute() or ".." in path.parts or ":" in path.parts[0]
    if leads_out or stat.S_ISLNK(member.external_attr >> 16):
        what = "a path that leads out of it" if leads_out else "a link"
        raise _refused(archive, f"holds {what} ({member.filename[:80]}); pack plain files only")
    return path


def _write(
    archive: Path, opened: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, most_bytes: int
) -> int:
    written = 0
    with opened.open(member) as source, path.open("xb") as target:
        while block := source.read(_BLOCK_BYTES):
            written += len(block)
            if written > most_bytes:
                raise _refused(archive, "unpacks to more than this server takes; send less")
            target.write(block)
    return written


def _is_junk(name: str) -> bool:
    """Tell what systems put beside the files of a person: hidden files and resource forks."""
    parts = PurePosixPath(name.replace("\\", "/")).parts
    return not parts or parts[0] in _JUNK or parts[-1].startswith(".")


def _damaged(archive: Path, error: Exception) -> ManifestError:
    return _refused(archive, f"cannot be unpacked ({error}); pack it again")


def _refused(archive: Path, reason: str) -> ManifestError:
    return ManifestError(f"{archive.name} {reason}.")
