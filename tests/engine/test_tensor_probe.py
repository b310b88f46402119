"""Numbers of two engines on the same sound and the same tokens."""

from dataclasses import replace

import pytest

from moss_demo.domain.events import Finished
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool, Loading, Preparing, Ready
from moss_demo.engine.tensor_probe import compare_tensors
from moss_demo.errors import RequestError
from moss_demo.scoring.tensor_parity import Stage
from tests.engine.conftest import SAMPLES

TOKENS = 12


@pytest.fixture(scope="module")
def request_() -> Request:
    """The begin of a sample."""
    clip = read_audio(SAMPLES / "two-speakers.flac")
    return Request(clip, options=DecodeOptions(TOKENS), speech_gate=False)


@pytest.fixture(scope="module")
def tokens(pool: EnginePool, tiny_config: EngineConfig, request_: Request) -> tuple[int, ...]:
    """What fp32 writes of it."""
    finished = list(pool.stream(tiny_config, request_))[-1]
    assert isinstance(finished, Finished)
    return finished.token_ids


def test_fp32_is_as_far_from_itself_as_its_noise(
    pool: EnginePool, tiny_config: EngineConfig, request_: Request, tokens: tuple[int, ...]
) -> None:
    """The same engine gives the same numbers; token by token they differ in the last places."""
    rows = compare_tensors(
        pool, (tiny_config, tiny_config), request_, tokens, lambda _: None, lambda: False
    )
    assert [row.stage for row in rows] == list(Stage)
    assert all(row.candidate.max_abs == 0 for row in rows)
    logits = rows[2]
    assert logits.values == TOKENS * 1_280
    assert 0 < logits.noise.relative_error < 1e-4
    assert logits.noise.top1_agreement == 1


def test_int8_changes_logits_and_bf16_of_the_encoder_only_its_own(
    pool: EnginePool, tiny_config: EngineConfig, request_: Request, tokens: tuple[int, ...]
) -> None:
    """int8's encoder is that of bf16, bit for bit; its logits are further off than noise."""
    said: list[Preparing] = []
    tables = [
        compare_tensors(
            pool,
            (tiny_config, replace(tiny_config, precision=precision)),
            request_,
            tokens,
            said.append,
            lambda: False,
        )
        for precision in (Precision.BF16, Precision.INT8)
    ]
    assert any(isinstance(event, Loading) for event in said)
    assert sum(isinstance(event, Ready) for event in said) == 4
    bf16, int8 = tables
    assert int8[0] == bf16[0]
    assert int8[1] == bf16[1]
    assert int8[2].candidate != bf16[2].candidate
    assert int8[2].times_noise is not None
    assert int8[2].times_noise > 10
    assert int8[2].candidate.cosine > 0.99


def test_a_side_that_wrote_nothing_cannot_teach(
    pool: EnginePool, tiny_config: EngineConfig, request_: Request
) -> None:
    """Without tokens there are no logits to compare."""
    with pytest.raises(RequestError, match="A wrote nothing"):
        compare_tensors(
            pool, (tiny_config, tiny_config), request_, (), lambda _: None, lambda: False
        )
