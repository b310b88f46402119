"""One decode step recorded as a CUDA graph. Knows nothing of what the step does."""

import weakref
from collections.abc import Callable

import torch
from torch import Tensor

WARM_UP_STEPS = 2
"""Steps run before the recording, in which libraries choose their kernels and allocate."""

_idle_streams: list[torch.cuda.Stream] = []
"""Streams whose graphs are gone. Libraries keep a workspace for every stream they were ever called
on, 32 MiB on an H200, so a new stream for each graph made every change of the engine cost memory.
Graphs that live at once never share one: torch may free a stream's workspace with its graph."""


class StepGraph:
    """Replays a step that reads and writes tensors at fixed addresses."""

    def __init__(self, step: Callable[[], None], state: tuple[Tensor, ...]) -> None:
        """Warm up, then record; nothing of it is left in `state`.

        Args:
            step: launches kernels only; it must not wait for the device.
            state: what the step changes and the warm-up must leave as it was.
        """
        before = [tensor.clone() for tensor in state]
        side = _take_stream()
        weakref.finalize(self, _idle_streams.append, side)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(WARM_UP_STEPS):
                step()
                for tensor, value in zip(state, before, strict=True):
                    tensor.copy_(value)
        torch.cuda.current_stream().wait_stream(side)
        self._graph = torch.cuda.CUDAGraph()
        # Other threads of a server may allocate meanwhile; only this one must keep to the rules.
        with torch.cuda.graph(self._graph, stream=side, capture_error_mode="thread_local"):
            step()

    def replay(self) -> None:
        """Queue one step on the current stream."""
        self._graph.replay()


def _take_stream() -> torch.cuda.Stream:
    """Return a stream of the current device that no living graph uses."""
    here = torch.cuda.current_device()
    for place, stream in enumerate(_idle_streams):
        if stream.device.index == here:
            return _idle_streams.pop(place)
    return torch.cuda.Stream()
