"""The compiled encoder: the same transcript, compiled once and before the run, never a dead end."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch._dynamo.utils import counters
from torch._inductor.cpp_builder import cpp_compiler_search
from torch._inductor.utils import fresh_cache

from moss_demo.__main__ import main
from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import (
    COMPILE_CHOICES,
    DecodePath,
    EncoderCompile,
    EngineConfig,
    choose_encoder_compile,
)
from moss_demo.engine.encoder import Encoder
from moss_demo.engine.encoding import MICRO_BATCH_CHUNKS, batch_sizes
from moss_demo.engine.loading import Loaded
from moss_demo.engine.pool import Compiling, EnginePool, Loading, PoolEvent, Ready
from moss_demo.engine.worker import wait_for_workers
from moss_demo.errors import RequestError
from tests.batch.turns import cut_turns
from tests.engine.conftest import SAMPLES

REQUEST = Request(read_audio(SAMPLES / "two-speakers.flac"), options=DecodeOptions(40))


@pytest.fixture(scope="module")
def compiled_config(tiny_config: EngineConfig) -> EngineConfig:
    """The embedded checkpoint with the mode that the page recommends."""
    return replace(tiny_config, encoder_compile=EncoderCompile.MAX_AUTOTUNE)


@pytest.fixture(scope="module")
def streams(tiny_config: EngineConfig, compiled_config: EngineConfig) -> list[list[PoolEvent]]:
    """One request eager, compiled, compiled again, and compiled on the other decode path."""
    pool = EnginePool()
    fast = replace(compiled_config, decode=DecodePath.FAST)
    configs = (tiny_config, compiled_config, compiled_config, fast)
    return [list(pool.stream(config, REQUEST)) for config in configs]


def _ready(events: list[PoolEvent]) -> Ready:
    return next(event for event in events if isinstance(event, Ready))


def test_compiled_and_eager_write_the_same_tokens(streams: list[list[PoolEvent]]) -> None:
    """In fp32 the compiled encoder changes no token, on either decode path."""
    finished = [events[-1] for events in streams]
    tokens = {event.token_ids for event in finished if isinstance(event, Finished)}
    assert len(tokens) == 1
    assert len(tokens.pop()) == 40


def test_compiling_is_announced_timed_apart_and_done_once(streams: list[list[PoolEvent]]) -> None:
    """Its event and its seconds belong to the first compiled run; the next one finds it done."""
    _, first, second, _ = streams
    ready, end = _ready(first), first[-1]
    assert [e.chunks for e in first[: first.index(ready)] if isinstance(e, Compiling)] == [1]
    assert ready.compile_s == ready.info.compile_s > 0
    assert ready.info.encoder_compile == "max-autotune-no-cudagraphs"
    assert ready.info.compile_problem is None
    assert isinstance(end, Finished)
    assert end.phases.encoder_s < end.at
    assert not any(isinstance(event, Compiling) for event in second)
    assert _ready(second).compile_s is None
    assert _ready(second).info.compile_s == ready.info.compile_s


def test_a_change_of_path_or_compilation_keeps_the_weights(streams: list[list[PoolEvent]]) -> None:
    """The checkpoint is read once for all four runs."""
    loads = [sum(isinstance(event, Loading) for event in events) for events in streams]
    assert loads == [1, 0, 0, 0]
    assert [_ready(events).info.decode for events in streams][2:] == ["reference", "fast"]


def test_embeddings_stay_within_rounding(tiny: Loaded) -> None:
    """A compiled batch size is close to eager; any other size is eager, to the last bit."""
    eager, compiled = (Encoder(tiny, mode) for mode in COMPILE_CHOICES[:2])
    assert compiled.to_compile({1, 2}) == (1, 2)
    compiled.compile(1)
    assert compiled.to_compile({1, 2}) == (2,)
    features = torch.randn(2, 80, 3000, generator=torch.Generator().manual_seed(0))
    mask = torch.ones(2, 3000, dtype=torch.long)
    mask[1, 1_200:] = 0
    graphs = counters["stats"]["unique_graphs"]
    expected = eager(features, mask)
    assert torch.equal(compiled(features, mask), expected)
    one = compiled(features[:1], mask[:1])
    torch.testing.assert_close(one, expected[: one.shape[0]], rtol=1e-4, atol=1e-4)
    assert counters["stats"]["unique_graphs"] == graphs


def test_the_model_itself_is_left_alone(tiny: Loaded) -> None:
    """Whoever shares the weights still gets the library's own eager layers."""
    before = list(tiny.model.model.audio_tower.layers)
    Encoder(tiny, EncoderCompile.MAX_AUTOTUNE)
    assert list(tiny.model.model.audio_tower.layers) == before


def test_batch_sizes_are_those_that_occur() -> None:
    """Full micro-batches and one remainder, over all clips together."""
    half_minute = AudioClip("clip", np.zeros(30 * 16_000, dtype=np.float32))
    beyond = AudioClip("clip", np.zeros(30 * 16_000 + 1, dtype=np.float32))
    assert batch_sizes([half_minute]) == {1}
    assert batch_sizes([beyond]) == {2}
    assert batch_sizes([half_minute] * MICRO_BATCH_CHUNKS) == {8}
    assert batch_sizes([beyond, *[half_minute] * 9]) == {8, 3}


def test_a_stop_while_compiling_ends_before_the_run(compiled_config: EngineConfig) -> None:
    """The size in work is finished, nothing is transcribed, and the next run is served."""
    pool = EnginePool()
    with closing(pool.stream(compiled_config, REQUEST)) as events:
        assert any(isinstance(event, Compiling) for event in events)
    wait_for_workers()
    assert not pool.is_busy
    assert isinstance(list(pool.stream(compiled_config, REQUEST))[-1], Finished)


def test_the_rejected_mode_is_refused_with_its_reason() -> None:
    """It may be measured, not used; another word is no mode at all."""
    with pytest.raises(RequestError, match=r"reduce-overhead is rejected: .* use max-autotune"):
        choose_encoder_compile("reduce-overhead")
    with pytest.raises(RequestError, match="no way to compile"):
        choose_encoder_compile("faster")
    assert choose_encoder_compile(None) is EncoderCompile.OFF


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """A machine without a C++ compiler, where nothing was compiled before."""
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    cpp_compiler_search.cache_clear()  # torch looks for a compiler once
    torch.compiler.reset()  # what this process compiled before
    with fresh_cache():
        yield
    cpp_compiler_search.cache_clear()


@pytest.mark.usefixtures("no_compiler")
def test_many_recordings_go_on_without_a_compiler_too(tmp_path: Path) -> None:
    """An evaluation that cannot compile its encoder answers for every row."""
    (tmp_path / "clips").mkdir()
    cut_turns(tmp_path / "clips", 1)
    words = ["evaluate", str(tmp_path / "clips"), "--out", str(tmp_path / "out")]
    assert main([*words, "--max-new-tokens", "20", "--encoder-compile", "default"]) == 0
    assert ",done," in (tmp_path / "out" / "clips.csv").read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_compiler")
def test_a_machine_without_a_compiler_says_so_and_goes_on(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One sentence with the remedy, and the transcript all the same."""
    words = ["transcribe", str(SAMPLES / "two-speakers.flac"), "--max-new-tokens", "40"]
    assert main([*words, "--encoder-compile", "default"]) == 0
    output, error = capsys.readouterr()
    assert output.startswith("[00:00")
    assert "The encoder runs uncompiled: there is no C++ compiler; install g++." in error
    assert "Traceback" not in error
