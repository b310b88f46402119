"""Errors a person can act on: each message is one sentence with the cause and the remedy.

Whatever is raised here reaches the page as a toast and the shell as one line; anything else that
escapes is a bug. Model text that does not parse is data and never an error.
"""


class MossDemoError(Exception):
    """Base of every error whose message is meant for the person at the keyboard."""


class AudioError(MossDemoError):
    """The recording cannot be used: unreadable, without sound, too short or too long."""


class RequestError(MossDemoError):
    """A setting of the run is impossible or contradicts another one."""


class CheckpointError(MossDemoError):
    """A checkpoint is missing, incomplete or of a layout that is not known."""


class DeviceError(MossDemoError):
    """The device is missing, out of memory or lost."""


class DeviceMemoryError(DeviceError):
    """The device has too little memory for what was asked; less of it may fit."""


class TranscriptError(MossDemoError):
    """A transcript file cannot be read or cannot be written in the wanted format."""


class ReportError(MossDemoError):
    """A benchmark report cannot be read, kept or compared."""


class ManifestError(MossDemoError):
    """A list of recordings cannot be read or holds none."""
