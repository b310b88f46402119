"""The small network of silero-vad, run over a whole recording instead of frame by frame.

The package brings weights as safetensors but, for PyTorch, only a TorchScript loader, which is
deprecated, and its import sets the thread count of the whole process. So the package is never
imported: its weights are read from its folder and the layers are stated here. The state lives in
arguments and return values, so one network serves many threads. Knows nothing of levels, spans
or clips.
"""

import importlib.util
from pathlib import Path
from typing import TypeAlias

import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from moss_demo.errors import CheckpointError

FRAME_SAMPLES = 512
"""One probability stands for 32 ms at 16 kHz."""

CONTEXT_SAMPLES = 64
"""The network sees so much of the frame before."""

State: TypeAlias = tuple[Tensor, Tensor]
"""Hidden and cell state of the recurrent layer, each of shape (1, 1, 128)."""

_PACKAGE = "silero_vad"
_WEIGHTS = "data/silero_vad_16k.safetensors"
_BINS = 129
_REFLECTED_SAMPLES = 64


class SpeechNetwork(nn.Module):
    """Spectrum, four convolutions, a recurrent layer and one probability a frame."""

    def __init__(self) -> None:
        """Build the layers with random weights."""
        super().__init__()
        self.stft_conv = nn.Conv1d(1, 2 * _BINS, 256, stride=128, bias=False)
        self.conv1 = nn.Conv1d(_BINS, 128, 3, padding=1)
        self.conv2 = nn.Conv1d(128, 64, 3, stride=2, padding=1)
        self.conv3 = nn.Conv1d(64, 64, 3, stride=2, padding=1)
        self.conv4 = nn.Conv1d(64, 128, 3, padding=1)
        self.lstm = nn.LSTM(128, 128, batch_first=True)
        self.final_conv = nn.Conv1d(128, 1, 1)

    def forward(self, samples: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Judge consecutive frames.

        Args:
            samples: float32 of shape (CONTEXT_SAMPLES + n * FRAME_SAMPLES,), 16 kHz.
            state: what the call before returned, None at the beginning.

        Returns:
            Speech probabilities of shape (n,), and the state after the last frame.
        """
        frames = samples.unfold(0, CONTEXT_SAMPLES + FRAME_SAMPLES, FRAME_SAMPLES)  # (n, 576)
        padded = nn.functional.pad(frames, (0, _REFLECTED_SAMPLES), mode="reflect")
        spectrum = self.stft_conv(padded.unsqueeze(1))  # (n, 258, 4): real parts, imaginary parts
        hidden = torch.hypot(spectrum[:, :_BINS], spectrum[:, _BINS:])
        for conv in (self.conv1, self.conv2, self.conv3, self.conv4):
            hidden = conv(hidden).relu()  # (n, 128, 1) in the end
        sequence, state = self.lstm(hidden.mT.transpose(0, 1), state)  # (1, n, 128)
        logits = self.final_conv(sequence.relu().mT)  # (1, 1, n)
        return logits.sigmoid().flatten(), state


def load_speech_network() -> SpeechNetwork:
    """Load the weights that the package silero-vad carries.

    Raises:
        CheckpointError: the package is not installed or lacks the weights.
    """
    spec = importlib.util.find_spec(_PACKAGE)
    folders = [] if spec is None else list(spec.submodule_search_locations or ())
    path = Path(folders[0], _WEIGHTS) if folders else Path(_WEIGHTS)
    if not path.is_file():
        raise CheckpointError(
            "The weights of the speech gate are missing; install silero-vad 6.2.3 or later, or "
            "switch the speech gate off."
        )
    weights = {
        f"lstm.{name.removeprefix('lstm_cell.')}_l0" if name.startswith("lstm_cell.") else name: w
        for name, w in load_file(path).items()
    }
    network = SpeechNetwork()
    network.load_state_dict(weights)
    return network.eval().requires_grad_(False)
