"""The folder of a run: its plan, who works on which part, and the rows of finished parts.

Every file appears whole or not at all, so that a process may be killed at any point. A part is
finished when its marker is there. A claim is a lock of the operating system, which vanishes with
its owner: a part whose worker was killed is free again at once. Knows nothing of recordings.
"""

import errno
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq  # type: ignore[import-untyped]  # ships no types

from moss_demo.batch.plan import Plan, read_plan, write_plan
from moss_demo.batch.rows import ClipRow, Row, TimingRow, arrow_table
from moss_demo.errors import DiskError, MossDemoError, RequestError

PLAN = "plan.json"

KINDS: dict[str, type[Row]] = {"clips": ClipRow, "timings": TimingRow}
"""The two tables of a run."""


class Store:
    """Reads and writes a run's folder; any number of processes may share it."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when something is written."""
        self.folder = folder
        self._parts = folder / "parts"

    def is_empty(self) -> bool:
        """Tell whether nothing would be overwritten; a run that died at its first step counts.

        Raises:
            RequestError: it is no folder.
        """
        begun = {self._parts.name, f"{PLAN}.draft"}
        if self.folder.exists() and not self.folder.is_dir():
            raise RequestError(self.folder, " is a file; name a folder for the results.")
        return not self.folder.exists() or all(f.name in begun for f in self.folder.iterdir())

    def read_plan(self) -> Plan | None:
        """Return the recorded plan, or None before the first run.

        Raises:
            ManifestError: it is damaged.
        """
        path = self.folder / PLAN
        return read_plan(path.read_bytes()) if path.exists() else None

    def write_plan(self, plan: Plan) -> None:
        """Record the plan.

        Raises:
            DiskError: the disk is full.
            RequestError: the folder cannot be written to.
        """
        try:
            self._parts.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _unwritten(self.folder, error) from error
        text = write_plan(plan)
        write_whole(self.folder / PLAN, lambda file: _write(file, text.encode()))

    @contextmanager
    def claim(self, part: int, *, waits: bool = False) -> Iterator[bool]:
        """Take a part for the length of the block, unless a living process has it.

        Args:
            part: its number.
            waits: wait until the other process has finished or died.

        Yields:
            Whether the part is ours.
        """
        flags = fcntl.LOCK_EX if waits else fcntl.LOCK_EX | fcntl.LOCK_NB
        with self._path(part, "lock").open("wb") as file:
            try:
                fcntl.flock(file, flags)
            except BlockingIOError:
                yield False
                return
            yield True

    def is_done(self, part: int) -> bool:
        """Tell whether a part's rows are written."""
        return self._path(part, "done").exists()

    def write_part(self, part: int, clips: Sequence[ClipRow], timings: Sequence[TimingRow]) -> None:
        """Write the rows of a claimed part, then its marker."""
        for name, rows in (("clips", clips), ("timings", timings)):
            table = arrow_table(KINDS[name], rows)
            path = self._path(part, f"{name}.parquet")
            write_whole(path, partial(pq.write_table, table))
        write_whole(self._path(part, "done"), lambda _: None)

    def part_file(self, part: int, name: str) -> Path:
        """Return the Parquet file of a finished part, `clips` or `timings`."""
        return self._path(part, f"{name}.parquet")

    def rows_that_fit(self, part: int, batch: int) -> int | None:
        """Return how many rows of a batch fitted the device, None where all did so far."""
        path = self._path(part, f"batch-{batch}.rows")
        return int(path.read_text(encoding="ascii")) if path.exists() else None

    def note_rows_that_fit(self, part: int, batch: int, rows: int) -> None:
        """Record a smaller batch before it is tried, so that a resumed run tries the same."""
        path = self._path(part, f"batch-{batch}.rows")
        write_whole(path, lambda file: _write(file, str(rows).encode()))

    def _path(self, part: int, suffix: str) -> Path:
        return self._parts / f"{part:06}.{suffix}"


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Let `write` fill a file that takes its name only when it is complete and on the disk.

    Only one process at a time may write a path.

    Raises:
        DiskError: the disk is full.
        RequestError: the folder cannot be written to.
    """
    try:
        draft = path.with_name(f"{path.name}.draft")
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise _unwritten(path.parent, error) from error


def _unwritten(folder: Path, error: OSError) -> MossDemoError:
    if error.errno == errno.ENOSPC:
        return DiskError()
    return RequestError(folder, f" cannot be written to ({error.strerror}); name another folder.")


def _write(file: BinaryIO, content: bytes) -> None:
    file.write(content)
