"""A borrowed GPU, as far as it can be seen without one: off ZeroGPU `spaces` lends nothing."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.pool import EnginePool, Working
from moss_demo.errors import NotOfferedError, RequestError
from moss_demo.serving.context import SELF_TEST_SAMPLE, AppContext, build_context
from moss_demo.serving.metrics import Door
from moss_demo.serving.zero_gpu import LONGEST_S, START_S, lent_s
from moss_demo.settings import Settings
from moss_demo.ui.app import build_app


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> AppContext:
    """A Space on ZeroGPU, with a CPU in place of what is lent."""
    return build_context(Settings(zero_gpu=True, temp_folder=tmp_path_factory.mktemp("t")), "cpu")


def _open() -> Request:
    return Request(read_audio(SELF_TEST_SAMPLE), options=DecodeOptions(40))


def test_a_visitor_gets_what_the_resident_engine_writes(context: AppContext) -> None:
    """The same tokens as from an engine of one's own, and every event can cross processes."""
    config = context.engine_config("tiny", "auto")
    events = list(context.transcribe(config, _open, None, Door.PAGE))
    ours = list(EnginePool().stream(config, _open()))[-1]
    assert isinstance(events[-1], Finished)
    assert isinstance(ours, Finished)
    assert events[-1].token_ids == ours.token_ids
    for event in events[2:]:
        assert pickle.loads(pickle.dumps(event)) == event
    assert not [event for event in events if isinstance(event, Working)]


def test_the_time_asked_for_follows_the_recording() -> None:
    """Longer sound, longer loan; never more than can be granted."""

    def seconds(duration_s: float) -> float:
        clip = AudioClip("noise", np.zeros(int(16_000 * duration_s), dtype=np.float32))
        return lent_s(Request(clip))

    assert START_S < seconds(10) < seconds(60) < seconds(600)
    assert seconds(5_400) == LONGEST_S


def test_what_was_not_loaded_at_the_start_is_refused(context: AppContext) -> None:
    """One checkpoint, precision and decode path: the choices say so, and so does the engine."""
    assert context.checkpoint_choices() == ["tiny"]
    assert context.precision_choices() == ["fp32"]
    assert context.decode_choices() == ("reference",)
    with pytest.raises(NotOfferedError):
        context.engine_config("tiny", "bf16")
    other = EngineConfig("tiny", "cpu", Precision.FP32, DecodePath.FAST)
    with pytest.raises(RequestError, match="leave checkpoint, precision and decode path"):
        list(context.transcribe(other, _open, None, Door.PAGE))


def test_an_error_keeps_its_sentence(context: AppContext) -> None:
    """What is raised beside the lent GPU reaches the visitor as it was written."""
    config = context.engine_config("tiny", "auto")
    long = Request(AudioClip("long", np.zeros(900 * 16_000, dtype=np.float32)))
    with pytest.raises(RequestError, match="tiny holds about 9 minutes"):
        list(context.transcribe(config, lambda: long, None, Door.PAGE))


def test_a_stranger_waits_for_nobody(context: AppContext) -> None:
    """Every run has a GPU of its own: places are always the first."""
    config = context.engine_config("tiny", "auto")
    places = [context.pool.line_up(config).place.ahead for _ in range(3)]
    assert places == [0, 0, 0]


def test_the_page_of_such_a_space_leaves_out_what_needs_a_gpu_for_long(
    context: AppContext,
) -> None:
    """Evaluations and benchmarks are not offered; the rest of the page is."""
    tabs = {
        block.id for block in build_app(context).blocks.values() if type(block).__name__ == "Tab"
    }
    assert {"transcribe", "compare", "system"} <= tabs
    assert not {"evaluate", "benchmark"} & tabs


def test_the_self_test_borrows_nothing(context: AppContext, tmp_path: Path) -> None:
    """Nobody lends a GPU to a server: it listens to its sample on the CPU."""
    assert tmp_path.exists()
    assert context.self_test().state == "ready"
