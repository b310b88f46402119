"""How much memory a run took, with the name of what measured it."""

import resource
import sys

import torch


def reset_peak(device: str) -> None:
    """Forget earlier peaks of a CUDA device; a process has only one peak for its life."""
    if device != "cpu":
        torch.cuda.reset_peak_memory_stats(device)


def peak(device: str) -> tuple[int, str]:
    """Return the peak in bytes and its source.

    On CUDA the allocator's exact peak since `reset_peak`, without context and libraries; elsewhere
    the largest resident size of the process so far. The two are not comparable.
    """
    if device != "cpu":
        return torch.cuda.max_memory_allocated(device), "CUDA allocator peak"
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return resident * unit_bytes, "process peak, resident"


def release(device: str) -> None:
    """Give cached blocks of a CUDA device back."""
    if device != "cpu":
        torch.cuda.empty_cache()
