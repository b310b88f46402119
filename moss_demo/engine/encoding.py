"""Audio embeddings of recordings, in micro-batches of 30 s chunks. Knows nothing of prompts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from transformers import MossTranscribeDiarizeFeatureExtractor

from moss_demo.domain.audio import AudioClip
from moss_demo.engine.encoder import Encoder, synchronize
from moss_demo.engine.prompting import CHUNK_SAMPLES

MICRO_BATCH_CHUNKS = 8
"""Chunks a forward pass of the encoder: four minutes of sound, a few hundred MB of activations on
the full-size model whatever the length of the recording."""

LogMel = Callable[[Sequence[np.ndarray]], tuple[torch.Tensor, torch.Tensor]]
"""Turns chunks of samples into features (chunks, mels, 3000) and a mask of valid frames."""


@dataclass(slots=True)
class EncodedAudio:
    """Audio embeddings that grow batch by batch, with the time each part took.

    Attributes:
        parts: tensors of shape (audio tokens of the batch, hidden size of the decoder).
        features_s: seconds spent on log-mel spectrograms.
        encoder_s: seconds spent in encoder and projector.
    """

    parts: list[torch.Tensor]
    features_s: float = 0.0
    encoder_s: float = 0.0

    def split(self, counts: Sequence[int]) -> tuple[torch.Tensor, ...]:
        """Return the embeddings of each clip, shape (audio tokens, hidden size).

        Args:
            counts: audio tokens of each clip, in the order of the clips.
        """
        parts: tuple[torch.Tensor, ...] = torch.cat(self.parts).split(list(counts))
        return parts


def encode_batches(
    encoder: Encoder, log_mel: LogMel, clips: Sequence[AudioClip]
) -> Iterator[EncodedAudio]:
    """Encode clips batch by batch; the same growing value is handed out after each.

    The caller may stop between batches. Chunks are independent of each other: a spectrogram is
    normalized within its own 30 s. A batch may hold chunks of several clips.
    """
    encoded = EncodedAudio([])
    chunks = chunks_of(clips)
    for first in range(0, len(chunks), MICRO_BATCH_CHUNKS):
        started_at = perf_counter()
        features, mask = log_mel(chunks[first : first + MICRO_BATCH_CHUNKS])
        synchronize(features.device)
        features_at = perf_counter()
        encoded.parts.append(encoder(features, mask))
        encoded.features_s += features_at - started_at
        encoded.encoder_s += perf_counter() - features_at
        yield encoded


def chunks_of(clips: Sequence[AudioClip]) -> list[np.ndarray]:
    """Cut clips into pieces of 30 s; the last of each is as long as what is left."""
    return [
        clip.samples[first : first + CHUNK_SAMPLES]
        for clip in clips
        for first in range(0, clip.samples.size, CHUNK_SAMPLES)
    ]


def batch_sizes(clips: Sequence[AudioClip]) -> set[int]:
    """Return the sizes of the micro-batches that clips are encoded in, in chunks."""
    count = sum(-(-clip.samples.size // CHUNK_SAMPLES) for clip in clips)
    full, rest = divmod(count, MICRO_BATCH_CHUNKS)
    return {size for size in (min(full, 1) * MICRO_BATCH_CHUNKS, rest) if size}


def extractor_log_mel(extractor: MossTranscribeDiarizeFeatureExtractor) -> LogMel:
    """Return the checkpoint's own feature extractor, on the CPU."""

    def log_mel(chunks: Sequence[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
        # The library trips over a single sample; a zero behind it adds no frame.
        usable = [np.pad(chunk, (0, 1)) if chunk.size == 1 else chunk for chunk in chunks]
        batch = extractor(
            usable, sampling_rate=extractor.sampling_rate, return_tensors="pt", device="cpu"
        )
        return batch["input_features"], batch["input_features_mask"]

    return log_mel
