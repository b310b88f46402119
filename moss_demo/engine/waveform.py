"""Turn blocks of any rate and channel count into one mono waveform of 16 kHz.

Works on numbers alone, a block at a time, so that a long recording at a high rate never lies
in memory as a whole. Knows nothing of files, codecs or names.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import soxr  # type: ignore[import-untyped]  # the package ships no marker for its type information
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.engine.sound_source import Block, UnreadableError

MIN_RATE_HZ = 2_000
MAX_RATE_HZ = 1_000_000
"""Outside of these the rate is a broken header; resampling would need absurd memory."""

MAX_CHANNELS = 256

_ABSURD = 2.0**33
"""Integer samples kept in float files reach 2^31; what is larger is garbage like infinity."""

_CANCELLING = 0.05
"""Independent channels keep 1/n of their power in the mean; below a twentieth of that they
cancel."""

_SILENT_CHANNEL = 1e-6
"""Power relative to the loudest channel (-60 dB) below which a channel holds nothing."""

_SILENT_PEAK = 1e-4
"""A track whose peak stays below -80 dBFS holds nothing."""

_OVERSHOOT = 1.5
"""Lossy codecs and resampling go a little over 1 without any harm."""

_OFFSET = 0.02
"""A constant part that is worth a word."""

_QUIET = 10 ** (-50 / 20)
"""Below a peak of -50 dBFS little of 16-bit samples is left."""


class TooLongError(Exception):
    """More sound came than the limit allows."""


@dataclass(frozen=True, eq=False, slots=True)
class Waveform:
    """A mono waveform with what was seen on the way.

    Attributes:
        samples: float32 of shape (n,) at 16 kHz, finite; n may be 0.
        seen: samples a channel before resampling, all channels together.
        unusable: how many of those were not numbers, infinite or absurd, and became zero.
        channel_power: mean square without the mean, by channel.
        mix_power: the same of the mono mix.
    """

    samples: NDArray[np.float32]
    seen: int
    unusable: int
    channel_power: tuple[float, ...]
    mix_power: float

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return len(self.samples) / SAMPLE_RATE_HZ

    @property
    def peak(self) -> float:
        """Largest absolute sample, 0 when there is none."""
        return _peak(self.samples)

    @property
    def silent(self) -> bool:
        """Whether nothing can be heard."""
        return self.peak < _SILENT_PEAK

    @property
    def loudest_channel(self) -> int:
        """Index of the channel with the most power."""
        return int(np.argmax(self.channel_power))

    @property
    def cancels(self) -> bool:
        """Whether the channels are each other's opposite, so that their mean loses the sound."""
        if len(self.channel_power) < 2:
            return False
        independent = sum(self.channel_power) / len(self.channel_power) ** 2
        return self.mix_power < _CANCELLING * independent


def collect(
    blocks: Iterable[Block], limit_s: float | None = None, channel: int | None = None
) -> Waveform:
    """Mix, clean and resample blocks.

    Channels without any sound do not count in the mean, so that speech in one of six channels
    keeps its level.

    Args:
        blocks: sound in order; rate and channel count may change on the way.
        limit_s: stop with an error as soon as the result exceeds this length.
        channel: take this channel instead of the mean.

    Raises:
        TooLongError: the limit is exceeded.
        UnreadableError: a block has an impossible rate or number of channels.
    """
    mix = _Mix(channel)
    for block in blocks:
        mix.add(block)
        if limit_s is not None and mix.length > limit_s * SAMPLE_RATE_HZ:
            raise TooLongError
    return mix.finish()


def repair(samples: NDArray[np.float32]) -> tuple[NDArray[np.float32], tuple[str, ...]]:
    """Bring a waveform into range and say what was done.

    A peak far above 1 is scaled to 1 and a constant offset is taken away. A quiet recording is
    left as it is and only named, because the model normalises by itself.

    Args:
        samples: shape (n,), finite, n > 0; changed in place.

    Returns:
        The samples and one sentence a finding.
    """
    warnings = []
    peak = _peak(samples)
    if peak > _OVERSHOOT:
        samples /= peak
        warnings.append(
            f"Samples reach {peak:.3g} times full scale; the recording was scaled down."
        )
    offset = float(np.mean(samples, dtype=np.float64))
    if abs(offset) > _OFFSET:
        samples -= np.float32(offset)
        warnings.append(f"A constant offset of {offset:+.2f} was removed.")
    peak = _peak(samples)
    if 0.0 < peak < _QUIET:
        level_dbfs = 20 * np.log10(peak)
        warnings.append(
            f"The recording is very quiet (peak {level_dbfs:.0f} dBFS); the transcript may suffer."
        )
    return samples, tuple(warnings)


class _Mix:
    """The waveform in the making."""

    def __init__(self, channel: int | None) -> None:
        self._channel = channel
        self._samples = np.empty(SAMPLE_RATE_HZ, np.float32)
        self._resampler: soxr.ResampleStream | None = None
        self._rate_hz = 0
        self._sums = _Sums(0)
        self._mix_sums = _Sums(1)
        self._seen = self._unusable = 0
        self.length = 0

    def add(self, block: Block) -> None:
        channels = block.samples.shape[1]
        if not (MIN_RATE_HZ <= block.rate_hz <= MAX_RATE_HZ and 0 < channels <= MAX_CHANNELS):
            raise UnreadableError
        with np.errstate(invalid="ignore"):  # signalling NaNs complain about being copied
            samples = np.ascontiguousarray(block.samples.T, dtype=np.float64)  # (channels, n)
        self._seen += samples.size
        usable = np.abs(samples) < _ABSURD  # false, too, where the sample is not a number
        if not usable.all():
            self._unusable += int(samples.size - usable.sum())
            samples = np.where(usable, samples, 0.0)
        if self._channel is None:
            mono = samples.mean(axis=0)
        else:
            mono = samples[min(self._channel, channels - 1)]
        self._sums.add(samples)
        self._mix_sums.add(mono[np.newaxis])
        self._resample(mono.astype(np.float32), block.rate_hz)

    def finish(self) -> Waveform:
        self._flush()
        self._samples.resize(self.length, refcheck=False)
        power = self._sums.power()
        active = int(np.sum(power > _SILENT_CHANNEL * power.max())) if power.size else 0
        if self._channel is None and 0 < active < power.size:
            self._samples *= np.float32(power.size / active)
        mix_power = float(self._mix_sums.power()[0])
        return Waveform(self._samples, self._seen, self._unusable, tuple(power.tolist()), mix_power)

    def _resample(self, mono: NDArray[np.float32], rate_hz: int) -> None:
        if rate_hz != self._rate_hz:
            self._flush()
            self._rate_hz = rate_hz
            if rate_hz != SAMPLE_RATE_HZ:
                self._resampler = soxr.ResampleStream(
                    rate_hz, SAMPLE_RATE_HZ, 1, dtype="float32", quality="HQ"
                )
        self._keep(mono if self._resampler is None else self._resampler.resample_chunk(mono))

    def _flush(self) -> None:
        if self._resampler is not None:
            self._keep(self._resampler.resample_chunk(np.zeros(0, np.float32), last=True))
            self._resampler = None

    def _keep(self, piece: NDArray[np.float32]) -> None:
        end = self.length + len(piece)
        if end > len(self._samples):  # growing in place costs no second copy of a long recording
            self._samples.resize(max(end, len(self._samples) * 9 // 8), refcheck=False)
        self._samples[self.length : end] = piece
        self.length = end


class _Sums:
    """Running sums of samples and squares, by channel."""

    def __init__(self, channels: int) -> None:
        self._count = 0
        self._sums = np.zeros((2, channels))

    def add(self, samples: NDArray[np.float64]) -> None:
        channels = len(samples)
        if channels > self._sums.shape[1]:
            grown = channels - self._sums.shape[1]
            self._sums = np.pad(self._sums, ((0, 0), (0, grown)))
        self._sums[0, :channels] += samples.sum(axis=1)
        self._sums[1, :channels] += np.einsum("ij,ij->i", samples, samples)
        self._count += samples.shape[1]

    def power(self) -> NDArray[np.float64]:
        if self._count == 0:
            return np.zeros(self._sums.shape[1])
        mean, mean_square = self._sums / self._count
        variance: NDArray[np.float64] = np.maximum(0.0, mean_square - mean**2)
        return variance


def _peak(samples: NDArray[np.float32]) -> float:
    return max(float(samples.max()), -float(samples.min())) if samples.size else 0.0
