"""Choose the decoder and the audio track of a recognised file, and say what was lost.

libsndfile comes first, FFmpeg's libraries take what it cannot read or cannot read to the end.
Knows nothing of names, of messages of refusal or of what a file that was not recognised may be.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import TypeAlias

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.engine.containers import Container
from moss_demo.engine.integrity import Integrity, inspect
from moss_demo.engine.sound_source import (
    SOUNDFILE_READS,
    Losses,
    Source,
    UnreadableError,
    soundfile_source,
)
from moss_demo.engine.waveform import TooLongError, Waveform, collect

_Opener: TypeAlias = Callable[[], AbstractContextManager[Source]]

_TAIL_MAX_S = 0.1
"""Codecs pad their last frame by less; what exceeds the stated length by less is cut."""

_SHORTFALL_S = 0.25
"""A recording that ends so much before its stated length was cut short."""

_MAX_TRACKS = 16


class MissingDecoderError(Exception):
    """The optional package `av` is needed and not installed."""


class NoAudioTrackError(Exception):
    """The file can be opened and holds pictures only."""


@dataclass(frozen=True, eq=False, slots=True)
class Track:
    """One track as a waveform, with what its decoder lost.

    Attributes:
        waveform: the sound; may be empty.
        claimed_s: length that the header states, if any.
        losses: what the decoder could not read.
        integrity: what the framing of the file says.
        opposite: whether only one channel was used because the channels cancel each other.
        tracks: audio tracks in the file.
        index: which of them this is.
    """

    waveform: Waveform
    claimed_s: float | None
    losses: Losses
    integrity: Integrity
    opposite: bool = False
    tracks: int = 1
    index: int = 0

    @property
    def ends_early(self) -> bool:
        """Whether clearly less came out than the header states."""
        return self.waveform.duration_s < (self.claimed_s or 0.0) - _SHORTFALL_S

    @property
    def complete(self) -> bool:
        """Whether nothing was lost."""
        return self.waveform.seen > 0 and not self.losses.damaged and not self.ends_early

    @property
    def warnings(self) -> tuple[str, ...]:
        """What was chosen, repaired and lost, one sentence each."""
        cut_short = self.integrity.cut_short or self.ends_early
        found = []
        if self.tracks > 1:
            reason = "; those before it are silent" if self.index else ""
            found.append(f"Of {self.tracks} audio tracks, track {self.index + 1} was used{reason}.")
        if self.opposite:
            found.append("The channels cancel each other out, so only the loudest one was used.")
        if self.waveform.unusable:
            found.append(
                f"{self.waveform.unusable} undefined or infinite samples were set to zero."
            )
        # a file that ends within a packet always has that one damaged
        if self.integrity.damaged or self.losses.damaged > (1 if cut_short else 0):
            found.append("Damaged passages were skipped.")
        if self.losses.gap_s > 0:
            found.append(f"Holes of {self.losses.gap_s:.2f} s in total were filled with silence.")
        if cut_short:
            found.append("The file ends before its recording does; what is there was used.")
        return tuple(found)


def read_track(path: Path, container: Container, limit_s: float | None) -> Track:
    """Decode with libsndfile where it delivers everything, else with PyAV.

    Args:
        path: a regular file.
        container: what its content was recognised as.
        limit_s: longest recording that is accepted.

    Raises:
        MissingDecoderError: PyAV is needed and not installed.
        NoAudioTrackError: the file holds pictures only.
        UnreadableError: no decoder can make sound of it.
        TooLongError: it exceeds the limit; noticed from the header or while decoding.
    """
    integrity = inspect(path, container)
    by_soundfile = partial(_by_soundfile, path, integrity, limit_s)
    readable = container in SOUNDFILE_READS
    # of a hurt file libsndfile conceals what is missing, and its MP3 part prints on standard error;
    # one that nobody counted it ends where it guesses the end to be
    hurt = integrity.damaged or (integrity.cut_short and container is Container.MP3)
    hurt |= integrity.uncounted
    found = by_soundfile() if readable and not hurt else None
    if found is not None and found.complete:
        return found
    try:
        other = _by_pyav(path, container, integrity, limit_s)
    except (MissingDecoderError, NoAudioTrackError, UnreadableError):
        if readable and hurt:
            found = by_soundfile()
        if found is None or found.waveform.seen == 0:
            raise
        return found
    if found is None:
        return other
    # FFmpeg hides damage that libsndfile stops at
    other.losses.damaged = max(other.losses.damaged, found.losses.damaged)
    return max(other, found, key=lambda track: track.waveform.duration_s)


def stated_duration_s(path: Path, container: Container) -> float | None:
    """Return the length that the header states, or None where it states none; decodes nothing.

    Raises:
        OSError: the file cannot be read.
    """
    try:
        if inspect(path, container).uncounted:
            return None
        if container in SOUNDFILE_READS:
            with soundfile_source(path) as source:
                return source.claimed_s
        pyav = load_pyav()
        if not pyav.audio_codecs(path, container):
            return None
        with pyav.pyav_source(path, container, 0) as source:
            claimed_s: float | None = source.claimed_s
            return claimed_s
    except (MissingDecoderError, NoAudioTrackError, UnreadableError):
        return None


def load_pyav() -> ModuleType:
    """Import the module that needs the optional package `av`; most recordings do without it.

    Raises:
        MissingDecoderError: the package is not installed.
    """
    try:
        from moss_demo.engine import pyav_source
    except ImportError as error:
        raise MissingDecoderError from error
    return pyav_source


def _by_soundfile(path: Path, integrity: Integrity, limit_s: float | None) -> Track | None:
    try:
        return _collected(partial(soundfile_source, path), integrity, limit_s)
    except UnreadableError:
        return None


def _by_pyav(
    path: Path, container: Container, integrity: Integrity, limit_s: float | None
) -> Track:
    """Decode the first track that is not silent, or the first when all are."""
    pyav = load_pyav()
    tracks = len(pyav.audio_codecs(path, container))
    if tracks == 0:
        raise NoAudioTrackError
    kept: Track | None = None
    for index in range(min(tracks, _MAX_TRACKS)):
        opened = partial(pyav.pyav_source, path, container, index)
        try:
            found = _collected(opened, integrity, limit_s)
        except UnreadableError:
            continue
        track = replace(found, tracks=tracks, index=index)
        if not track.waveform.silent:
            return track
        if kept is None or kept.waveform.seen == 0:
            kept = track
    if kept is None:
        raise UnreadableError
    return kept


def _collected(opened: _Opener, integrity: Integrity, limit_s: float | None) -> Track:
    """Read a source to its end, and a second time where its channels cancel each other."""
    with opened() as source:
        claimed_s = None if integrity.uncounted else source.claimed_s
        if limit_s is not None and claimed_s is not None and claimed_s > limit_s:
            raise TooLongError
        waveform = collect(source.blocks, limit_s)
    opposite = waveform.cancels
    if opposite:
        channel = waveform.loudest_channel
        with opened() as source:
            waveform = collect(source.blocks, limit_s, channel)
    if claimed_s is not None and 0 < waveform.duration_s - claimed_s < _TAIL_MAX_S:
        stated = waveform.samples[: round(claimed_s * SAMPLE_RATE_HZ)]
        waveform = replace(waveform, samples=stated)
    return Track(waveform, claimed_s, source.losses, integrity, opposite=opposite)
