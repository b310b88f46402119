"""One run a device: switches, waiting and failures of the pool."""

import json
import shutil
import threading
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.checkpoints import TINY_DIR, Checkpoint
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.loading import Loaded
from moss_demo.engine.pool import (
    EnginePool,
    Loading,
    PoolEvent,
    Ready,
    Working,
)
from moss_demo.engine.together import transcribe_together
from moss_demo.engine.weights.preparing import prepare
from moss_demo.engine.worker import StoppedError
from moss_demo.errors import CheckpointError, DeviceError, RequestError

CLIP = AudioClip("noise", np.random.default_rng(0).normal(0, 0.1, 16_000).astype(np.float32))
SHORT = Request(CLIP, options=DecodeOptions(max_new_tokens=3), speech_gate=False)


def _news(pool: EnginePool, config: EngineConfig) -> list[PoolEvent]:
    """Run the short request; what a slow machine says while it has no news is left out."""
    return [event for event in pool.stream(config, SHORT) if not isinstance(event, Working)]


def test_the_first_run_loads_and_the_second_does_not(tiny_config: EngineConfig) -> None:
    """Loading is announced once; then the engine is resident and described."""
    pool = EnginePool()
    assert pool.resident is None
    first, second = _news(pool, tiny_config), _news(pool, tiny_config)
    assert isinstance(first[0], Loading)
    assert isinstance(first[1], Ready)
    assert first[1].loaded
    assert isinstance(second[0], Ready)
    assert not second[0].loaded
    assert pool.resident is not None
    assert (pool.resident.checkpoint, pool.resident.attention) == ("tiny", "sdpa")


def test_a_switch_replaces_the_engine(tiny_config: EngineConfig) -> None:
    """Another precision loads another engine in place of the first."""
    pool = EnginePool()
    list(pool.stream(tiny_config, SHORT))
    list(pool.stream(replace(tiny_config, precision=Precision.BF16), SHORT))
    assert pool.resident is not None
    assert pool.resident.precision == "bf16"


def test_a_failed_switch_leaves_the_old_engine_usable(tiny_config: EngineConfig) -> None:
    """A checkpoint that is not there costs nothing: the next run is served."""
    pool = EnginePool()
    list(pool.stream(tiny_config, SHORT))
    with pytest.raises(CheckpointError):
        list(pool.stream(replace(tiny_config, checkpoint="/nowhere"), SHORT))
    assert isinstance(list(pool.stream(tiny_config, SHORT))[-1], Finished)
    assert not pool.is_busy


def test_a_switch_without_memory_leaves_the_old_engine_usable(
    tiny_config: EngineConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The old engine is back when the failure is told, and the next run finds it resident."""
    pool = EnginePool()
    list(pool.stream(tiny_config, SHORT))

    def prepare_in_small_memory(checkpoint: Checkpoint, config: EngineConfig) -> Loaded:
        loaded = prepare(checkpoint, config)
        if config.precision is Precision.BF16:
            raise torch.OutOfMemoryError
        return loaded

    monkeypatch.setattr("moss_demo.engine.pool.prepare", prepare_in_small_memory)
    with pytest.raises(DeviceError, match="cpu has too little memory for tiny in bf16"):
        list(pool.stream(replace(tiny_config, precision=Precision.BF16), SHORT))
    again = _news(pool, tiny_config)
    assert isinstance(again[0], Ready)
    assert not again[0].loaded
    assert isinstance(again[-1], Finished)


def test_a_checkpoint_that_breaks_while_loading_leaves_the_old_engine_usable(
    tiny_config: EngineConfig, tmp_path: Path
) -> None:
    """Its folder looked right, and only its tensors were not."""
    pool = EnginePool()
    list(pool.stream(tiny_config, SHORT))
    broken = shutil.copytree(TINY_DIR, tmp_path / "broken")
    config = json.loads((broken / "config.json").read_text())
    config["text_config"]["hidden_size"] = 392
    (broken / "config.json").write_text(json.dumps(config))
    with pytest.raises(CheckpointError):
        list(pool.stream(replace(tiny_config, checkpoint=str(broken)), SHORT))
    assert pool.resident is not None
    assert pool.resident.checkpoint == "tiny"


def test_two_runs_wait_for_each_other(tiny_config: EngineConfig) -> None:
    """A second run starts when the first has let go of the device, and both are right."""
    pool = EnginePool()
    long = Request(CLIP, options=DecodeOptions(max_new_tokens=40), speech_gate=False)
    first, second = pool.stream(tiny_config, long), pool.stream(tiny_config, long)
    next(first)
    results = [list(second)[-1], list(first)[-1]]
    assert all(isinstance(event, Finished) for event in results)
    assert results[0].token_ids == results[1].token_ids


def test_a_waiting_run_can_be_given_up(tiny_config: EngineConfig) -> None:
    """Closing while waiting leaves no trace: the run in progress ends and the device is free."""
    pool = EnginePool()
    first = pool.stream(tiny_config, SHORT)
    next(first)
    waiting = pool.stream(tiny_config, SHORT)
    with closing(waiting):
        pass
    assert isinstance(list(first)[-1], Finished)
    assert isinstance(list(pool.stream(tiny_config, SHORT))[-1], Finished)


def test_synthetic_weights_are_refused_for_transcription() -> None:
    """Random weights are for timing; the message says what to choose instead."""
    config = EngineConfig("synthetic-0.9b", "cpu", Precision.BF16)
    with pytest.raises(RequestError, match=r"random weights.*tiny or the published"):
        list(EnginePool().stream(config, SHORT))


def test_borrowed_time_and_runs_wait_for_each_other(tiny_config: EngineConfig) -> None:
    """Other work gets the engine under the same lock; a run that was asked for meanwhile waits."""
    pool = EnginePool()
    told: list[Loading | Ready] = []
    with pool.borrow(tiny_config, told.append, lambda: False) as engine:
        assert [type(event) for event in told] == [Loading, Ready]
        waiting = pool.stream(tiny_config, SHORT)
        runs = transcribe_together(engine, [SHORT, SHORT])
        assert pool.is_busy
    assert all(run.finished for run in runs)
    last = list(waiting)[-1]
    assert isinstance(last, Finished)
    assert last.token_ids == runs[0].token_ids


def test_borrowing_can_be_given_up(tiny_config: EngineConfig) -> None:
    """Who stops while waiting never gets the engine, and the device is free afterwards."""
    pool = EnginePool()
    stopped = threading.Event()
    with pool.borrow(tiny_config, lambda _: None, stopped.is_set):
        stopped.set()
        with pytest.raises(StoppedError), pool.borrow(tiny_config, print, stopped.is_set):
            pytest.fail("the device was held")
    assert not pool.is_busy
