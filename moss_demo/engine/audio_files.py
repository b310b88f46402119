"""Read any recording into the one waveform that everything downstream shares.

What a file is comes from its content and never from its name. Each refusal is one sentence with
the cause and the remedy. How containers, codecs and mixing work is known to the modules used
here; what the sound means to none of them.
"""

import stat
from dataclasses import dataclass
from pathlib import Path

from moss_demo.domain.audio import MIN_DURATION_S, SAMPLE_RATE_HZ, AudioClip
from moss_demo.domain.encodable import encodable
from moss_demo.engine.containers import HEAD_BYTES, Container, foreign_kind, headerless, recognise
from moss_demo.engine.sound_source import UnreadableError
from moss_demo.engine.track import (
    MissingDecoderError,
    NoAudioTrackError,
    Track,
    read_track,
    stated_duration_s,
)
from moss_demo.engine.waveform import TooLongError, Waveform, repair
from moss_demo.errors import AudioError

_SHOWN_CHARS = 80


@dataclass(frozen=True, slots=True)
class _Recording:
    """A file on its way to a clip, and the sentences that refuse it."""

    path: Path
    name: str

    def refused(self, reason: str) -> AudioError:
        """Build the sentence that begins with the name of the recording."""
        shown, half = self.name, _SHOWN_CHARS // 2
        if len(shown) > _SHOWN_CHARS:
            shown = f"{shown[:half]}…{shown[-half:]}"
        return AudioError(f'"{shown}" {reason}')


def read_audio(
    path: Path, *, name: str | None = None, max_duration_s: float | None = None
) -> AudioClip:
    """Decode a recording to mono float32 at 16 kHz.

    Args:
        path: the file; its name says nothing about its format.
        name: what the person calls the recording, the base name of the path by default.
        max_duration_s: refuse longer recordings, without decoding them to their end.

    Returns:
        The clip, with one warning for everything that was chosen, repaired or lost.

    Raises:
        AudioError: the file is missing, no recording, without sound, too short or too long.
    """
    recording = _Recording(path, _displayable(path.name if name is None else name))
    track = _decoded(recording, _recognised(recording), max_duration_s)
    _check_sound(recording, track.waveform)
    samples, repairs = repair(track.waveform.samples)
    return AudioClip(recording.name, samples, warnings=track.warnings + repairs)


def glance_duration_s(path: Path) -> float | None:
    """Return the length that a recording's header states, in a fraction of a millisecond or so.

    None where the header states none, and for whatever `read_audio` would refuse: that says why.
    """
    try:
        recording = _Recording(path, path.name)
        return stated_duration_s(path, _recognised(recording))
    except (AudioError, OSError):
        return None


def _displayable(name: str) -> str:
    """Replace what cannot be printed: undecodable bytes, controls and line breaks."""
    return "".join(char if char.isprintable() else "\ufffd" for char in encodable(name))


def _recognised(recording: _Recording) -> Container:
    """Find out what the file is.

    Raises:
        AudioError: it cannot be opened or is no recording.
    """
    try:
        container, head = _looked_into(recording)
    except FileNotFoundError:
        raise recording.refused("does not exist; check the path.") from None
    except PermissionError:
        raise recording.refused("may not be read; change its permissions.") from None
    except (OSError, ValueError):  # names that are too long or hold a NUL byte among others
        raise recording.refused("cannot be opened; check the path and the disk.") from None
    if container is not None:
        return container
    if (kind := foreign_kind(head)) is not None:
        raise recording.refused(f"is {kind} and not a recording; choose an audio or video file.")
    container = headerless((recording.path.suffix, Path(recording.name).suffix))
    if container is None:
        raise recording.refused(
            "is not a readable audio file; export it as WAV, FLAC, MP3 or MP4 with its header."
        )
    return container


def _looked_into(recording: _Recording) -> tuple[Container | None, bytes]:
    """Return the container, if the content tells, and the first bytes."""
    status = recording.path.stat()
    if stat.S_ISDIR(status.st_mode):
        raise recording.refused("is a folder; choose a file inside it.")
    if not stat.S_ISREG(status.st_mode):
        raise recording.refused("is not a regular file; save the recording to a file first.")
    if status.st_size == 0:
        raise recording.refused("is empty; record or upload it again.")
    with recording.path.open("rb") as file:
        container = recognise(file)
        file.seek(0)
        return container, file.read(HEAD_BYTES)


def _decoded(recording: _Recording, container: Container, limit_s: float | None) -> Track:
    """Decode the file and name whatever stands in the way.

    Raises:
        AudioError: no sound comes out, or more than the limit.
    """
    try:
        return read_track(recording.path, container, limit_s)
    except TooLongError:
        raise recording.refused(
            f"is longer than the limit of {_length(limit_s or 0.0)}; cut it into shorter parts."
        ) from None
    except NoAudioTrackError:
        raise recording.refused("has no audio track; choose a file with sound.") from None
    except MissingDecoderError:
        raise recording.refused(
            "needs the package av to be read; install it with 'pip install av' or convert the "
            "recording to WAV, FLAC or MP3."
        ) from None
    except UnreadableError:
        raise recording.refused(
            "cannot be decoded, it is damaged or of an unknown kind; export it as WAV or FLAC."
        ) from None
    except OSError:
        raise recording.refused("could not be read to its end; check the disk.") from None


def _check_sound(recording: _Recording, waveform: Waveform) -> None:
    """Refuse what holds nothing to listen to.

    Raises:
        AudioError: there are no samples, none that is a number, or too few.
    """
    if waveform.seen == 0:
        raise recording.refused("holds no audio samples; record or export it again.")
    if waveform.unusable == waveform.seen:
        raise recording.refused(
            "holds only undefined or infinite samples; export it again from its source."
        )
    if len(waveform.samples) < round(MIN_DURATION_S * SAMPLE_RATE_HZ):
        raise recording.refused(
            f"lasts {waveform.duration_s:.3f} s, and at least {MIN_DURATION_S:g} s are needed; "
            "choose a longer recording."
        )


def _length(duration_s: float) -> str:
    return f"{duration_s:g} s" if duration_s < 120 else f"{duration_s / 60:.4g} minutes"
