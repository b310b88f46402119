"""Weights in 8 bits on a CUDA device: same words, finite numbers, less memory."""

import gc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
import torch

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Run
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine import memory
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import NO_END
from moss_demo.engine.together import transcribe_together
from moss_demo.engine.weights.preparing import prepare
from tests.engine.conftest import SAMPLES

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

CUDA = "cuda:0"
LEAST_SAVING_BYTES = 400_000_000


def _run(config: EngineConfig, request: Request) -> Run:
    checkpoint = find_checkpoint(config.checkpoint)
    loaded = replace(prepare(checkpoint, config), end_ids=NO_END)
    return transcribe_together(Engine(config, checkpoint, loaded, 0.0), [request])[0]


@pytest.fixture(autouse=True)
def _empty_device() -> Iterator[None]:
    yield
    gc.collect()
    memory.release(CUDA)


@pytest.mark.parametrize("decode", DecodePath)
def test_tiny_writes_its_first_sentence_in_int8(decode: DecodePath) -> None:
    """Both decode paths compute with 8-bit weights on the device."""
    request = Request(read_audio(SAMPLES / "two-speakers.flac"), options=DecodeOptions(40))
    run = _run(EngineConfig("tiny", CUDA, Precision.INT8, decode), request)
    assert run.raw.startswith("[0.48][S01]hello ben can you hear me[1.98]")


@torch.inference_mode()
def test_logits_in_int8_are_finite_and_close_to_those_in_bf16() -> None:
    """Random weights of the published size."""
    ids = torch.randint(0, 151_000, (1, 64), generator=torch.Generator().manual_seed(0)).to(CUDA)
    logits = []
    for precision in (Precision.BF16, Precision.INT8):
        torch.manual_seed(0)
        config = EngineConfig("synthetic-0.9b", "cpu", precision)
        model = prepare(find_checkpoint("synthetic-0.9b"), config).model
        logits.append(torch.nn.Module.to(model, CUDA)(input_ids=ids).logits.float())
    plain, int8 = logits
    assert int8.isfinite().all()
    assert float((int8 - plain).norm() / plain.norm()) < 0.1


@pytest.mark.parametrize("decode", DecodePath)
def test_int8_takes_far_less_memory_than_bf16(decode: DecodePath) -> None:
    """At the published size the peak of a whole run falls by 0.4 GB at least."""
    noise = np.random.default_rng(0).normal(0, 0.1, 16_000 * 28).astype(np.float32)
    request = Request(AudioClip("noise", noise), options=DecodeOptions(16), speech_gate=False)
    peaks = []
    for precision in (Precision.BF16, Precision.INT8):
        run = _run(EngineConfig("synthetic-0.9b", CUDA, precision, decode), request)
        assert run.finished is not None
        assert run.finished.peak_memory_bytes is not None
        peaks.append(run.finished.peak_memory_bytes)
        gc.collect()
        memory.release(CUDA)
    assert peaks[1] <= peaks[0] - LEAST_SAVING_BYTES
