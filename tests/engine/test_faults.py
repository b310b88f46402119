"""What goes wrong in a run ends that run alone, with one sentence."""

import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from moss_demo.errors import DeviceError, DeviceLostError

CLIP = AudioClip("noise", np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32))
SHORT = Request(CLIP, options=DecodeOptions(max_new_tokens=3), speech_gate=False)

ILLEGAL_ACCESS = "CUDA error: an illegal memory access was encountered"

Break = Callable[[Exception], None]


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Break:
    """Let the library's own decode loop fail, as a kernel below it would."""

    def let_fail(error: Exception) -> None:
        def fail(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(MossTranscribeDiarizeForConditionalGeneration, "generate", fail)

    return let_fail


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), "out of memory"),
        (MemoryError(), "ran out of memory"),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED"), "ran out of memory"),
        (torch.AcceleratorError("CUDA error: invalid argument"), "AcceleratorError"),
        (IndexError("list index out of range"), "IndexError"),
    ],
)
def test_the_run_after_a_failed_one_works(
    broken: Break,
    monkeypatch: pytest.MonkeyPatch,
    tiny_config: EngineConfig,
    error: Exception,
    message: str,
) -> None:
    """The cause is named, the engine is made anew where its state is not known."""
    pool = EnginePool()
    broken(error)
    with pytest.raises(DeviceError, match=message) as failed:
        list(pool.stream(tiny_config, SHORT))
    assert not isinstance(failed.value, DeviceLostError)
    assert not pool.is_busy
    monkeypatch.undo()
    assert isinstance(list(pool.stream(tiny_config, SHORT))[-1], Finished)


def test_a_lost_device_is_said_once_and_to_everybody(
    broken: Break, monkeypatch: pytest.MonkeyPatch, tiny_config: EngineConfig
) -> None:
    """When no call reaches the device any more, every run gets the same sentence at once."""
    calls: list[None] = []
    pool = EnginePool(on_lost=lambda: calls.append(None))
    list(pool.stream(tiny_config, SHORT))
    error = torch.AcceleratorError(ILLEGAL_ACCESS)
    broken(error)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(torch, "ones", fail)  # as every call of torch does from then on
    for _ in range(2):
        with pytest.raises(DeviceLostError, match="only a new process gets it back"):
            list(pool.stream(tiny_config, SHORT))
    assert len(calls) == 1
    assert pool.resident is None


def test_memory_that_really_runs_out_is_said_in_one_sentence() -> None:
    """A process that may take no more memory refuses the run, and does the next one."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.engine.test_faults import starve; starve()"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "ran out of memory" in done.stdout
    assert done.stdout.splitlines()[-1] == "Finished"


def starve() -> None:
    """Transcribe five minutes with hardly any memory left, then a second."""
    torch.set_num_threads(1)
    config = EngineConfig("tiny", "cpu", Precision.FP32)
    pool = EnginePool()
    list(pool.stream(config, SHORT))
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    limit = pages * resource.getpagesize() + (100 << 20)
    resource.setrlimit(resource.RLIMIT_AS, (limit, -1))
    long = AudioClip("long", np.tile(CLIP.samples, 300))
    try:
        list(pool.stream(config, Request(long, options=SHORT.options, speech_gate=False)))
    except DeviceError as error:
        print(error)
    resource.setrlimit(resource.RLIMIT_AS, (-1, -1))
    print(type(list(pool.stream(config, SHORT))[-1]).__name__)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_device_that_cuda_lost_is_recognised() -> None:
    """A failed assertion in a kernel leaves no working call; the pool says so."""
    done = subprocess.run(
        [sys.executable, "-c", "from tests.engine.test_faults import lose; lose()"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["Finished", "DeviceLostError", "DeviceLostError"]


def lose() -> None:
    """Make a run, lose the device to an index out of range, and ask for another two."""
    config = EngineConfig("tiny", "cuda:0", Precision.BF16)
    pool = EnginePool()
    print(type(list(pool.stream(config, SHORT))[-1]).__name__)
    with pytest.raises(torch.AcceleratorError):
        torch.zeros(2, device="cuda")[torch.tensor([1 << 20], device="cuda")].tolist()
    for _ in range(2):
        try:
            list(pool.stream(config, SHORT))
        except DeviceError as error:
            print(type(error).__name__)
