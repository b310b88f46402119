"""Files of visitors: whose they are and when they go. The folders themselves are the record.

`visits/<visitor>/<token>/` holds what was made for a visitor, and a second name (a hard link) of
each file that they uploaded. An upload that nobody holds any more has one name left. All of it is
deleted a little after the visitor has left, or after an hour in which nothing was used; when the
folder outgrows its limit, what was not used for longest goes first.
"""

import hashlib
import logging
import os
import secrets
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LOG = logging.getLogger(__name__)

IDLE_S = 3_600.0
"""Files live that long after they were used last."""

GRACE_S = 120.0
"""A connection that breaks for less than this is not the end of a visit: phones fall asleep."""

SWEEP_S = 20.0

PROGRAMS = "api"
"""Folder of what programs sent; each file there goes with its answer."""

_VISITS = "visits"
_LEFT = "left"


def new_folder(root: Path, visitor: str) -> Path:
    """Create a folder of a visitor, with a name that nobody can guess.

    Args:
        root: folder for temporary files.
        visitor: what tells visitors apart.
    """
    visit = _visit(root, visitor)
    folder = visit / secrets.token_hex(20)
    folder.mkdir(parents=True)
    (visit / _LEFT).unlink(missing_ok=True)
    return folder


def hold(root: Path, visitor: str, upload: Path) -> None:
    """Keep an upload while its visitor stays; files from elsewhere are nobody's to delete."""
    if root not in upload.parents or root / _VISITS in upload.parents:
        return
    held = new_folder(root, visitor) / upload.parent.name
    held.mkdir()
    with suppress(OSError):  # a disk without second names: the upload then lives for its hour
        os.link(upload, held / upload.name)


def stay(root: Path, visitor: str) -> None:
    """Note that a visitor's files are in use, by a run that waits or works."""
    with suppress(FileNotFoundError):  # there are none, or the visitor has left
        os.utime(_visit(root, visitor))


def leave(root: Path, visitor: str) -> None:
    """Note that a visitor's connection ended."""
    visit = _visit(root, visitor)
    if visit.is_dir():
        (visit / _LEFT).touch()


def sweep(root: Path, max_bytes: int, now_s: float | None = None) -> None:
    """Delete what is due, and what was not used for longest while there is too much.

    Args:
        root: folder for temporary files, of this server alone.
        max_bytes: how much may stay.
        now_s: seconds since the epoch, by default now.
    """
    at_s = time.time() if now_s is None else now_s
    for visit in _folders(root / _VISITS):
        if _is_over(visit, at_s):
            _end(root, visit)
    for upload in _unheld(root):
        if upload.stat().st_ctime < at_s - IDLE_S:
            _delete(upload)
    too_much = used_bytes(root) - max_bytes
    if too_much <= 0:
        return
    left = {visit: _used_s(visit) for visit in _folders(root / _VISITS)}
    left |= {upload: upload.stat().st_ctime for upload in _unheld(root)}
    for path in sorted(left, key=lambda path: left[path]):
        if too_much <= 0:
            return
        too_much -= _end(root, path) if path.is_dir() else _delete(path)


def start_sweeping(root: Path, max_bytes: int) -> None:
    """Sweep every `SWEEP_S`, as long as the process lives."""

    def work() -> None:
        while True:
            time.sleep(SWEEP_S)
            try:
                sweep(root, max_bytes)
            except FileNotFoundError:
                continue  # a file went meanwhile; the next sweep sees the rest
            except Exception:
                LOG.exception("files of visitors could not be swept")

    threading.Thread(target=work, name="moss-demo-sweep", daemon=True).start()


class Room:
    """What visitors' files may take together, those on their way included."""

    def __init__(self, root: Path, max_bytes: int) -> None:
        """Watch the folder for temporary files."""
        self.root = root
        self._max_bytes = max_bytes
        self._coming_bytes = 0
        self._lock = threading.Lock()

    def take(self, size_bytes: int) -> bool:
        """Keep room for a file that comes, and tell whether there was enough."""
        with self._lock:
            fits = used_bytes(self.root) + self._coming_bytes + size_bytes <= self._max_bytes
            self._coming_bytes += size_bytes if fits else 0
            return fits

    def give_back(self, size_bytes: int) -> None:
        """Give up what was taken: the file is there, or will not come."""
        with self._lock:
            self._coming_bytes -= size_bytes


def used_bytes(root: Path) -> int:
    """Return the size of all files, each counted once."""
    return sum({status.st_ino: status.st_size for status in _files(root)}.values())


def _visit(root: Path, visitor: str) -> Path:
    return root / _VISITS / hashlib.sha256(visitor.encode()).hexdigest()[:40]


def _is_over(visit: Path, at_s: float) -> bool:
    left = visit / _LEFT
    return _used_s(visit) < at_s - IDLE_S or (
        left.exists() and left.stat().st_mtime < at_s - GRACE_S
    )


def _used_s(visit: Path) -> float:
    """Return when the visitor last got a file or listened to one."""
    stamps = [path.stat().st_ctime for path in visit.glob("*/**/*") if path.is_file()]
    return max([visit.stat().st_mtime, *stamps])


def _end(root: Path, visit: Path) -> int:
    """Delete what a visitor has, and uploads that nobody else holds; returns the bytes freed."""
    uploads = {root / held.parent.name / held.name: held.stat() for held in visit.glob("*/*/*")}
    statuses = list(_files(visit))
    files = {status.st_ino: status for status in statuses}
    names = Counter(status.st_ino for status in statuses)
    shutil.rmtree(visit, ignore_errors=True)  # what cannot be deleted keeps nothing else
    freed = sum(s.st_size for s in files.values() if s.st_nlink == names[s.st_ino])
    for upload, status in uploads.items():
        with suppress(FileNotFoundError):
            left = upload.stat()
            if left.st_nlink == 1 and os.path.samestat(left, status):
                freed += _delete(upload)
    return freed


def _delete(upload: Path) -> int:
    """Delete an upload that nobody holds; returns the bytes freed."""
    freed = upload.stat().st_size
    upload.unlink()
    with suppress(OSError):  # other files of the same content lie there under other names
        upload.parent.rmdir()
    return freed


def _files(folder: Path) -> Iterator[os.stat_result]:
    """Yield what the disk says of every name of a file, while others come and go."""
    for parent, _, names in os.walk(folder):  # which passes over folders that vanish
        for name in names:
            with suppress(FileNotFoundError):
                status = Path(parent, name).lstat()
                if stat.S_ISREG(status.st_mode):
                    yield status


def _unheld(root: Path) -> list[Path]:
    """List files of Gradio's that no visitor holds, unfinished uploads included."""
    loose = [path for path in _entries(root) if path.is_file()]
    for folder in _folders(root):
        if folder.name not in (_VISITS, PROGRAMS):
            loose.extend(path for path in folder.iterdir() if path.stat().st_nlink == 1)
    return loose


def _folders(parent: Path) -> list[Path]:
    return [path for path in _entries(parent) if path.is_dir()]


def _entries(parent: Path) -> list[Path]:
    return list(parent.iterdir()) if parent.is_dir() else []
