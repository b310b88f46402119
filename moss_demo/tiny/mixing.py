"""Turns plans of windows into sound and log-mel features, whole batches on the training device.

Utterances are resampled and added by one kernel straight from the pool, then room, band, noise and
level are applied as spectra over the whole batch: 32 minutes of sound in about 10 ms on an H200.
Knows plans as arrays; knows no text.
"""

from typing import Any

import torch
from torch import Tensor
from transformers import MossTranscribeDiarizeFeatureExtractor

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny import nonspeech
from moss_demo.tiny.layout import CHUNK_SAMPLES
from moss_demo.tiny.windows import EMPTY_SHARE

REVERBERANT_SHARE = 0.4
BAND_LIMITED_SHARE = 0.3
DRY_SHARE = 0.1
"""Of windows without any added noise: synthesized speech is digitally silent between turns."""

CLEAN_SHARE = 0.2
BACKGROUND_SHARE = 0.06
"""Of windows with speech that a tone, hum or tune accompanies."""

_ROOM_SAMPLES = 8000
_DECAY_60_DB = 6.9
_BLOCK = 1024

Batch = dict[str, Tensor]


class Mixer:
    """Mixes batches from one pool of utterances."""

    def __init__(self, device: torch.device, seed: int = 0) -> None:
        """Prepare mel filters and the source of noise."""
        filters = MossTranscribeDiarizeFeatureExtractor().mel_filters
        self._filters = torch.from_numpy(filters).float().to(device).T.contiguous()
        self._window = torch.hann_window(400, device=device)
        self._generator = torch.Generator(device).manual_seed(seed)
        self._add = _add_on_gpu if device.type == "cuda" else _add_on_cpu

    @torch.no_grad()
    def waves(self, pool: Tensor, batch: Batch, samples: int, vary: bool = True) -> Tensor:
        """Return windows of shape (batch, samples), silent after each window's end.

        Args:
            pool: int16, all utterances back to back.
            batch: plan arrays on the pool's device, `effects` included.
            samples: width, whole chunks.
            vary: apply effects; without them windows are only brought to one level.
        """
        wave = self._add(pool, batch, samples)
        inside = torch.arange(samples, device=wave.device)[None] < batch["samples"][:, None]
        chance = batch["effects"].T[:, :, None]  # (effects, batch, 1)
        if vary:
            wave = self._in_a_room(wave, chance)
            wave = self._with_noise(wave, chance, inside)
            wave = self._with_background(wave, batch["effects"], inside)
        level_db = self._level_db(batch, chance[10]) if vary else torch.full_like(chance[10], -22.0)
        power = _power(wave, inside)
        loud = wave / power.clamp(min=1e-12).sqrt() * 10 ** (level_db / 20)
        return torch.where(power > 1e-10, loud, wave).clamp(-1, 1) * inside

    @staticmethod
    def _level_db(batch: Batch, chance: Tensor) -> Tensor:
        """Draw levels in dBFS, shape (batch, 1); what is no speech may be as faint as -65."""
        empty = batch["length"].sum(1, keepdim=True) == 0
        return torch.where(empty, -65 + 55 * chance, -38 + 27 * chance)

    def _in_a_room(self, wave: Tensor, chance: Tensor) -> Tensor:
        """Convolve with a decaying tail and filter: band limit, high pass, spectral tilt."""
        samples = wave.shape[1]
        length = -(-(samples + _ROOM_SAMPLES) // 32_768) * 32_768
        seconds = torch.arange(_ROOM_SAMPLES, device=wave.device)[None] / SAMPLE_RATE_HZ
        tail = torch.randn(len(wave), _ROOM_SAMPLES, device=wave.device, generator=self._generator)
        decay_s = 0.08 + 0.42 * chance[1]
        tail = tail * torch.exp(-_DECAY_60_DB * seconds / decay_s) * (seconds > 0.002)
        strength = (0.05 + 0.55 * chance[2]) * (chance[0] < REVERBERANT_SHARE)
        tail = tail / tail.pow(2).sum(1, keepdim=True).sqrt() * strength
        tail[:, 0] = 1
        hz = torch.fft.rfftfreq(length, 1 / SAMPLE_RATE_HZ, device=wave.device)[None]
        limit = torch.where(chance[3] < BAND_LIMITED_SHARE, 3100 + 900 * chance[4], 20_000.0)
        shape = 1 / (1 + (hz / limit) ** 10) / (1 + ((20 + 230 * chance[5]) / hz.clamp(min=1)) ** 4)
        shape = shape * 10 ** ((6 * chance[6] - 3) * torch.log2(hz.clamp(min=60) / 1000) / 20)
        spectrum = torch.fft.rfft(wave, length) * torch.fft.rfft(tail, length) * shape
        heard: Tensor = torch.fft.irfft(spectrum, length)[:, :samples]
        return heard

    def _with_noise(self, wave: Tensor, chance: Tensor, inside: Tensor) -> Tensor:
        """Add coloured noise 12 to 45 dB below the speech; some windows stay clean."""
        noise = nonspeech.coloured_noise(chance[9, :, 0], wave.shape[1], self._generator)
        below_db = 12 + 33 * chance[8]
        below_db = torch.where(chance[7] < CLEAN_SHARE, 65.0, below_db)
        below_db = torch.where(chance[7] > 1 - DRY_SHARE, 200.0, below_db)
        return wave + noise * _power(wave, inside).sqrt() * 10 ** (-below_db / 20)

    def _with_background(self, wave: Tensor, effects: Tensor, inside: Tensor) -> Tensor:
        """Fill windows without speech, and put a sound behind the speech of some others."""
        silent = _power(wave, inside)[:, 0] < 1e-10
        chosen = (silent | (effects[:, 11] < BACKGROUND_SHARE)).nonzero()[:, 0]
        chosen = chosen[: max(2, round(len(wave) * 3 * (EMPTY_SHARE + BACKGROUND_SHARE)))]
        if len(chosen) == 0:
            return wave
        sound = self._sounds(effects[chosen], wave.shape[1])
        below_db = torch.where(silent[chosen], 0.0, 8 + 22 * effects[chosen, 13])[:, None]
        power = _power(wave, inside)[chosen]
        reference = torch.where(silent[chosen, None], torch.full_like(power, 0.01), power)
        wave[chosen] += sound * reference.sqrt() * 10 ** (-below_db / 20)
        return wave

    def _sounds(self, effects: Tensor, samples: int) -> Tensor:
        """Return one sound a row, gated to a stretch in half of the rows; some rows stay silent."""
        count, generator = len(effects), self._generator
        kinds = torch.stack(
            [
                nonspeech.coloured_noise(effects[:, 9], samples, generator),
                nonspeech.tones(count, samples, generator),
                nonspeech.music(count, samples, generator),
                nonspeech.hum(count, samples, generator),
                torch.zeros(count, samples, device=effects.device),
            ]
        )
        which = torch.bucketize(
            effects[:, 12].contiguous(), torch.tensor([0.3, 0.6, 0.8, 0.88], device=effects.device)
        )
        sound = kinds[which, torch.arange(count, device=effects.device)]
        place = torch.arange(samples, device=effects.device)[None] / samples
        start, width = effects[:, 14, None] * 0.7, 0.05 + effects[:, 15, None] * 0.95
        gated = (place >= start) & (place < start + width)
        return torch.where(effects[:, 13, None] < 0.5, sound * gated, sound)

    @torch.no_grad()
    def features(self, waves: Tensor) -> Tensor:
        """Return log-mel features of shape (chunks, 80, 3000), equal to the feature extractor's.

        Args:
            waves: (batch, whole chunks of samples); chunks of a window stay together.
        """
        chunks = waves.reshape(-1, CHUNK_SAMPLES)
        spectrum = torch.stft(chunks, 400, 160, window=self._window, return_complex=True)
        power = spectrum[..., :-1].abs() ** 2
        mel = (self._filters @ power).clamp(min=1e-10).log10()
        mel = torch.maximum(mel, mel.amax(dim=(1, 2), keepdim=True) - 8)
        return (mel + 4) / 4

    @torch.no_grad()
    def masked(self, mel: Tensor) -> Tensor:
        """Hide random bands and moments of features (SpecAugment)."""
        fill = mel.mean(dim=(1, 2), keepdim=True)
        for axis, widest, times in ((1, 12, 2), (2, 14, 4)):
            size = mel.shape[axis]
            shape = [1, 1, 1]
            shape[axis] = size
            place = torch.arange(size, device=mel.device).view(shape)
            for _ in range(times):
                luck = torch.rand(3, len(mel), 1, 1, device=mel.device, generator=self._generator)
                width = luck[0] * widest * (luck[1] < 0.5)
                start = luck[2] * (size - widest)
                mel = torch.where((place >= start) & (place < start + width), fill, mel)
        return mel


def _power(wave: Tensor, inside: Tensor) -> Tensor:
    """Return the mean square within each window, shape (batch, 1)."""
    return (wave.pow(2) * inside).sum(1, keepdim=True) / inside.sum(1, keepdim=True).clamp(min=1)


def _add_on_cpu(pool: Tensor, batch: Batch, samples: int) -> Tensor:
    """Add all utterances, resampled by linear interpolation; one after the other."""
    total = torch.zeros(len(batch["start"]), samples)
    for row, place in (batch["length"] > 0).nonzero().tolist():
        length, start = int(batch["length"][row, place]), int(batch["start"][row, place])
        at = torch.arange(length, dtype=torch.float32) * batch["rate"][row, place]
        left = at.floor()
        index = left.long() + int(batch["offset"][row, place])
        before, after = pool[index].float(), pool[index + 1].float()
        sound = (before + (after - before) * (at - left)) * batch["gain"][row, place] / 32768
        end = min(samples, start + length)
        total[row, start:end] += sound[: end - start]
    return total


def _add_on_gpu(pool: Tensor, batch: Batch, samples: int) -> Tensor:
    """Add all utterances with one kernel: a block of the output reads only what sounds in it."""
    kernel = _kernel()
    rows, utterances = batch["start"].shape
    total = torch.empty(rows, samples, device=pool.device)
    names = ("offset", "start", "length", "rate", "gain")
    plan = [batch[name] for name in names]
    kernel[(rows, -(-samples // _BLOCK))](pool, *plan, total, samples, utterances, BLOCK=_BLOCK)
    return total


def _kernel() -> Any:
    """Return the compiled kernel; Triton is there where CUDA is, and nowhere else."""
    from moss_demo.tiny.mixing_kernel import add_utterances

    return add_utterances
