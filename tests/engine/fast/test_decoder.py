"""Prompt blocks, growing caches and spectrograms: the parts of the fast path by themselves."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.decoding import generate_tokens
from moss_demo.engine.encoding import extractor_log_mel
from moss_demo.engine.fast.cache import bucket
from moss_demo.engine.fast.decoder import BLOCK_TOKENS, Decoder
from moss_demo.engine.fast.log_mel import DeviceLogMel
from moss_demo.engine.fast.plain_ops import PlainOps
from moss_demo.engine.fast.session import Session
from moss_demo.engine.fast.weights import join_weights
from moss_demo.engine.loading import Loaded, build_synthetic
from moss_demo.engine.prompting import CHUNK_SAMPLES
from moss_demo.errors import CheckpointError


@pytest.fixture(scope="module")
def decoder(tiny: Loaded) -> Decoder:
    """The decoder of the embedded checkpoint."""
    return Decoder(join_weights(tiny.model), PlainOps())


def _prompt(tiny: Loaded, length: int) -> torch.Tensor:
    """Return embeddings of `length` known tokens."""
    ids = torch.arange(length) * 7 % 1_200 + 20
    with torch.inference_mode():
        embeddings: torch.Tensor = tiny.model.get_input_embeddings()(ids)
    return embeddings


def _reference(tiny: Loaded, prompt: torch.Tensor, count: int) -> list[int]:
    produced: list[int] = []
    options = DecodeOptions()
    generate_tokens(tiny, prompt[None], options, count, produced.append, lambda: False)
    return produced


def _tokens(session: Session, count: int) -> list[list[int]]:
    """Return `count` tokens of each row."""
    steps = [session.tokens.flatten().tolist()]
    for _ in range(count - 1):
        session.advance()
        steps.append(session.tokens.flatten().tolist())
    return [list(row) for row in zip(*steps, strict=True)]


@pytest.mark.parametrize(
    "length", [1, BLOCK_TOKENS - 1, BLOCK_TOKENS, BLOCK_TOKENS + 1, 2 * BLOCK_TOKENS]
)
def test_prompts_that_end_at_the_edge_of_a_block(
    tiny: Loaded, decoder: Decoder, length: int
) -> None:
    """A whole block, one token less and one more continue alike."""
    prompt = _prompt(tiny, length)
    session = Session(decoder, 1, length + 8)
    session.begin([prompt])
    expected = _reference(tiny, prompt, 6)
    assert _tokens(session, 6)[0][: len(expected)] == expected


def test_a_cache_that_grows_loses_nothing(tiny: Loaded, decoder: Decoder) -> None:
    """Rows of a batch go on alike when the cache moves to longer tensors."""
    prompts = [_prompt(tiny, 1_020), _prompt(tiny, 300)]
    session = Session(decoder, 2, 1_020)
    session.begin(prompts)
    assert session.cache.capacity == 1_024
    rows = _tokens(session, 10)
    assert session.cache.capacity == 2_048
    for row, prompt in zip(rows, prompts, strict=True):
        expected = _reference(tiny, prompt, 10)
        assert row[: len(expected)] == expected


def test_logits_equal_those_of_the_model(tiny: Loaded, decoder: Decoder) -> None:
    """After the prompt and after one step, within fp32 rounding."""
    prompt = _prompt(tiny, 530)
    session = Session(decoder, 1, 600)
    session.begin([prompt])
    first = session.logits.clone()
    token = session.tokens.clone()
    session.advance()
    with torch.inference_mode():
        whole = torch.cat((prompt, tiny.model.get_input_embeddings()(token[0])))
        expected = tiny.model(inputs_embeds=whole[None]).logits[0]
    torch.testing.assert_close(first[0], expected[-2], rtol=1e-4, atol=1e-3)
    torch.testing.assert_close(session.logits[0], expected[-1], rtol=1e-4, atol=1e-3)


def test_joined_weights_are_not_held_twice(tiny: Loaded, decoder: Decoder) -> None:
    """The model's own matrices are views of the joined ones."""
    attention = tiny.model.model.language_model.layers[0].self_attn
    joined = decoder.weights.layers[0].qkv
    assert attention.q_proj.weight.untyped_storage().data_ptr() == (
        joined.untyped_storage().data_ptr()
    )


def test_a_step_of_the_published_size_never_looks_at_values() -> None:
    """Tensors without data go through a step, so that it can be recorded as a graph."""
    model = build_synthetic(torch.bfloat16, "meta")
    session = Session(Decoder(join_weights(model), PlainOps()), 2, 700)
    session.begin([torch.empty(445, 1_024, dtype=torch.bfloat16, device="meta")] * 2)
    session.advance()
    assert session.logits.shape == (2, 151_936)
    assert [keys.shape for keys in session.cache.keys] == [(2, 1_024, 8, 128)] * 28


def test_another_decoder_is_refused(tiny: Loaded, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bias that the fast path would leave out is named, with the way out."""
    monkeypatch.setattr(tiny.model.config.text_config, "attention_bias", True)
    with pytest.raises(CheckpointError, match=r"attention_bias.*--decode reference"):
        join_weights(tiny.model)


@given(st.integers(1, 200_000), st.integers(1, 200_000))
def test_buckets_hold_and_grow_with_what_is_asked(one: int, other: int) -> None:
    """A bucket is never too short, is its own bucket, and is larger for a longer need."""
    low, high = sorted((one, other))
    assert bucket(low) >= low
    assert bucket(bucket(low)) == bucket(low)
    assert bucket(low) <= bucket(high)


def test_spectrograms_equal_those_of_the_feature_extractor(
    tiny: Loaded, requests: list[Request]
) -> None:
    """Speech, noise, silence and a single sample, within 1e-4, with the same masks."""
    speech = requests[0].clip.samples
    noise = np.random.default_rng(0).normal(0, 0.2, CHUNK_SAMPLES).astype(np.float32)
    chunks = [speech[:CHUNK_SAMPLES], noise, np.zeros(4_000, np.float32), speech[:1], noise[:161]]
    extractor = tiny.processor.feature_extractor
    expected, expected_mask = extractor_log_mel(extractor)(chunks)
    features, mask = DeviceLogMel(extractor, torch.device("cpu"))(chunks)
    torch.testing.assert_close(features, expected, rtol=0, atol=1e-4)
    assert torch.equal(mask, expected_mask.bool())
