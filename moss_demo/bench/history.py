"""Reports on disk: the newest few, readable by whoever can read the folder.

Only reports on built-in samples or on noise come here; what visitors' recordings gave stays in
their session. A folder that cannot be written costs the history, never the measurement.
"""

import os
import tempfile
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
                f"The report cannot be kept in {self.folder} ({error.strerror}); download it, or "
                "set MOSS_DEMO_REPORTS to a folder that can be written."
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


def open_history(folder: Path | None) -> History:
    """Return the history in a folder, or in the first usual place that can be written.

    Args:
        folder: what the host chose, None for a cache of the user's, else the temporary folder.
    """
    if folder is not None:
        return History(folder)
    user = os.getuid() if hasattr(os, "getuid") else "user"
    fallback = Path(tempfile.gettempdir()) / f"moss-demo-{user}" / "reports"
    try:
        cache = Path.home() / ".cache"
    except RuntimeError:  # a container's user may have no home
        return History(fallback)
    return History(cache / "moss_demo" / "reports" if _is_writable(cache) else fallback)


def _is_writable(folder: Path) -> bool:
    """Tell whether a folder can be written, or made where it is not there yet."""
    existing = next((path for path in (folder, *folder.parents) if path.exists()), folder)
    return existing.is_dir() and os.access(existing, os.W_OK)
