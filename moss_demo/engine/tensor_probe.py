"""What two engines compute on the way to a transcript, so that their numbers can be compared.

Both hear the same sound and are told the same tokens, whatever they would have written themselves.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from transformers import DynamicCache

from moss_demo.domain.audio import SAMPLE_RATE_HZ, AudioClip
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import Layout
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.decoding import embed_prompt
from moss_demo.engine.encoding import chunks_of
from moss_demo.engine.engine import Engine
from moss_demo.engine.pool import EnginePool, Preparing
from moss_demo.engine.prompting import build_prompt_ids
from moss_demo.engine.worker import Emit, IsStopped
from moss_demo.errors import RequestError
from moss_demo.scoring.tensor_parity import StageParity, StageTensors, tensor_parity

PROBED_S = 120.0
"""Of the recording: four chunks hold 25 MB of encoder output at the published size."""

PROBED_TOKENS = 256
"""Logits of so many tokens take 156 MB at the published size."""


def compare_tensors(
    pool: EnginePool,
    configs: tuple[EngineConfig, EngineConfig],
    request: Request,
    tokens: Sequence[int],
    emit: Emit[Preparing],
    is_stopped: IsStopped,
) -> tuple[StageParity, ...]:
    """Compute A's tensors, A's once more in batches of another shape, and B's, and compare them.

    Args:
        pool: where the engines are loaded, one after the other.
        configs: A, the reference, and B.
        request: the recording, of which the first `PROBED_S` are used.
        tokens: what A wrote, of which the first `PROBED_TOKENS` are used.
        emit: called while an engine is waited for and loaded.
        is_stopped: asked in between.

    Raises:
        RequestError: A wrote nothing, or the engines are of different sizes.
        StoppedError: the work was given up.
        MossDemoError: an engine cannot be loaded.
    """
    taught = list(tokens[:PROBED_TOKENS])
    if not taught:
        raise RequestError("A wrote nothing, so there is nothing to compare number by number.")
    clip = request.clip
    samples = clip.samples[: int(PROBED_S * SAMPLE_RATE_HZ)]
    part = replace(request, clip=AudioClip(clip.name, samples))
    with pool.borrow(configs[0], emit, is_stopped, [part.clip]) as engine:
        reference = _probe(engine, part, taught)
        again = _probe(engine, part, taught, otherwise=True)
    with pool.borrow(configs[1], emit, is_stopped, [part.clip]) as engine:
        candidate = _probe(engine, part, taught)
    if not reference.fits(candidate):
        raise RequestError("A and B are models of different sizes; choose one checkpoint for both.")
    return tensor_parity(reference, candidate, again)


@torch.inference_mode()
def _probe(
    engine: Engine, request: Request, tokens: list[int], *, otherwise: bool = False
) -> StageTensors:
    """Compute every stage; `otherwise` with the chunks twice in their batch and token by token."""
    loaded, chunks = engine.loaded, chunks_of([request.clip])
    hidden, audio = engine.encode_chunks(chunks * (2 if otherwise else 1))
    hidden, audio = hidden[: len(chunks)], audio[: audio.shape[0] // (2 if otherwise else 1)]
    ids = build_prompt_ids(loaded.processor, Layout(engine.info.layout), request)
    prompt = embed_prompt(loaded, ids, audio)
    taught = loaded.model.get_input_embeddings()(torch.tensor([tokens[:-1]], device=prompt.device))
    parts = [prompt, *taught.to(prompt.dtype).split(1, dim=1)]
    if otherwise:
        sizes: Any = loaded.model.config.text_config
        cache = DynamicCache(config=sizes)
        logits = torch.cat(
            [
                loaded.model(inputs_embeds=part, cache=cache, logits_to_keep=1).logits
                for part in parts
            ],
            dim=1,
        )
    else:
        whole = torch.cat(parts, dim=1)
        logits = loaded.model(inputs_embeds=whole, logits_to_keep=len(tokens)).logits
    return StageTensors(_as_numpy(hidden), _as_numpy(audio), _as_numpy(logits[0]))


def _as_numpy(tensor: torch.Tensor) -> np.ndarray:
    values: np.ndarray = tensor.float().cpu().numpy()
    return values
