"""Both paths over one copy of the embedded checkpoint, and what the reference makes of samples."""

from collections.abc import Iterator

import pytest
import torch

from moss_demo.domain.events import Run
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import Loaded
from moss_demo.engine.together import transcribe_together
from tests.engine.conftest import SAMPLES


@pytest.fixture(scope="package", autouse=True)
def one_thread() -> Iterator[None]:
    """Compute on one thread: on a busy machine two wait for each other in every batched product."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="package")
def requests() -> list[Request]:
    """All samples, the shortest first."""
    paths = sorted(SAMPLES.glob("*.flac"), key=lambda path: path.stat().st_size)
    return [Request(read_audio(path)) for path in paths]


@pytest.fixture(scope="package")
def reference(tiny: Loaded) -> Engine:
    """The oracle."""
    config = EngineConfig("tiny", "cpu", Precision.FP32)
    return Engine(config, find_checkpoint("tiny"), tiny, 0.0)


@pytest.fixture(scope="package")
def fast(tiny: Loaded) -> Engine:
    """The path under test; it stays warm from test to test."""
    config = EngineConfig("tiny", "cpu", Precision.FP32, DecodePath.FAST)
    return Engine(config, find_checkpoint("tiny"), tiny, 0.0)


@pytest.fixture(scope="package")
def oracle(reference: Engine, requests: list[Request]) -> tuple[Run, ...]:
    """Runs of the reference path, computed once."""
    return transcribe_together(reference, requests)
