"""Errors a person can act on: each message is one sentence with the cause and the remedy.

Whatever is raised here reaches the page as a toast and the shell as one line; anything else that
escapes is a bug. Model text that does not parse is data and never an error.
"""

import re
from collections.abc import Sequence
from typing import Protocol

_FOLDERS = re.compile(r"""(?<![\w/.<:])/(?:[^\s/:'"<>]+/)+""")


class Place(Protocol):
    """A path of the host's. Pure code imports this module, which so knows no file system."""

    @property
    def name(self) -> str:
        """The last part, empty for the folder that a process works in."""

    def resolve(self) -> "Place":
        """Return the whole path."""


def name_of(path: Place) -> str:
    """Return what visitors read of a path of the host's: its last part, never where it lies."""
    return path.name or path.resolve().name or "/"


def without_folders(text: str) -> str:
    """Cut paths in a text that somebody else wrote down to their last part."""
    return _FOLDERS.sub("", text)


class MossDemoError(Exception):
    """Base of every error whose message is meant for the person at the keyboard.

    A message is made of texts and of paths of the host's. Visitors read it as `str`, which has
    the names of these paths only; the command line, whose reader owns the files, prints `in_full`.
    """

    def __init__(self, *parts: str | Place) -> None:
        """Take the parts of the message, to be read without anything between them."""
        super().__init__(*parts)

    def __str__(self) -> str:
        """Return the message as visitors read it."""
        return "".join(p if isinstance(p, str) else name_of(p) for p in self.args)

    @property
    def in_full(self) -> str:
        """The message as the host reads it."""
        return "".join(map(str, self.args))


class AudioError(MossDemoError):
    """The recording cannot be used: unreadable, without sound, too short or too long."""


class RequestError(MossDemoError):
    """A setting of the run is impossible or contradicts another one."""


class CheckpointError(MossDemoError):
    """A checkpoint is missing, incomplete or of a layout that is not known."""


class NotOfferedError(RequestError):
    """A visitor asked for something that the host does not offer."""

    def __init__(self, kind: str, offered: Sequence[str]) -> None:
        """Name what there is instead."""
        super().__init__(f"This server does not offer that {kind}; choose {' or '.join(offered)}.")


class DeviceError(MossDemoError):
    """The device is missing, out of memory or lost."""


class DeviceMemoryError(DeviceError):
    """The device has too little memory for what was asked; less of it may fit."""


class DeviceLostError(DeviceError):
    """The device answers no call of this process any more; only a new process gets it back."""


class BusyError(MossDemoError):
    """More runs wait for the device than the host allows."""

    def __init__(self, waiting: int, wait_s: float | None) -> None:
        """Say how many wait and when to come back.

        Args:
            waiting: runs in the line behind the one on the device.
            wait_s: about how long they take, or None when that is not known.
        """
        self.retry_after_s = max(1, round(wait_s or 60))
        minutes = max(1, round(self.retry_after_s / 60))
        super().__init__(
            f"This server is busy: {waiting} run{'' if waiting == 1 else 's'} waiting. "
            f"Try again in about {minutes} minute{'' if minutes == 1 else 's'}."
        )


class RemoteError(MossDemoError):
    """A remote engine cannot be reached, refuses, or answers something else."""


class DiskError(MossDemoError):
    """There is no room for a file."""

    def __init__(self) -> None:
        """Say what is lost and what is not."""
        super().__init__(
            "The disk is full: nothing can be written now, and what is done stays. "
            "Copy the text that you need, make room, or try again in a few minutes."
        )


class TranscriptError(MossDemoError):
    """A transcript file cannot be read or cannot be written in the wanted format."""


class ReportError(MossDemoError):
    """A benchmark report cannot be read, kept or compared."""


class ManifestError(MossDemoError):
    """A list of recordings cannot be read or holds none."""


class EditError(MossDemoError):
    """A change that a person wants in a transcript is impossible."""
