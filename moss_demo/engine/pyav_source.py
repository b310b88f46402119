"""Blocks of sound through FFmpeg's libraries, for all that libsndfile cannot read.

The demuxer is always given and never guessed, the file is handed over as bytes and never as a
name, and a demuxer that asks for another file is refused. Knows nothing of mixing or rates.
This module needs the optional package `av` and is imported only when a recording needs it.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NoReturn

import av
import numpy as np
from av.audio.frame import AudioFrame
from av.audio.resampler import AudioResampler
from av.audio.stream import AudioStream
from av.container import InputContainer
from numpy.typing import NDArray

from moss_demo.engine.containers import Container
from moss_demo.engine.sound_source import Block, Losses, Source, UnreadableError

_STATES_LENGTH = frozenset(
    {
        Container.AIFF,
        Container.ASF,
        Container.AVI,
        Container.CAF,
        Container.FLAC,
        Container.MATROSKA,
        Container.MOV,
        Container.WAV,
    }
)
"""Containers whose header holds a length; elsewhere FFmpeg estimates it from the bit rate."""

_MAX_PLANES = 8

_BLOCK_FRAMES = 32_768
"""Codec frames are joined up to this length, because every block costs some work of its own."""

_GAP_MIN_S = 0.02
"""Time stamps in whole milliseconds and codec delays wander by less."""

_GAPS_MAX_S = 600.0
"""Holes that add up to more come from a broken clock and are not filled."""


def audio_codecs(path: Path, container: Container) -> tuple[str, ...]:
    """Name the codec of every audio track.

    Raises:
        UnreadableError: the file is damaged.
    """
    with _opened(path, container) as opened:
        contexts = [stream.codec_context for stream in opened.streams.audio]
        return tuple(context.name if context else "unknown" for context in contexts)


@contextmanager
def pyav_source(path: Path, container: Container, track: int) -> Iterator[Source]:
    """Open one audio track of a file.

    Args:
        path: a regular file.
        container: what its content was recognised as; no other demuxer is tried.
        track: index among the audio tracks.

    Yields:
        The source; damaged packets are skipped and count as losses, and where time stamps leave
        a hole it is filled with silence, so that times agree with a player's.

    Raises:
        UnreadableError: the file is damaged or the codec unknown.
    """
    with _opened(path, container) as opened:
        reader = _Reader(opened, opened.streams.audio[track])
        claimed_s = reader.claimed_s() if container in _STATES_LENGTH else None
        yield Source(reader.blocks(), claimed_s, reader.losses)


@contextmanager
def _opened(path: Path, container: Container) -> Iterator[InputContainer]:
    with path.open("rb") as file:
        try:
            opened = av.open(
                _Bytes(file),
                mode="r",
                format=container.value,
                metadata_errors="replace",
                io_open=_refuse_other_files,
            )
        except (av.error.FFmpegError, ValueError) as error:
            raise UnreadableError from error
        with opened:
            yield opened


@dataclass(frozen=True, slots=True)
class _Bytes:
    """A file without its name, whose impossible seeks fail quietly: PyAV prints what is raised."""

    file: BinaryIO

    def read(self, size: int) -> bytes:
        return self.file.read(size)

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self.file.seek(offset, whence)
        except (OSError, OverflowError, ValueError):
            return -1

    def tell(self) -> int:
        return self.file.tell()


def _refuse_other_files(*_args: object) -> NoReturn:
    raise PermissionError("a recording may not open another file")


@dataclass(slots=True)
class _Reader:
    """One pass over one track, with the clock that finds holes."""

    opened: InputContainer
    stream: AudioStream
    losses: Losses = field(default_factory=Losses)
    reached_s: float = 0.0
    interleaver: tuple[tuple[str, int, str, int], AudioResampler] | None = None

    def __post_init__(self) -> None:
        # a codec without a decoder, or with impossible parameters, has no context
        if self.stream.codec_context is None:
            raise UnreadableError

    @property
    def origin_s(self) -> float:
        """Time stamp at which a player starts."""
        return (self.opened.start_time or 0) / 1e6

    def claimed_s(self) -> float | None:
        """Length from the player's start to the end of the track, as the header states it."""
        stream = self.stream
        if stream.duration and stream.time_base is not None:
            start_s = float((stream.start_time or 0) * stream.time_base)
            return max(0.0, start_s - self.origin_s) + float(stream.duration * stream.time_base)
        # the length of a whole file may be that of its picture
        if self.opened.duration and not self.opened.streams.video:
            return self.opened.duration / 1e6
        return None

    def blocks(self) -> Iterator[Block]:
        """Yield the sound of the track with its holes filled, many small frames at a time."""
        pending: list[Block] = []
        length = 0
        for block in self._filled():
            if pending and not (length < _BLOCK_FRAMES and block.like(pending[0])):
                yield Block.joined(pending)
                pending, length = [], 0
            pending.append(block)
            length += len(block.samples)
        if pending:
            yield Block.joined(pending)

    def _filled(self) -> Iterator[Block]:
        for frame in self._frames():
            samples, rate_hz = _as_float(frame), frame.sample_rate
            if rate_hz <= 0:
                raise UnreadableError
            gap_s = self._gap_s(frame)
            if gap_s > 0.0:
                silence = np.zeros((round(gap_s * rate_hz), samples.shape[1]), np.float32)
                yield Block(silence, rate_hz)
            self.reached_s += gap_s + len(samples) / rate_hz
            yield Block(samples, rate_hz)

    def _frames(self) -> Iterator[AudioFrame]:
        packets = self.opened.demux(self.stream)
        while True:
            try:
                packet = next(packets, None)
            except IndexError:  # a stream that was not there at the start; go on without it
                packets = self.opened.demux(self.stream)
                continue
            except av.error.FFmpegError:
                self.losses.damaged += 1
                return
            if packet is None:
                return
            try:
                frames = packet.decode()
            except av.error.FFmpegError:
                self.losses.damaged += 1
                continue
            for frame in frames:
                if isinstance(frame, AudioFrame):
                    yield self._interleaved(frame)

    def _interleaved(self, frame: AudioFrame) -> AudioFrame:
        """Interleave many planar channels: PyAV reads beyond the last of eight planes or more."""
        channels = frame.layout.nb_channels
        if not frame.format.is_planar or channels < _MAX_PLANES:
            return frame
        kind = (frame.format.name, channels, frame.layout.name, frame.sample_rate)
        if self.interleaver is None or self.interleaver[0] != kind:
            converter = AudioResampler(frame.format.packed, frame.layout, frame.sample_rate)
            self.interleaver = (kind, converter)
        try:
            (converted,) = self.interleaver[1].resample(frame)
        except (av.error.FFmpegError, ValueError) as error:
            raise UnreadableError from error
        converted.pts, converted.time_base = frame.pts, frame.time_base
        return converted

    def _gap_s(self, frame: AudioFrame) -> float:
        if frame.pts is None or frame.time_base is None:
            return 0.0
        gap_s = frame.pts * float(frame.time_base) - self.origin_s - self.reached_s
        if gap_s < _GAP_MIN_S or self.losses.gap_s + gap_s > _GAPS_MAX_S:
            return 0.0
        if self.reached_s > 0.0:  # a track that starts late has lost nothing
            self.losses.gap_s += gap_s
        return gap_s


def _as_float(frame: AudioFrame) -> NDArray[np.float32]:
    """Return the samples of a frame as float32 of shape (n, channels)."""
    try:
        samples = frame.to_ndarray()
    except (KeyError, ValueError) as error:  # a sample format that numpy has no name for
        raise UnreadableError from error
    planar = frame.format.is_planar
    samples = samples.T if planar else samples.reshape(-1, frame.layout.nb_channels)
    if samples.dtype == np.uint8:
        return (samples.astype(np.float32) - 128.0) / 128.0
    if np.issubdtype(samples.dtype, np.integer):
        return samples.astype(np.float32) / float(2 ** (8 * samples.dtype.itemsize - 1))
    with np.errstate(over="ignore"):  # float64 beyond float32 becomes infinite and is zeroed later
        return samples.astype(np.float32)
