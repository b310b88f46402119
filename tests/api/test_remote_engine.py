"""This app as the engine of another one: what evaluations and comparisons send to it."""

from pathlib import Path

from moss_demo.domain.events import Run
from moss_demo.domain.request import Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.remote import RemoteEngine
from moss_demo.engine.together import transcribe_together
from moss_demo.errors import RemoteError
from moss_demo.settings import read_remote
from tests.api.conftest import Served


def test_the_app_answers_its_own_remote_engine(served: Served, recording: Path) -> None:
    """Words, speakers and times are those of an engine in this process."""
    request = Request(read_audio(recording))
    (run,) = RemoteEngine(read_remote(f"{served.address}v1")).transcribe([request], lambda: False)
    assert isinstance(run, Run)
    pool, config = EnginePool(), EngineConfig("tiny", "cpu", Precision.FP32)
    with pool.borrow(config, lambda _: None, lambda: False) as engine:
        (expected,) = transcribe_together(engine, [request])
    assert run.transcript.segments == expected.transcript.segments


def test_a_model_that_the_app_does_not_serve_is_named(served: Served, recording: Path) -> None:
    """The cause comes from the app's own answer."""
    engine = RemoteEngine(read_remote(f"{served.address}v1"), "nowhere")
    (failed,) = engine.transcribe([Request(read_audio(recording))], lambda: False)
    assert isinstance(failed, RemoteError)
    assert "404" in str(failed)
