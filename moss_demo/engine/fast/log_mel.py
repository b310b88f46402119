"""Log-mel spectrograms on the model's own device. Knows nothing of clips longer than a chunk."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import MossTranscribeDiarizeFeatureExtractor

RANGE_LOG10 = 8.0
"""What lies further below the loudest point of a chunk is lifted to this distance."""

FLOOR = 1e-10


class DeviceLogMel:
    """What the checkpoint's feature extractor computes, without the way through host memory."""

    def __init__(
        self, extractor: MossTranscribeDiarizeFeatureExtractor, device: torch.device
    ) -> None:
        """Move window and filters to the device, in fp32 whatever the model's precision."""
        filters = torch.from_numpy(extractor.mel_filters)
        self._filters = filters.to(device, torch.float32).T.contiguous()
        self._window = torch.hann_window(extractor.n_fft, device=device)
        self._hop = extractor.hop_length
        self._chunk_samples = extractor.n_samples

    @torch.inference_mode()
    def __call__(self, chunks: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
        """Compute spectrograms in the manner of Whisper (arXiv 2212.04356, section 2.2).

        Args:
            chunks: float32 samples at 16 kHz, each no longer than a chunk.

        Returns:
            Features (chunks, mels, frames) and the mask of frames within the sound.
        """
        padded = np.zeros((len(chunks), self._chunk_samples), dtype=np.float32)
        for row, chunk in enumerate(chunks):
            padded[row, : chunk.size] = chunk
        samples = torch.from_numpy(padded).to(self._window.device)
        spectrum = torch.stft(
            samples, self._window.numel(), self._hop, window=self._window, return_complex=True
        )
        power = (spectrum[..., :-1].abs() ** 2).contiguous()
        features = (self._filters @ power).clamp(min=FLOOR).log10()
        loudest = features.amax(dim=(1, 2), keepdim=True)
        features = (torch.maximum(features, loudest - RANGE_LOG10) + 4.0) / 4.0
        frames = torch.arange(features.shape[-1], device=features.device) * self._hop
        sizes = torch.tensor([chunk.size for chunk in chunks], device=features.device)
        return features, frames < sizes[:, None]
