"""What identifies an engine: two equal configurations can share one set of weights."""

from dataclasses import dataclass, replace
from enum import StrEnum

import torch

from moss_demo.errors import DeviceError, RequestError


class Precision(StrEnum):
    """Number format of weights and activations.

    `int8` keeps the matrices of the decoder in 8 bits, all else in bf16. `q8_0`, `q4_0`
    and `q4_k` round the same matrices through a GGUF type and compute in bf16, at the memory and
    the speed of bf16: they tell what the format does to a transcript.
    """

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    INT8 = "int8"
    Q8_0 = "q8_0"
    Q4_0 = "q4_0"
    Q4_K = "q4_k"

    @property
    def dtype(self) -> torch.dtype:
        """The torch type of activations, and of weights that have no format of their own."""
        plain = {"fp32": torch.float32, "fp16": torch.float16}
        return plain.get(self.value, torch.bfloat16)


NUMERICS_ONLY = (Precision.Q8_0, Precision.Q4_0, Precision.Q4_K)
"""Precisions that are rounded through and computed in bf16."""


class DecodePath(StrEnum):
    """How tokens are produced.

    The reference is `generate` of transformers; the fast path gives the same tokens sooner, without
    sampling.
    """

    REFERENCE = "reference"
    FAST = "fast"


class EncoderCompile(StrEnum):
    """How `torch.compile` treats the audio encoder; projector and decoder are never compiled."""

    OFF = "off"
    MAX_AUTOTUNE = "max-autotune-no-cudagraphs"
    DEFAULT = "default"
    REDUCE_OVERHEAD = "reduce-overhead"


COMPILE_CHOICES = (EncoderCompile.OFF, EncoderCompile.MAX_AUTOTUNE, EncoderCompile.DEFAULT)
"""What may run beside the decoder; the mode left out is measured in a process of its own."""

REJECTED_MODE = (
    f"{EncoderCompile.REDUCE_OVERHEAD} is rejected: fast on its own, but beside the decoder its "
    "CUDA graphs made results drift and failed assertions"
)


@dataclass(frozen=True, slots=True)
class EngineConfig:
    """Key of a resident engine and of every figure measured with it.

    Attributes:
        checkpoint: a name of `checkpoints.KNOWN`, or the path of a local folder.
        device: torch device, such as `cpu` or `cuda:0`.
        precision: number format.
        decode: decode path.
        encoder_compile: how the audio encoder is compiled.
        adapter: folder of a LoRA adapter that is merged into the weights, if any.
    """

    checkpoint: str
    device: str
    precision: Precision
    decode: DecodePath = DecodePath.REFERENCE
    encoder_compile: EncoderCompile = EncoderCompile.OFF
    adapter: str | None = None

    def shares_weights_with(self, other: "EngineConfig") -> bool:
        """Tell whether one copy of the weights serves both."""
        same = replace(self, decode=other.decode, encoder_compile=other.encoder_compile)
        return same == other


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


def choose_decode(wanted: str | None, device: str, *, samples: bool = False) -> DecodePath:
    """Name the decode path: the one asked for, else the fast one on CUDA where it can do the work.

    Args:
        wanted: its name, or None.
        device: where it will run.
        samples: whether tokens are sampled, which only the reference path can do.

    Raises:
        RequestError: there is no such path.
    """
    if wanted and wanted not in set(DecodePath):
        raise RequestError(f"{wanted!r} is no decode path; use {' or '.join(DecodePath)}.")
    usual = DecodePath.REFERENCE if device == "cpu" or samples else DecodePath.FAST
    return DecodePath(wanted or usual)


def choose_encoder_compile(wanted: str | None) -> EncoderCompile:
    """Name the compilation of the encoder: the one asked for, else none.

    Raises:
        RequestError: there is no such mode, or it is one for measurements alone.
    """
    if wanted == EncoderCompile.REDUCE_OVERHEAD:
        raise RequestError(f"{REJECTED_MODE}; use {EncoderCompile.MAX_AUTOTUNE}.")
    if wanted and wanted not in COMPILE_CHOICES:
        raise RequestError(
            f"{wanted!r} is no way to compile the encoder; use one of {', '.join(COMPILE_CHOICES)}."
        )
    return EncoderCompile(wanted or EncoderCompile.OFF)
