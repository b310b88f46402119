"""Every precision from the checkpoint to a transcript, on both decode paths."""

import pytest

from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from tests.engine.conftest import SAMPLES

WEIGHT_FORMATS = (Precision.INT8, Precision.Q8_0, Precision.Q4_0, Precision.Q4_K)


@pytest.fixture(scope="module")
def request_() -> Request:
    """The first words of a sample."""
    clip = read_audio(SAMPLES / "two-speakers.flac")
    return Request(clip, options=DecodeOptions(40), speech_gate=False)


@pytest.fixture(scope="module")
def pool() -> EnginePool:
    """A pool of its own: other tests keep fp32 in theirs."""
    return EnginePool()


@pytest.mark.parametrize(
    ("precision", "decode"),
    [*((each, DecodePath.REFERENCE) for each in WEIGHT_FORMATS), (Precision.INT8, DecodePath.FAST)],
)
def test_tiny_transcribes_in_every_weight_format(
    pool: EnginePool, request_: Request, precision: Precision, decode: DecodePath
) -> None:
    """The first sentence is the same in every format, and the report tells of all 43 matrices."""
    config = EngineConfig("tiny", "cpu", precision, decode)
    finished = list(pool.stream(config, request_))[-1]
    assert isinstance(finished, Finished)
    assert finished.text.startswith("[0.48][S01]hello ben can you hear me[1.98]")
    info = pool.resident
    assert info is not None
    assert info.parameters == 18_881_664
    assert info.quantization is not None
    assert (info.quantization.weight_format, len(info.quantization.matrices)) == (precision, 43)
    saved = 2 * info.parameters - info.weight_bytes
    assert saved > 9_000_000 if precision is Precision.INT8 else saved == 0


def test_plain_precisions_have_no_report(pool: EnginePool, request_: Request) -> None:
    """bf16 is a number format and no quantization."""
    list(pool.stream(EngineConfig("tiny", "cpu", Precision.BF16), request_))
    assert pool.resident is not None
    assert pool.resident.quantization is None
    assert pool.resident.record()["quantization"] is None
