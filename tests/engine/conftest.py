"""The embedded checkpoint, loaded once for all tests of the engine."""

from pathlib import Path

import pytest
import torch

from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.loading import Loaded, load
from moss_demo.engine.pool import EnginePool

SAMPLES = Path(__file__).parents[2] / "assets" / "samples"


@pytest.fixture(scope="session")
def tiny() -> Loaded:
    """Model and processor of the embedded checkpoint."""
    return load(find_checkpoint("tiny"), torch.float32, "cpu")


@pytest.fixture(scope="session")
def pool() -> EnginePool:
    """A pool that keeps the embedded checkpoint resident between tests."""
    return EnginePool()


@pytest.fixture(scope="session")
def tiny_config() -> EngineConfig:
    """The embedded checkpoint on a CPU in full precision."""
    return EngineConfig("tiny", "cpu", Precision.FP32)
