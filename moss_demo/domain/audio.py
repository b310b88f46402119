"""The decoded waveform that everything downstream shares. Knows nothing of files or containers."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000
"""Rate of every clip: the log-mel front end of the model takes nothing else."""

MIN_DURATION_S = 0.1
"""Shorter recordings hold no word and are refused."""


@dataclass(frozen=True, eq=False)
class AudioClip:
    """A mono recording ready for the model.

    Attributes:
        name: what the person calls the recording; shown, never used as a path.
        samples: float32 of shape (n,), n > 0, finite, nominally within -1 to 1.
        sample_rate: samples a second, always `SAMPLE_RATE_HZ` after decoding.
        warnings: what the decoder had to skip, choose or repair, one sentence each.
    """

    name: str
    samples: NDArray[np.float32]
    sample_rate: int = SAMPLE_RATE_HZ
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no stage after this one could handle.

        Raises:
            ValueError: the samples are not a non-empty mono float32 vector.
        """
        if self.samples.ndim != 1 or self.samples.size == 0:
            raise ValueError(f"a clip needs a non-empty mono vector, not {self.samples.shape}")
        if self.samples.dtype != np.float32:
            raise ValueError(f"a clip needs float32 samples, not {self.samples.dtype}")

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.samples.size / self.sample_rate

    @cached_property
    def digest(self) -> str:
        """First 16 hex digits of the SHA-256 of the samples: the same sound has the same digest."""
        return hashlib.sha256(self.samples.tobytes()).hexdigest()[:16]
