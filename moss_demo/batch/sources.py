"""Where the files of a manifest lie, and the reference behind an entry."""

import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from moss_demo.batch.manifest import Entry, Manifest, folder_manifest, names_a_file, read_manifest
from moss_demo.domain.encodable import encodable
from moss_demo.domain.references import read_reference
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import ManifestError, TranscriptError

MAX_MANIFEST_BYTES = 256 << 20
MAX_REFERENCE_BYTES = 16 << 20

BUILTIN = "builtin"
BUILTIN_MANIFEST = Path(__file__).parents[2] / "assets" / "evaluate" / "manifest.jsonl"
"""Held-out conversations that ship with the project, and the name they go by."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Resolves the names in a manifest.

    Attributes:
        root: folder that relative names start from.
        confined: nothing outside the folder may be named, as for a visitor's upload.
    """

    root: Path
    confined: bool = False

    def audio(self, entry: Entry) -> Path:
        """Return the path of an entry's recording; whether it can be read is seen later.

        Raises:
            ManifestError: the name leads out of the upload.
        """
        return self._path(entry.audio)

    def reference(self, entry: Entry) -> Transcript | None:
        """Read an entry's reference: the named file, or what is written in the row itself.

        Raises:
            ManifestError: the name leads out of the upload.
            TranscriptError: it cannot be read or is broken for its format.
        """
        written = entry.reference
        if written is None:
            return None
        if not names_a_file(written):
            return read_reference(written)
        path = self._path(written.strip())
        try:
            is_there = path.is_file()
        except OSError:  # a name that is too long is none
            is_there = False
        if not is_there:
            if any(character.isspace() for character in written.strip()):
                return read_reference(written)  # words that only end like a file's name
            raise TranscriptError(f"The reference {written} does not exist; check the path.")
        return read_reference(read_text_file(path, MAX_REFERENCE_BYTES), suffix=path.suffix)

    def _path(self, name: str) -> Path:
        path = self.root / name
        try:
            if b"\0" in os.fsencode(path):
                raise ValueError("a NUL")
            inside = not self.confined or path.resolve().is_relative_to(self.root.resolve())
        except (OSError, ValueError, RuntimeError) as error:  # the last: links that form a ring
            raise ManifestError(f"{encodable(name)!r} is no name of a file; correct it.") from error
        if self.confined:
            pure = PurePosixPath(name.replace("\\", "/"))
            if pure.is_absolute() or ".." in pure.parts or not inside:
                raise ManifestError(f"{name} lies outside the upload; name files inside it.")
        return path


def open_manifest(path: Path) -> tuple[Manifest, Sources]:
    """Read a manifest, or the recordings of a folder and what lies beside them.

    Args:
        path: file or folder; `builtin` means the set that ships with the project.

    Raises:
        ManifestError: there is nothing to evaluate, or the file cannot be read.
    """
    if path == Path(BUILTIN) and not path.exists():
        path = BUILTIN_MANIFEST
    if path.is_dir():
        names = (file.relative_to(path).as_posix() for file in path.rglob("*") if file.is_file())
        shown = (n for n in names if not any(part.startswith(".") for part in n.split("/")))
        return folder_manifest(shown), Sources(path)
    try:
        text = read_text_file(path, MAX_MANIFEST_BYTES)
    except TranscriptError as error:
        raise ManifestError(*error.args) from error
    return read_manifest(text), Sources(path.parent)


def read_text_file(path: Path, most_bytes: int) -> str:
    """Read a text file; damaged characters become U+FFFD.

    Raises:
        TranscriptError: it is missing, unreadable, too large or no text.
    """
    try:
        if path.stat().st_size > most_bytes:
            raise TranscriptError(path, " is too large for a text file of this kind.")
        content = path.read_bytes()
    except OSError as error:
        raise TranscriptError(path, f" cannot be read ({error.strerror}).") from error
    if b"\0" in content:
        raise TranscriptError(path, " is no text file; name a manifest or a transcript.")
    return content.decode("utf-8", errors="replace")
