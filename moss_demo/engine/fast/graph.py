"""One decode step recorded as a CUDA graph. Knows nothing of what the step does."""

from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP_STEPS = 2
"""Steps run before the recording, in which libraries choose their kernels and allocate."""


class StepGraph:
    """Replays a step that reads and writes tensors at fixed addresses."""

    def __init__(self, step: Callable[[], None], state: tuple[Tensor, ...]) -> None:
        """Warm up, then record; nothing of it is left in `state`.

        Args:
            step: launches kernels only; it must not wait for the device.
            state: what the step changes and the warm-up must leave as it was.
        """
        before = [tensor.clone() for tensor in state]
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                step()
                for tensor, value in zip(state, before, strict=True):
                    tensor.copy_(value)
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        # Other threads of a server may allocate meanwhile; only this one must keep to the rules.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            step()

    def replay(self) -> None:
        """Queue one step on the current stream."""
        self._graph.replay()
