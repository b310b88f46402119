"""The arguments that every command with a model shares, and the engine they name."""

import argparse

from moss_demo.engine.checkpoints import KNOWN
from moss_demo.engine.config import (
    COMPILE_CHOICES,
    DecodePath,
    EncoderCompile,
    EngineConfig,
    Precision,
    choose_decode,
    choose_device,
    choose_precision,
)
from moss_demo.settings import Settings


def add_model_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name an engine."""
    group = parser.add_argument_group("model")
    group.add_argument(
        "--model",
        metavar="NAME|PATH",
        help=f"{', '.join(KNOWN)}, or a checkpoint folder or GGUF file (default: auto, the "
        "published checkpoint when it is in the cache, else tiny)",
    )
    group.add_argument(
        "--adapter", metavar="DIR", help="LoRA adapter saved by peft, merged into the weights"
    )
    group.add_argument(
        "--precision",
        choices=[*Precision],
        help="number format (default: bf16 on CUDA, fp32 on a CPU)",
    )
    group.add_argument("--device", help="cpu, cuda or cuda:N (default: a GPU when there is one)")
    group.add_argument(
        "--decode",
        choices=[*DecodePath],
        help="decode path (default: fast on CUDA unless a temperature is given, else reference)",
    )
    group.add_argument(
        "--encoder-compile",
        choices=[mode.value for mode in COMPILE_CHOICES],
        default=EncoderCompile.OFF.value,
        help="compile the audio encoder before the run, once for each batch size (default: off)",
    )


def engine_config(arguments: argparse.Namespace, settings: Settings) -> EngineConfig:
    """Name the engine that the arguments ask for.

    Raises:
        DeviceError: the device is not there.
    """
    device = choose_device(arguments.device)
    return EngineConfig(
        checkpoint=arguments.model or settings.model,
        device=device,
        precision=choose_precision(arguments.precision, device),
        decode=choose_decode(arguments.decode, device, samples=_samples(arguments)),
        encoder_compile=EncoderCompile(arguments.encoder_compile),
        adapter=arguments.adapter or (None if arguments.model else settings.adapter),
    )


def _samples(arguments: argparse.Namespace) -> bool:
    """Tell whether the command has a temperature and was given one."""
    return float(getattr(arguments, "temperature", None) or 0.0) > 0.0
