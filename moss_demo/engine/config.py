"""What identifies an engine: two equal configurations can share one set of weights."""

from dataclasses import dataclass
from enum import StrEnum

import torch

from moss_demo.errors import DeviceError, RequestError


class Precision(StrEnum):
    """Number format of weights and activations."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"

    @property
    def dtype(self) -> torch.dtype:
        """The torch type of weights and activations."""
        return {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}[self.value]


class DecodePath(StrEnum):
    """How tokens are produced.

    The reference is `generate` of transformers; the fast path gives the same tokens sooner, without
    sampling.
    """

    REFERENCE = "reference"
    FAST = "fast"


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Key of a resident engine and of every figure measured with it.

    Attributes:
        checkpoint: a name of `checkpoints.KNOWN`, or the path of a local folder.
        device: torch device, such as `cpu` or `cuda:0`.
        precision: number format.
        decode: decode path.
    """

    checkpoint: str
    device: str
    precision: Precision
    decode: DecodePath = DecodePath.REFERENCE


def choose_device(wanted: str | None) -> str:
    """Name the device to run on: the one asked for, else the first GPU, else the CPU.

    Raises:
        DeviceError: the device asked for is not there.
    """
    if not wanted or wanted == "auto":
        return "cuda:0" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(wanted)
    except RuntimeError as error:
        raise DeviceError(f"{wanted!r} is no device; use cpu, cuda or cuda:N.") from error
    if device.type == "cpu":
        return "cpu"
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if device.type != "cuda" or (device.index or 0) >= count:
        found = f"{count} CUDA device(s)" if count else "no CUDA device"
        raise DeviceError(f"{wanted} is not available here ({found}); use --device cpu.")
    return f"cuda:{device.index or 0}"


def choose_precision(wanted: str | None, device: str) -> Precision:
    """Name the precision: the one asked for, else bf16 on CUDA and fp32 on a CPU.

    Raises:
        RequestError: there is no such precision.
    """
    if not wanted or wanted == "auto":
        return Precision.FP32 if device == "cpu" else Precision.BF16
    if wanted not in set(Precision):
        raise RequestError(f"{wanted!r} is no precision; use one of {', '.join(Precision)}.")
    return Precision(wanted)
