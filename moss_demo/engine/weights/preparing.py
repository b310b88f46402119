"""From a checkpoint and an engine's configuration to a model that is ready to run.

Here the parts meet in their order: files, then an adapter, then a weight format, then the device.
"""

from dataclasses import replace
from pathlib import Path

import torch

from moss_demo.engine import memory
from moss_demo.engine.checkpoints import Checkpoint
from moss_demo.engine.config import NUMERICS_ONLY, EngineConfig, Precision
from moss_demo.engine.loading import Loaded, load
from moss_demo.engine.weights.adapter import merge_adapter, read_adapter
from moss_demo.engine.weights.block_formats import round_through
from moss_demo.engine.weights.int8 import quantize_to_int8


def prepare(checkpoint: Checkpoint, config: EngineConfig) -> Loaded:
    """Load a checkpoint as the configuration wants it.

    A weight format is applied in main memory, so that a GPU never holds the model twice. Random
    weights are drawn on the device all the same: a processor takes half a minute for them.

    Raises:
        MossDemoError: the checkpoint is unusable, or the format needs a package that is missing.
        torch.OutOfMemoryError: it does not fit the device.
    """
    adapter = None if config.adapter is None else read_adapter(Path(config.adapter))
    is_quantized = config.precision is Precision.INT8 or config.precision in NUMERICS_ONLY
    is_read = checkpoint.folder is not None
    device = "cpu" if is_quantized and is_read else config.device
    loaded = load(checkpoint, config.precision.dtype, device)
    if adapter is not None:
        merge_adapter(loaded.model, adapter)
    if not is_quantized:
        return loaded
    if not is_read:
        torch.nn.Module.to(loaded.model, "cpu")
        memory.release(config.device)
    if config.precision is Precision.INT8:
        report = quantize_to_int8(loaded.model)
    else:
        report = round_through(loaded.model, config.precision, config.device)
    torch.nn.Module.to(loaded.model, config.device)
    return replace(loaded, quantization=report)
