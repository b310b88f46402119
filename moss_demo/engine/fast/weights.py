"""The decoder's weights as the fast path reads them: matrices that share an input are joined.

The model's own parameters become views of the joined matrices, so that nothing is held twice and
the reference path computes with the very same numbers. Knows nothing of caches or of steps.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.engine.weights.int8 import head_matrix, is_int8, join_int8
from moss_demo.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class DecoderShape:
    """Sizes of the decoder.

    Attributes:
        hidden: width of a hidden state.
        kv_heads: key and value heads; each serves as many query heads.
        head_dim: width of a head.
        eps: constant of every RMS norm.
    """

    hidden: int
    kv_heads: int
    head_dim: int
    eps: float


@dataclass(frozen=True, slots=True, eq=False)
class LayerWeights:
    """One decoder layer; matrices have the shape (outputs, inputs)."""

    input_norm: Tensor
    qkv: Tensor
    q_norm: Tensor
    k_norm: Tensor
    output: Tensor
    mlp_norm: Tensor
    gate_up: Tensor
    down: Tensor


@dataclass(frozen=True, slots=True, eq=False)
class DecoderWeights:
    """The whole decoder.

    Attributes:
        shape: its sizes.
        embed: returns the embeddings of token ids.
        layers: from the first to the last.
        norm: weight of the last RMS norm.
        head: (vocabulary, hidden).
        rotation: inverse frequencies of the rotary embedding, fp32, (head_dim / 2,).
    """

    shape: DecoderShape
    embed: nn.Module
    layers: tuple[LayerWeights, ...]
    norm: Tensor
    head: Tensor
    rotation: Tensor


@torch.no_grad()
def join_weights(model: MossTranscribeDiarizeForConditionalGeneration) -> DecoderWeights:
    """Join the decoder's matrices in place.

    Raises:
        CheckpointError: the decoder differs from the published one in more than its sizes.
    """
    decoder: Any = model.model.language_model
    config: Any = model.config.text_config
    _refuse_other_decoders(config)
    return DecoderWeights(
        shape=DecoderShape(
            config.hidden_size,
            config.num_key_value_heads,
            config.head_dim,
            config.rms_norm_eps,
        ),
        embed=decoder.embed_tokens,
        layers=tuple(_layer(layer) for layer in decoder.layers),
        norm=decoder.norm.weight.detach(),
        head=head_matrix(model.lm_head),
        rotation=decoder.rotary_emb.inv_freq.float(),
    )


def _refuse_other_decoders(config: Any) -> None:
    wanted = {
        "attention_bias": (config.attention_bias, False),
        "hidden_act": (config.hidden_act, "silu"),
        "layer_types": (set(config.layer_types), {"full_attention"}),
        "rope_type": (config.rope_parameters["rope_type"], "default"),
    }
    for name, (found, known) in wanted.items():
        if found != known:
            raise CheckpointError(
                f"The fast decode path does not know this decoder ({name} is {found}); "
                "choose --decode reference."
            )


def _layer(layer: Any) -> LayerWeights:
    attention, mlp = layer.self_attn, layer.mlp
    return LayerWeights(
        input_norm=layer.input_layernorm.weight.detach(),
        qkv=_join(attention.q_proj, attention.k_proj, attention.v_proj),
        q_norm=attention.q_norm.weight.detach(),
        k_norm=attention.k_norm.weight.detach(),
        output=attention.o_proj.weight.detach(),
        mlp_norm=layer.post_attention_layernorm.weight.detach(),
        gate_up=_join(mlp.gate_proj, mlp.up_proj),
        down=mlp.down_proj.weight.detach(),
    )


def _join(*linears: nn.Linear) -> Tensor:
    if is_int8(linears[0].weight):
        return join_int8(linears)
    joined = torch.cat([linear.weight.detach() for linear in linears])
    parts = joined.split([linear.out_features for linear in linears])
    for linear, part in zip(linears, parts, strict=True):
        linear.weight.data = part
    return joined
