"""Which visitor an event belongs to, and the files of theirs that an event makes or uses."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import gradio as gr
from gradio.context import LocalContext
from gradio.processing_utils import save_file_to_cache
from gradio.utils import get_upload_folder

from moss_demo.errors import DiskError
from moss_demo.serving import temp_files

LOG = logging.getLogger(__name__)


@contextmanager
def writing() -> Iterator[None]:
    """Name the one reason why a file of a visitor cannot be written.

    Raises:
        DiskError: it cannot.
    """
    try:
        yield
    except OSError as error:
        LOG.error("a file of a visitor could not be written", exc_info=error)
        raise DiskError from error


def new_folder() -> Path:
    """Create a folder for files of the visitor whose event runs now."""
    return temp_files.new_folder(_root(), _visitor(LocalContext.request.get(None)))


def served(path: Path) -> str:
    """Return the path under which the page serves a file, which is the one that comes back."""
    root = _root()
    return str(path) if root in path.parents else save_file_to_cache(path, str(root))


def hold(upload: str) -> None:
    """Keep an upload while the visitor stays whose event runs now."""
    temp_files.hold(_root(), _visitor(LocalContext.request.get(None)), Path(upload))


def staying() -> Callable[[], None]:
    """Return what a run of this event calls as it goes on, so that its files are not swept."""
    return partial(temp_files.stay, _root(), _visitor(LocalContext.request.get(None)))


def leave(request: gr.Request) -> None:
    """Note that a visitor's connection ended."""
    temp_files.leave(_root(), _visitor(request))


def _root() -> Path:
    """Return the folder that the page of this event serves files from."""
    page = LocalContext.blocks.get(None)
    return Path(get_upload_folder() if page is None else page.GRADIO_CACHE)


def _visitor(request: gr.Request | None) -> str:
    """Return the name that a browser gave this opening of the page; no other one knows it."""
    return (request and request.session_hash) or ""
