"""Brings chosen tokens to the host while the device goes on. Knows nothing of decoding."""

from collections import deque

import torch
from torch import Tensor

LOOK_AHEAD = 2
"""Steps queued on a CUDA device beyond the one whose tokens are read: the device never waits for
the host, and at most this many steps are done in vain after the last token."""


class TokenReader:
    """A queue of tokens under way from the device."""

    def __init__(self, batch: int, device: torch.device) -> None:
        """Allocate host memory for every step that can be under way."""
        self._is_cuda = device.type == "cuda"
        self.look_ahead = LOOK_AHEAD if self._is_cuda else 0
        self._free = [
            torch.empty(batch, dtype=torch.long, pin_memory=self._is_cuda)
            for _ in range(self.look_ahead + 1)
        ]
        self._under_way: deque[tuple[Tensor, torch.cuda.Event | None]] = deque()

    @property
    def has_room(self) -> bool:
        """Whether another step may be queued before one is read."""
        return bool(self._free)

    def put(self, tokens: Tensor) -> None:
        """Start copying the tokens of a step, shape (rows, 1)."""
        host = self._free.pop()
        host.copy_(tokens.flatten(), non_blocking=True)
        copied = None
        if self._is_cuda:
            copied = torch.cuda.Event()
            copied.record()
        self._under_way.append((host, copied))

    def take(self) -> list[int]:
        """Wait for the oldest step and return its token of each row."""
        host, copied = self._under_way.popleft()
        if copied is not None:
            copied.synchronize()
        self._free.append(host)
        return host.tolist()
