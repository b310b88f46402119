"""Where the text of a command goes and where it comes from."""

import sys
from collections.abc import Iterable
from pathlib import Path

from moss_demo.errors import TranscriptError

MAX_TEXT_BYTES = 64 << 20
"""A transcript of days is smaller; more is some other file."""


def write_output(text: str, path: Path | None) -> None:
    """Write text to a file, or to standard output when there is none.

    Raises:
        TranscriptError: the file cannot be written.
    """
    if path is None:
        sys.stdout.reconfigure(encoding="utf-8", newline="")  # type: ignore[union-attr]
        sys.stdout.write(text if text.endswith("\n") or not text else text + "\n")
        return
    try:
        path.write_text(text, encoding="utf-8", newline="")
    except OSError as error:
        raise TranscriptError(path, f" cannot be written ({error.strerror}).") from error


def check_output(path: Path | None) -> None:
    """See before long work whether its result will have a place.

    Raises:
        TranscriptError: the file's folder is missing, or a folder has its name.
    """
    if path is not None and (path.is_dir() or not path.absolute().parent.is_dir()):
        why = "is a folder" if path.is_dir() else "cannot be written: its folder does not exist"
        raise TranscriptError(path, f" {why}.")


def warn(sentences: Iterable[str]) -> None:
    """Print warnings to standard error, one a line."""
    for sentence in sentences:
        print(f"warning: {sentence}", file=sys.stderr)


def read_text(source: str) -> str:
    """Read a UTF-8 file, or standard input for `-`; damaged characters become U+FFFD.

    Raises:
        TranscriptError: the file is missing, unreadable, no text or far too large.
    """
    content = sys.stdin.buffer.read(MAX_TEXT_BYTES) if source == "-" else _read(Path(source))
    if b"\0" in content:
        raise TranscriptError(Path(source), " is no text file; name a transcript.")
    return content.decode("utf-8", errors="replace")


def _read(path: Path) -> bytes:
    try:
        if path.stat().st_size > MAX_TEXT_BYTES:
            raise TranscriptError(path, " is too large for a transcript; name a text file.")
        return path.read_bytes()
    except OSError as error:
        raise TranscriptError(path, f" cannot be read ({error.strerror}).") from error
