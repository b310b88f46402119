"""Sounds without words, made on the fly: coloured noise, tones, hums and simple music.

What a checkpoint must stay silent on, and what it must hear speech through. Knows synthesis of such
sounds, whole batches at once; knows nothing of speech and of where the sounds are used.
"""

import torch
from torch import Tensor

from moss_demo.domain.audio import SAMPLE_RATE_HZ

_PEAK_NOTE_S = 0.6
_HARMONICS = 5


def coloured_noise(colour: Tensor, samples: int, generator: torch.Generator) -> Tensor:
    """Return noise of unit power, shape (len(colour), samples).

    Args:
        colour: spectral amplitude falls with f to minus this: 0 white, 0.5 pink, 1 brown.
        samples: length.
        generator: source of randomness, on the device of `colour`.
    """
    fast = _fast_length(samples)
    white = torch.randn(len(colour), fast, device=colour.device, generator=generator)
    hz = torch.fft.rfftfreq(fast, 1 / SAMPLE_RATE_HZ, device=colour.device).clamp(min=50)
    shaped = torch.fft.rfft(white) * hz ** (-colour[:, None])
    return _unit_power(torch.fft.irfft(shaped, fast)[:, :samples])


def tones(count: int, samples: int, generator: torch.Generator) -> Tensor:
    """Return tones of unit power: one to three partials, steady, pulsing or sweeping."""
    device = generator.device
    seconds = torch.arange(samples, device=device) / SAMPLE_RATE_HZ
    total = torch.zeros(count, samples, device=device)
    for partial in range(3):
        low, pulse, depth, sweep, there = _uniform(5, count, generator)
        hz = 60 * 2 ** (low * 6.5)
        slope = torch.where(sweep < 0.25, (sweep - 0.125) * 16 * hz, 0 * hz)
        bend = slope[:, None] * seconds * (seconds / seconds[-1].clamp(min=1)) / 2
        wave = torch.sin(2 * torch.pi * (hz[:, None] * seconds + bend))
        beat = 1 + torch.where(depth < 0.4, depth / 0.4, 0 * depth)[:, None] * torch.sin(
            2 * torch.pi * (0.2 + 6 * pulse)[:, None] * seconds
        )
        total += wave * beat * ((partial == 0) | (there < 0.3))[:, None]
    return _unit_power(total)


def music(count: int, samples: int, generator: torch.Generator) -> Tensor:
    """Return plucked tunes of unit power: two lines of random notes with harmonics."""
    device = generator.device
    total = torch.zeros(count, samples, device=device)
    place = torch.arange(samples, device=device)
    for line in range(2):
        (pace,) = _uniform(1, count, generator)
        note_samples = ((0.12 + (_PEAK_NOTE_S - 0.12) * pace) * SAMPLE_RATE_HZ).long()[:, None]
        number, within = place // note_samples, place % note_samples
        steps = torch.randint(
            0, 24, (count, int(number.max()) + 1), generator=generator, device=device
        )
        pentatonic = torch.tensor([0, 2, 4, 7, 9], device=device)
        pitch = pentatonic[steps % 5] + 12 * (steps // 5) + (36 if line else 48)
        hz = (440 * 2 ** ((pitch - 69) / 12)).gather(1, number)
        phase = 2 * torch.pi * hz * within / SAMPLE_RATE_HZ
        voice = sum(torch.sin(k * phase) / k**1.5 for k in range(1, _HARMONICS + 1))
        total += torch.exp(-4 * within / note_samples) * voice
    return _unit_power(total)


def hum(count: int, samples: int, generator: torch.Generator) -> Tensor:
    """Return mains hum of unit power: 50 or 60 Hz with odd harmonics and a little noise."""
    device = generator.device
    mains, tilt = _uniform(2, count, generator)
    hz = torch.where(mains < 0.5, 50.0, 60.0)[:, None]
    seconds = torch.arange(samples, device=device) / SAMPLE_RATE_HZ
    total = torch.zeros(count, samples, device=device)
    for harmonic in (1, 2, 3, 5, 7, 9):
        strength = harmonic ** -(0.5 + tilt)[:, None]
        total += strength * torch.sin(2 * torch.pi * harmonic * hz * seconds)
    hiss = torch.randn(count, samples, device=device, generator=generator)
    return _unit_power(_unit_power(total) + 0.1 * hiss)


def _uniform(rows: int, count: int, generator: torch.Generator) -> Tensor:
    return torch.rand(rows, count, device=generator.device, generator=generator)


def _unit_power(wave: Tensor) -> Tensor:
    return wave / wave.pow(2).mean(1, keepdim=True).sqrt().clamp(min=1e-6)


def _fast_length(samples: int) -> int:
    """Return a transform length of at least `samples` that is a small multiple of 32,768."""
    return -(-samples // 32_768) * 32_768
