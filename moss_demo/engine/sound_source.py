"""Blocks of sound out of one file, and the libsndfile way to get them.

A source is read once, from the beginning, a block at a time, whatever the length of the file.
Down-mixing, rates and the choice between decoders belong to others.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soundfile  # type: ignore[import-untyped]  # the package ships no type information
from numpy.typing import NDArray

from moss_demo.engine.containers import Container

SOUNDFILE_READS = frozenset(
    {
        Container.AIFF,
        Container.AU,
        Container.CAF,
        Container.FLAC,
        Container.MP3,
        Container.OGG,
        Container.W64,
        Container.WAV,
    }
)
"""Where libsndfile comes first; inside these it still knows only some codecs."""

BLOCK_SAMPLES = 262_144
"""Samples of all channels together that are decoded at once: 1 MiB of float32."""

_UNKNOWN_FRAMES = 1 << 60  # libsndfile's word for "until the end", a little rounded down


class UnreadableError(Exception):
    """This decoder cannot make sound of the file; another one may."""


@dataclass(frozen=True, eq=False, slots=True)
class Block:
    """A stretch of decoded sound.

    Attributes:
        samples: float32 of shape (n, channels), integer codecs scaled to -1 to 1.
        rate_hz: samples a second.
    """

    samples: NDArray[np.float32]
    rate_hz: int

    def like(self, other: "Block") -> bool:
        """Tell whether both have the same rate and number of channels."""
        here, there = self.samples.shape[1], other.samples.shape[1]
        return self.rate_hz == other.rate_hz and here == there

    @staticmethod
    def joined(blocks: "list[Block]") -> "Block":
        """Join blocks of one kind."""
        return Block(np.concatenate([block.samples for block in blocks]), blocks[0].rate_hz)


@dataclass(slots=True)
class Losses:
    """What went missing while blocks were read; grows as the iterator moves.

    Attributes:
        damaged: passages that the decoder refused.
        gap_s: seconds of silence put where the time stamps leave a hole.
    """

    damaged: int = 0
    gap_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Source:
    """An open file.

    Attributes:
        blocks: the sound, in order, to be iterated once.
        claimed_s: length that the header states, or None where it states none to rely on.
        losses: what went missing so far.
    """

    blocks: Iterator[Block]
    claimed_s: float | None
    losses: Losses


class _ForwardSoundFile(soundfile.SoundFile):  # type: ignore[misc]  # untyped base
    """Reads straight on: the seek that the package adds to every read makes libmpg123 complain."""

    def seekable(self) -> bool:
        """Claim that the file can only be read onward."""
        return False


@contextmanager
def soundfile_source(path: Path) -> Iterator[Source]:
    """Open a file with libsndfile.

    The library gets a file descriptor and never the name, so that neither an extension nor a
    companion file next to the recording can change what is read.

    Args:
        path: a regular file.

    Yields:
        The source; decoding errors end its blocks early and count as losses.

    Raises:
        UnreadableError: libsndfile does not know the codec or the header is damaged.
    """
    with path.open("rb", buffering=0) as raw:
        try:
            sound = _ForwardSoundFile(raw.fileno(), closefd=False)
        except (soundfile.SoundFileError, TypeError, ValueError) as error:
            raise UnreadableError from error
        with sound:
            losses = Losses()
            known = 0 < sound.frames < _UNKNOWN_FRAMES
            claimed_s = sound.frames / sound.samplerate if known else None
            yield Source(_blocks(sound, losses), claimed_s, losses)


def _blocks(sound: soundfile.SoundFile, losses: Losses) -> Iterator[Block]:
    frames = max(1, BLOCK_SAMPLES // sound.channels)
    while True:
        try:
            samples = sound.read(frames, dtype="float32", always_2d=True)
        except soundfile.SoundFileError:
            losses.damaged += 1
            return
        if len(samples) == 0:
            return
        yield Block(samples, sound.samplerate)
