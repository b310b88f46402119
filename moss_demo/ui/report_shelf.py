"""The reports a visitor can look at: those of the session, those kept here, those that ship."""

from dataclasses import dataclass
from pathlib import Path

from moss_demo.bench.comparing import report_title
from moss_demo.bench.history import History
from moss_demo.bench.report import Report
from moss_demo.bench.report_json import read_report
from moss_demo.errors import ReportError
from moss_demo.serving.context import ASSETS

SHIPPED = ASSETS / "reports"
MAX_IN_SESSION = 8

_SESSION, _KEPT, _SHIPPED = "session", "kept", "shipped"

Session = tuple[tuple[int, Report], ...]
"""Reports that nobody else sees, each with a number of its own, the newest last."""


@dataclass(frozen=True, slots=True)
class Shelf:
    """Names reports by keys that a page can hold.

    Attributes:
        history: reports that are kept on this server.
        shipped: folder of reports that ship with the project.
    """

    history: History
    shipped: Path = SHIPPED

    def choices(self, session: Session) -> list[tuple[str, str]]:
        """List title and key of every report.

        The session's come first, then those kept here, the newest first; those that ship follow,
        the one with the most in it first.
        """
        own = [
            (f"This session: {report_title(report)}", f"{_SESSION}:{number}")
            for number, report in session
        ]
        kept = [(row.title, f"{_KEPT}:{row.name}") for row in self.history.kept()]
        keys = [f"{_SHIPPED}:{path.name}" for path in sorted(self.shipped.glob("*.json"))]
        shipped = [(self.load(key, session), key) for key in keys]
        shipped.sort(key=lambda row: -len(row[0].cases))
        references = [(f"Reference report: {report_title(report)}", key) for report, key in shipped]
        return [*reversed(own), *kept, *references]

    def load(self, key: str, session: Session) -> Report:
        """Return the report of a key.

        Raises:
            ReportError: it is not there any more, or there never was such a key.
        """
        kind, _, name = key.partition(":")
        if kind == _KEPT:
            return self.history.load(name)
        if kind == _SESSION:
            own = next((report for number, report in session if str(number) == name), None)
            if own is not None:
                return own
        path = next((path for path in self.shipped.glob("*.json") if path.name == name), None)
        if kind != _SHIPPED or path is None:
            raise ReportError("That report is not there any more; choose another one.")
        return read_report(path.read_text(encoding="utf-8"))

    def keep(self, report: Report) -> str:
        """Keep a report for everybody and return its key.

        Raises:
            ReportError: the folder cannot be written.
        """
        return f"{_KEPT}:{self.history.keep(report)}"


def with_report(session: Session, report: Report) -> tuple[Session, str]:
    """Add a report to the session; returns it with the key of the report."""
    number = session[-1][0] + 1 if session else 0
    return (*session, (number, report))[-MAX_IN_SESSION:], f"{_SESSION}:{number}"
