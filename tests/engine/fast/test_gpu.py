"""The correctness of the fast path on a CUDA device: kernels, graph and growth."""

import gc
from dataclasses import replace

import pytest
import torch

from moss_demo.domain.events import Run
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import DecodePath, EngineConfig, Precision
from moss_demo.engine.engine import Engine
from moss_demo.engine.fast.decoder import Decoder
from moss_demo.engine.fast.ops import choose_ops
from moss_demo.engine.fast.plain_ops import PlainOps
from moss_demo.engine.fast.session import Session
from moss_demo.engine.fast.weights import join_weights
from moss_demo.engine.loading import Loaded, build_synthetic, load
from moss_demo.engine.together import transcribe_together
from moss_demo.scoring.parity import parity
from moss_demo.scoring.verdict import Gate

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

CUDA = "cuda:0"
LOGITS_NOISE = 1.2
"""How much further from fp32 than the reference path's bf16 logits the fast path's may be."""


@pytest.fixture(scope="module")
def tiny_on_gpu() -> Loaded:
    """The embedded checkpoint in fp32."""
    return load(find_checkpoint("tiny"), torch.float32, CUDA)


def _engine(loaded: Loaded, decode: DecodePath, precision: Precision = Precision.FP32) -> Engine:
    config = EngineConfig("tiny", CUDA, precision, decode)
    return Engine(config, find_checkpoint("tiny"), loaded, 0.0)


@pytest.fixture(scope="module")
def fast_on_gpu(tiny_on_gpu: Loaded) -> Engine:
    """The path under test."""
    return _engine(tiny_on_gpu, DecodePath.FAST)


@pytest.fixture(scope="module")
def oracle_on_gpu(tiny_on_gpu: Loaded, requests: list[Request]) -> tuple[Run, ...]:
    """Runs of the reference path."""
    return transcribe_together(_engine(tiny_on_gpu, DecodePath.REFERENCE), requests)


def test_samples_alone_and_together_equal_the_reference(
    fast_on_gpu: Engine, requests: list[Request], oracle_on_gpu: tuple[Run, ...]
) -> None:
    """Batch sizes 1, 3 and 8, warm and cold."""
    for request, expected in zip(requests, oracle_on_gpu, strict=True):
        assert transcribe_together(fast_on_gpu, [request])[0].token_ids == expected.token_ids
    expected_ids = [run.token_ids for run in oracle_on_gpu]
    runs = transcribe_together(fast_on_gpu, requests)
    assert [run.token_ids for run in runs] == expected_ids
    eight = [replace(requests[n % 3], options=DecodeOptions(30 + n)) for n in range(8)]
    runs = transcribe_together(fast_on_gpu, eight)
    assert [run.token_ids for run in runs] == [expected_ids[n % 3][: 30 + n] for n in range(8)]


def test_transcripts_in_bf16_pass_the_parity_rule(requests: list[Request]) -> None:
    """Words, speakers and stamps equal those of the reference path in the same precision."""
    loaded = load(find_checkpoint("tiny"), torch.bfloat16, CUDA)
    fast, reference = (
        transcribe_together(_engine(loaded, decode, Precision.BF16), requests)
        for decode in (DecodePath.FAST, DecodePath.REFERENCE)
    )
    for ours, expected in zip(fast, reference, strict=True):
        assert parity(expected.transcript, ours.transcript).gate is Gate.PASS


def _decode(decoder: Decoder, prompts: list[torch.Tensor], steps: int) -> list[list[int]]:
    session = Session(decoder, len(prompts), max(prompt.shape[0] for prompt in prompts))
    session.begin(prompts)
    tokens = [session.tokens.flatten().tolist()]
    for _ in range(steps):
        session.advance()
        tokens.append(session.tokens.flatten().tolist())
    return tokens


def test_a_cache_that_grows_between_two_graphs_loses_nothing(tiny_on_gpu: Loaded) -> None:
    """Kernels and graph agree with plain operations before and after the cache has moved."""
    weights = join_weights(tiny_on_gpu.model)
    ids = torch.arange(1_020, device=CUDA) * 7 % 1_200 + 20
    prompt = weights.embed(ids)
    prompts = [prompt, prompt[:511]]
    fused = _decode(Decoder(weights, choose_ops(torch.device(CUDA))), prompts, 12)
    assert fused == _decode(Decoder(weights, PlainOps()), prompts, 12)


def test_graphs_that_come_and_go_leave_no_memory_behind(tiny_on_gpu: Loaded) -> None:
    """A server changes its engine for years; a graph that goes leaves those that stay alone."""
    weights = join_weights(tiny_on_gpu.model)
    prompt = weights.embed(torch.arange(300, device=CUDA))
    decoders = [Decoder(weights, ops) for ops in (choose_ops(torch.device(CUDA)), PlainOps())]
    held: list[int] = []
    for _ in range(4):
        stays = Session(decoders[1], 1, 300)
        stays.begin([prompt])
        stays.advance()
        expected = _decode(decoders[0], [prompt], 8)
        for _ in range(7):
            stays.advance()
        assert stays.tokens.flatten().tolist() == expected[-1]
        del stays
        gc.collect()
        torch.cuda.empty_cache()
        held.append(torch.cuda.memory_allocated())
    assert len(set(held)) == 1


def test_kernels_equal_plain_operations_in_bf16() -> None:
    """One layer of the published size, from one position to thousands."""
    device = torch.device(CUDA)
    torch.manual_seed(0)
    fused, plain = choose_ops(device), PlainOps()
    make = {"device": device, "dtype": torch.bfloat16}
    cache = (torch.randn(3, 4_096, 8, 128, **make), torch.randn(3, 4_096, 8, 128, **make))
    copies = (cache[0].clone(), cache[1].clone())
    norms = (torch.ones(128, **make), torch.ones(128, **make))
    rotations = (torch.randn(4_096, 64, device=device), torch.randn(4_096, 64, device=device))
    close = {"rtol": 2e-2, "atol": 2e-2}
    for position in (0, 63, 64, 700, 4_095):
        positions = torch.tensor([[position], [0], [position // 2]], device=device)
        qkv = torch.randn(3, 1, 32, 128, **make)
        arguments = (qkv, norms, 1e-6, rotations, positions)
        torch.testing.assert_close(
            fused.attend(*arguments, cache, position + 1),
            plain.attend(*arguments, copies, position + 1),
            **close,
        )
        torch.testing.assert_close(cache, copies, **close)
        queries = fused.rotate_and_store(*arguments, cache)
        torch.testing.assert_close(queries, plain.rotate_and_store(*arguments, copies), **close)
        torch.testing.assert_close(cache, copies, **close)


@pytest.mark.parametrize("rows", [1, 3])
def test_fused_products_equal_plain_operations_in_bf16(rows: int) -> None:
    """Norm, product and gate of the published sizes, alone and in a batch."""
    make = {"device": CUDA, "dtype": torch.bfloat16}
    torch.manual_seed(0)
    fused, plain = choose_ops(torch.device(CUDA)), PlainOps()
    close = {"rtol": 2e-2, "atol": 2e-2}
    hidden, delta = torch.randn(2, rows, 1, 1_024, **make)
    matrix = torch.randn(6_144, 1_024, **make) / 32
    wide = torch.randn(1_024, 3_072, **make) / 55
    operands = (hidden, delta, torch.rand(1_024, **make), 1e-6)
    for ours, expected in (
        (fused.add_norm(*operands), plain.add_norm(*operands)),
        (fused.norm_linear(*operands, matrix), plain.norm_linear(*operands, matrix)),
        (fused.norm_swiglu(*operands, matrix), plain.norm_swiglu(*operands, matrix)),
    ):
        torch.testing.assert_close(ours, expected, **close)
    values = torch.randn(rows, 1, 3_072, **make)
    torch.testing.assert_close(fused.linear(values, wide), plain.linear(values, wide), **close)


@torch.inference_mode()
def test_logits_of_the_published_size_are_as_exact_as_the_reference() -> None:
    """In bf16 they are no further from fp32 than 1.2 times those of the reference path."""
    torch.manual_seed(0)
    model = build_synthetic(torch.float32, CUDA)
    ids = torch.randint(0, 151_000, (1, 445), device=CUDA)
    exact = model(input_ids=ids).logits[:, -1]
    torch.nn.Module.to(model, torch.bfloat16)
    plain = model(input_ids=ids).logits[:, -1].float()
    decoder = Decoder(join_weights(model), choose_ops(torch.device(CUDA)))
    session = Session(decoder, 1, 445)
    session.begin([decoder.weights.embed(ids[0, :444])])
    session.tokens.copy_(ids[:, 444:])
    session.advance()
    fast_error = (session.logits.float() - exact).norm() / exact.norm()
    assert fast_error <= LOGITS_NOISE * (plain - exact).norm() / exact.norm()
