"""Natural voices: Kokoro-82M in PyTorch, many lines at once.

Lines of equal phoneme count share the text passes, lines of equal length in frames share the
decoder (the closing pause is stretched by up to `_FRAME_STEP` frames to make lengths meet), so no
padding ever touches the instance norms and every line sounds as if spoken alone. Knows phonemes,
styles and speed; knows nothing of sentences, speakers of a conversation or files of the corpus.
"""

import json
import re
import sys
import types
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.utils import remove_weight_norm
from transformers import AlbertConfig

from moss_demo.errors import CheckpointError, MossDemoError

SAMPLES_PER_FRAME = 400
"""Of the 16 kHz output: Kokoro's frames last 25 ms (600 samples at its own 24 kHz)."""

STYLE_SIZE = 256
_DECODER_STYLE = 128
_FRAME_STEP = 8
_BATCH_FRAMES = 160
"""Of a line in a full batch; batches of longer lines are smaller."""

_TOKENS = 178
_DEFAULTED = re.compile(r"norm\d?(\.\d)?\.norm\.(weight|bias)$|adain\d\.\d\.norm\.|bert\.pooler\.")
"""Not in the file: instance norms that stay at one and zero, and a pooler that nothing reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One thing to say.

    Attributes:
        phonemes: ids of Kokoro's vocabulary, without the framing zeros.
        style: float32 of shape (256,), taken from a voice at this phoneme count.
        speed: 1 is the voice's own pace, larger is faster.
    """

    phonemes: tuple[int, ...]
    style: NDArray[np.float32]
    speed: float = 1.0


class Kokoro(nn.Module):
    """The five parts of Kokoro-82M with a forward pass over batches."""

    def __init__(self, package: Path, weights: Path) -> None:
        """Build the modules of the unpacked PyPI package `kokoro` and load converted weights.

        Args:
            package: folder `kokoro` of that package. Its modules are used without its
                `__init__`, which would import a spaCy pipeline that nothing here needs.
            weights: what `kokoro_weights.read_onnx` returned, saved by `torch.save`.

        Raises:
            MossDemoError: the modules, or the package `attrs` that they need, are not there.
            CheckpointError: the weights lack a tensor.
        """
        super().__init__()
        bare = types.ModuleType("kokoro")
        bare.__path__ = [str(package)]
        sys.modules.setdefault("kokoro", bare)
        try:  # the package was unpacked, see above
            from kokoro.istftnet import Decoder  # type: ignore[import-not-found]
            from kokoro.modules import (  # type: ignore[import-not-found]
                CustomAlbert,
                ProsodyPredictor,
                TextEncoder,
            )
        except ModuleNotFoundError as error:
            remedy = "pip install attrs" if error.name == "attr" else "run fetch again"
            raise MossDemoError(f"Kokoro's modules lack {error.name}; {remedy}.") from error

        albert = AlbertConfig(
            vocab_size=_TOKENS,
            hidden_size=768,
            num_attention_heads=12,
            intermediate_size=2048,
            max_position_embeddings=512,
            num_hidden_layers=12,
        )
        self.bert = CustomAlbert(albert)
        self.bert_encoder = nn.Linear(768, 512)
        self.predictor = ProsodyPredictor(style_dim=128, d_hid=512, nlayers=3, max_dur=50)
        self.text_encoder = TextEncoder(channels=512, kernel_size=5, depth=3, n_symbols=_TOKENS)
        kernels, dilations = [3, 7, 11], [[1, 3, 5]] * 3
        self.decoder = Decoder(512, 128, 80, kernels, [10, 6], 512, dilations, [20, 12], 20, 5)
        for module in self.modules():
            if hasattr(module, "weight_g"):
                remove_weight_norm(module)
        lacking = self.load_state_dict(torch.load(weights, weights_only=True), strict=False)
        unknown = [name for name in lacking.missing_keys if not _DEFAULTED.search(name)]
        if unknown:
            raise CheckpointError(f"{weights} lacks {unknown[0]}: convert Kokoro's weights again.")
        self.eval()

    @torch.inference_mode()
    def say(self, lines: Sequence[Line], batch: int = 128) -> Iterator[tuple[int, NDArray[Any]]]:
        """Yield (index of the line, int16 samples at 16 kHz), grouped by length, not in order."""
        plans: dict[int, list[tuple[int, _Plan]]] = defaultdict(list)
        by_count: dict[int, list[int]] = defaultdict(list)
        for index, line in enumerate(lines):
            by_count[len(line.phonemes)].append(index)
        for indices in by_count.values():
            for at in range(0, len(indices), 2 * batch):
                some = indices[at : at + 2 * batch]
                for index, plan in zip(some, self._plan([lines[i] for i in some]), strict=True):
                    plans[plan.frames].append((index, plan))
        for frames, group in sorted(plans.items()):
            fitting = max(1, min(batch, batch * _BATCH_FRAMES // frames))
            for at in range(0, len(group), fitting):
                some_plans = group[at : at + fitting]
                audio = self._render([plan for _, plan in some_plans]).cpu().numpy()
                for (index, _), samples in zip(some_plans, audio, strict=True):
                    yield index, samples

    def _plan(self, lines: Sequence[Line]) -> Iterator["_Plan"]:
        """Run the text passes for lines of one phoneme count."""
        device = self.bert_encoder.weight.device
        ids = torch.tensor([[0, *line.phonemes, 0] for line in lines], device=device)
        style = torch.from_numpy(np.stack([line.style for line in lines])).to(device)
        speed = torch.tensor([line.speed for line in lines], device=device)
        lengths = torch.full((len(lines),), ids.shape[1])
        mask = torch.zeros_like(ids, dtype=torch.bool)
        hidden = self.bert_encoder(self.bert(ids, attention_mask=(~mask).int())).transpose(1, 2)
        prosody = self.predictor.text_encoder(hidden, style[:, _DECODER_STYLE:], lengths, mask)
        logits = self.predictor.duration_proj(self.predictor.lstm(prosody)[0])
        durations = (logits.sigmoid().sum(-1) / speed[:, None]).round().clamp(min=1).long()
        durations[:, -1] += -durations.sum(1) % _FRAME_STEP
        text = self.text_encoder(ids, lengths, mask).transpose(1, 2)
        totals = durations.sum(1).tolist()
        for row, frames in enumerate(totals):
            yield _Plan(frames, durations[row], prosody[row], text[row], style[row])

    def _render(self, plans: Sequence["_Plan"]) -> Tensor:
        """Return int16 of shape (lines, frames x 400) for plans of one length."""
        prosody = torch.stack([p.prosody.repeat_interleave(p.durations, 0) for p in plans])
        text = torch.stack([p.text.repeat_interleave(p.durations, 0) for p in plans])
        style = torch.stack([p.style for p in plans])
        pitch, energy = self.predictor.F0Ntrain(prosody.transpose(1, 2), style[:, _DECODER_STYLE:])
        wave: Tensor = self.decoder(text.transpose(1, 2), pitch, energy, style[:, :_DECODER_STYLE])
        return _to_16_khz(wave.flatten(1)[:, : 600 * plans[0].frames])


@dataclass(frozen=True, slots=True, eq=False)
class _Plan:
    """What the text passes decided about one line."""

    frames: int
    durations: Tensor  # (tokens,)
    prosody: Tensor  # (tokens, 640)
    text: Tensor  # (tokens, 512)
    style: Tensor  # (256,)


def _to_16_khz(wave: Tensor) -> Tensor:
    """Resample 24 kHz rows by cutting the spectrum at 8 kHz; peaks are scaled to 0.7."""
    kept = wave.shape[1] * 2 // 3
    spectrum = torch.fft.rfft(wave.float())[:, : kept // 2 + 1]
    slow = torch.fft.irfft(spectrum, n=kept)
    peak = slow.abs().amax(1, keepdim=True).clamp(min=1e-3)
    loud: Tensor = slow / peak * 0.7 * 32767
    return loud.round().to(torch.int16)


def read_vocabulary(path: Path) -> dict[str, int]:
    """Read the ids of Kokoro's phoneme letters from the package's `vocab.json`."""
    vocabulary: dict[str, int] = json.loads(path.read_text(encoding="utf-8"))["vocab"]
    return vocabulary
