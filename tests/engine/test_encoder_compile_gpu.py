"""The compiled encoder on a CUDA device; the rejected mode is left to a process of its own."""

from typing import Any

import pytest
import torch
from torch import Tensor

from moss_demo.engine.checkpoints import find_checkpoint
from moss_demo.engine.config import (
    COMPILE_CHOICES,
    DecodePath,
    EncoderCompile,
    EngineConfig,
    Precision,
)
from moss_demo.engine.encoder import Encoder
from moss_demo.engine.engine import Engine
from moss_demo.engine.loading import Loaded, build_synthetic, load
from moss_demo.engine.together import transcribe_together
from tests.engine.test_encoder import REQUEST

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device"),
]

CUDA = "cuda:0"
NOISE = 1.2
"""How much further from fp32 than the eager encoder in bf16 the compiled one may be."""


@pytest.fixture(scope="module")
def tiny_on_gpu() -> Loaded:
    """The embedded checkpoint in fp32."""
    return load(find_checkpoint("tiny"), torch.float32, CUDA)


@pytest.mark.parametrize("decode", DecodePath)
@pytest.mark.parametrize("mode", COMPILE_CHOICES[1:])
def test_compiled_and_eager_write_the_same_tokens(
    tiny_on_gpu: Loaded, mode: EncoderCompile, decode: DecodePath
) -> None:
    """In fp32 no token changes, also beside the CUDA graphs of the fast path."""
    config = EngineConfig("tiny", CUDA, Precision.FP32, decode)
    eager = Engine(config, find_checkpoint("tiny"), tiny_on_gpu, 0.0)
    compiled = eager.sibling(EngineConfig("tiny", CUDA, Precision.FP32, decode, mode))
    for _ in compiled.compile_for([REQUEST.clip]):
        pass
    for _ in range(3):  # in turns: neither may disturb the other
        expected, ours = (
            transcribe_together(engine, [REQUEST])[0].token_ids for engine in (eager, compiled)
        )
        assert ours == expected


@pytest.mark.parametrize("mode", COMPILE_CHOICES[1:])
def test_embeddings_of_the_published_size_are_as_exact_as_eager_ones(mode: EncoderCompile) -> None:
    """In bf16 they are no further from fp32 than 1.2 times those of the eager encoder."""
    torch.manual_seed(0)
    model: Any = build_synthetic(torch.float32, CUDA)
    features = torch.randn(3, 80, 3000, device=CUDA)
    mask = torch.ones(3, 3000, dtype=torch.long, device=CUDA)
    loaded = Loaded(model, processor=None, generation=None)  # type: ignore[arg-type]
    exact = Encoder(loaded, EncoderCompile.OFF)(features, mask)
    torch.nn.Module.to(model, torch.bfloat16)
    eager, compiled = Encoder(loaded, EncoderCompile.OFF), Encoder(loaded, mode)
    compiled.compile(3)

    def error(encoder: Encoder) -> Tensor:
        return (encoder(features, mask).float() - exact).norm() / exact.norm()

    allowed = NOISE * error(eager)
    assert all(error(compiled) <= allowed for _ in range(3))
    assert compiled.problem is None
