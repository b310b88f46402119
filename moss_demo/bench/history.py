"""Reports on disk: the newest few, readable by whoever can read the folder.

Only reports on built-in samples or on noise come here; what visitors' recordings gave stays in
their session. A folder that cannot be written costs the history, never the measurement.
"""

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from moss_demo.bench.comparing import report_title
from moss_demo.bench.report import Report
from moss_demo.bench.report_json import MAX_REPORT_BYTES, read_report, report_json
from moss_demo.errors import ReportError

MAX_REPORTS = 50
SUFFIX = ".report.json"


@dataclass(frozen=True, slots=True)
class Kept:
    """A report that lies in the folder.

    Attributes:
        name: name of its file, which identifies it.
        title: what a list shows.
    """

    name: str
    title: str


@dataclass(frozen=True, slots=True)
class History:
    """A folder of reports.

    Attributes:
        folder: where they lie; made when the first one is kept.
    """

    folder: Path

    def keep(self, report: Report) -> str:
        """Write a report, and drop the oldest ones beyond `MAX_REPORTS`.

        Returns:
            The name of its file.

        Raises:
            ReportError: the folder cannot be written.
        """
        found = report.environment
        stamp = "".join(c for c in (found.started_at if found else "") if c.isdigit())[:14]
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, path = tempfile.mkstemp(SUFFIX, f"{stamp or '0'}-", self.folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(report_json(report))
            for old in self._files()[MAX_REPORTS:]:
                old.unlink(missing_ok=True)
        except OSError as error:
            raise ReportError(
                "The report cannot be kept in ",
                self.folder,
                f" ({error.strerror}); download it, or set MOSS_DEMO_CACHE to a folder that can "
                "be written.",
            ) from error
        return Path(path).name

    def kept(self) -> tuple[Kept, ...]:
        """List the reports, the newest first; files that are none are passed over."""
        found = []
        for path in self._files():
            try:
                found.append(Kept(path.name, report_title(self.load(path.name))))
            except ReportError:
                continue
        return tuple(found)

    def load(self, name: str) -> Report:
        """Read a report of the folder.

        Raises:
            ReportError: there is none of that name, or it is damaged.
        """
        path = next((path for path in self._files() if path.name == name), None)
        try:
            if path is None or path.stat().st_size > MAX_REPORT_BYTES:
                raise ReportError("That report is not there any more; choose another one.")
            return read_report(path.read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError) as error:
            raise ReportError("That report cannot be read; choose another one.") from error

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob(f"*{SUFFIX}"), reverse=True)


def open_history(cache: Path) -> History:
    """Return the history in the host's cache, or in the temporary folder if that is read-only."""
    with suppress(RuntimeError):  # nobody's home
        folder = cache.expanduser().absolute()
        existing = next(path for path in (folder, *folder.parents) if path.exists())
        if os.access(existing, os.W_OK):
            return History(folder / "reports")
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return History(Path(tempfile.gettempdir()) / f"moss_demo-{user}" / "reports")
