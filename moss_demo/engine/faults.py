"""What an error that nobody expected means for the device and for the next run."""

import logging

import torch

from moss_demo.errors import DeviceError, DeviceLostError

LOG = logging.getLogger(__name__)

_MEMORY_WORDS = (
    "out of memory",
    "not enough memory",
    "allocate memory",
    "ALLOC_FAILED",
    "bad_alloc",
    "could not create a",
)
"""How torch, CUDA and its libraries say it, each in an error of its own kind."""


def lost(device: str) -> DeviceLostError:
    """Build the error of a device that is gone for this process."""
    return DeviceLostError(
        f"{device} answers no more after a CUDA error, and only a new process gets it back. The "
        "web app starts one now: try again in a minute. A command has to be run again."
    )


def diagnose(error: Exception, device: str) -> DeviceError:
    """Turn an unexpected error of a run into one sentence; its details go to the log.

    Args:
        error: what escaped from the model or from a library below it.
        device: torch device the run was on.
    """
    if not _answers(device):
        LOG.error("%s is lost", device, exc_info=error)
        return lost(device)
    if is_out_of_memory(error):
        where = "This server" if device == "cpu" else device
        return DeviceError(
            f"{where} ran out of memory; cut the recording or choose a smaller precision. The next "
            "run is not affected."
        )
    LOG.error("a run failed on %s", device, exc_info=error)
    return DeviceError(
        f"The run failed inside the model ({type(error).__name__}); try again. The next run is not "
        "affected, and the server's log has the details."
    )


def is_out_of_memory(error: Exception) -> bool:
    """Tell whether memory was short, on a device or on the host."""
    if isinstance(error, (torch.OutOfMemoryError, MemoryError)):
        return True
    return isinstance(error, RuntimeError) and any(w in str(error) for w in _MEMORY_WORDS)


def _answers(device: str) -> bool:
    """Tell whether a device still computes: some CUDA errors last until the process ends."""
    try:
        return torch.ones(1, device=device).add(1).item() == 2
    except torch.OutOfMemoryError:
        return True
    except RuntimeError as error:
        return is_out_of_memory(error)
