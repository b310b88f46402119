"""Turns what a visitor uploaded into entries: recordings, references, a manifest, or a zip of them.

All files are gathered in one folder of the session, and nothing outside it can be named.
"""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from moss_demo.batch.archive import free_name, unpack
from moss_demo.batch.manifest import Manifest, folder_manifest, is_manifest, read_manifest
from moss_demo.batch.sources import MAX_MANIFEST_BYTES, Sources, read_text_file
from moss_demo.errors import ManifestError

MANIFEST_SUFFIXES = frozenset({".jsonl", ".ndjson", ".csv", ".tsv"})


def gather(uploads: Sequence[Path], folder: Path, most_bytes: int) -> tuple[Manifest, Sources]:
    """Put uploads into a folder and read what is to be evaluated.

    Args:
        uploads: files as they were uploaded, with their own names.
        folder: an empty folder of this upload.
        most_bytes: what the files of all zips together may have.

    Raises:
        ManifestError: there is no recording, or more than one manifest, or a zip is refused.
    """
    for upload in uploads:
        if upload.suffix.lower() == ".zip":
            most_bytes -= unpack(upload, folder, most_bytes)
        else:
            _place(upload, folder)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    manifests = [path for path in files if _is_manifest(path)]
    if len(manifests) > 1:
        shown = ", ".join(path.name for path in manifests[:3])
        raise ManifestError(f"There are several manifests ({shown}); upload one of them.")
    if manifests:
        text = read_text_file(manifests[0], MAX_MANIFEST_BYTES)
        return read_manifest(text), Sources(manifests[0].parent, confined=True)
    names = [path.relative_to(folder).as_posix() for path in files]
    return folder_manifest(names), Sources(folder, confined=True)


def _place(upload: Path, folder: Path) -> None:
    """Give an upload a second name in the folder; a name that is taken gets a number."""
    path = free_name(folder / upload.name)
    try:
        os.link(upload, path)
    except OSError:
        shutil.copyfile(upload, path)


def _is_manifest(path: Path) -> bool:
    if path.suffix.lower() not in MANIFEST_SUFFIXES:
        return False
    with path.open("rb") as file:
        return is_manifest(file.read(4_096).decode("utf-8", errors="replace"))
