"""What the converters of this model call its tensors, and what the native classes call them.

Three families: the publisher's names, as they are in safetensors; those of OpenAI's Whisper for
the encoder; and llama.cpp's, with the short forms of ports that follow it.
"""

import re
from collections.abc import Iterable

ENCODER = "model.audio_tower."
PROJECTOR = "model.multi_modal_projector."
DECODER = "model.language_model."
HEAD = "lm_head.weight"

_SUFFIXES = {"w": "weight", "b": "bias"}
"""Short ends of names that some ports use."""

_ENCODER_PARTS = {
    r"conv1|conv1d\.1": "conv1",
    r"conv2|conv1d\.2": "conv2",
    r"embed_positions|positional_embedding|position_embd|pos_embd": "embed_positions",
    r"layer_norm|ln_post|post_ln|post_norm": "layer_norm",
}
_ENCODER_LAYER_PARTS = {
    r"self_attn\.q_proj|attn\.query|attn_q": "self_attn.q_proj",
    r"self_attn\.k_proj|attn\.key|attn_k": "self_attn.k_proj",
    r"self_attn\.v_proj|attn\.value|attn_v": "self_attn.v_proj",
    r"self_attn\.out_proj|attn\.out|attn_out|attn_o": "self_attn.out_proj",
    r"self_attn_layer_norm|attn_ln|ln1|attn_norm": "self_attn_layer_norm",
    r"final_layer_norm|mlp_ln|ln2|ffn_norm|ffn_ln": "final_layer_norm",
    r"fc1|mlp\.0|ffn_up|ffn_1": "fc1",
    r"fc2|mlp\.2|ffn_down|ffn_2": "fc2",
}
_PROJECTOR_PARTS = {
    r"linear_1|layers\.0|mlp\.0|0|fc1": "linear_1",
    r"linear_2|layers\.2|mlp\.2|2|fc2": "linear_2",
    r"norm|layers\.3|mlp\.3|ln": "norm",
}
_DECODER_PARTS = {r"embed_tokens|token_embd": "embed_tokens", r"norm|output_norm": "norm"}
_DECODER_LAYER_PARTS = {
    r"self_attn\.q_proj|attn_q": "self_attn.q_proj",
    r"self_attn\.k_proj|attn_k": "self_attn.k_proj",
    r"self_attn\.v_proj|attn_v": "self_attn.v_proj",
    r"self_attn\.o_proj|attn_output|attn_o": "self_attn.o_proj",
    r"self_attn\.q_norm|attn_q_norm": "self_attn.q_norm",
    r"self_attn\.k_norm|attn_k_norm": "self_attn.k_norm",
    r"input_layernorm|attn_norm": "input_layernorm",
    r"post_attention_layernorm|ffn_norm": "post_attention_layernorm",
    r"mlp\.gate_proj|ffn_gate": "mlp.gate_proj",
    r"mlp\.up_proj|ffn_up": "mlp.up_proj",
    r"mlp\.down_proj|ffn_down": "mlp.down_proj",
}

_LAYER = r"(?:layers|blocks|blk)\.(?P<layer>\d{1,4})\."

_FAMILIES: tuple[tuple[str, str, dict[str, str], dict[str, str]], ...] = (
    (
        ENCODER,
        r"(?:(?:model\.)?(?:whisper_encoder|audio_tower)\.(?:encoder\.)?|encoder\.|enc\.|a\.)",
        _ENCODER_PARTS,
        _ENCODER_LAYER_PARTS,
    ),
    (
        PROJECTOR,
        r"(?:(?:model\.)?(?:vq_adaptor|multi_modal_projector)\.|adaptor\.|mm\.a\.)",
        _PROJECTOR_PARTS,
        {},
    ),
    (
        DECODER,
        r"(?:(?:llm\.)?model\.(?:language_model\.)?|qwen3\.|)",
        _DECODER_PARTS,
        _DECODER_LAYER_PARTS,
    ),
)

IGNORED = ("mel_filters", "rope_freqs.weight")
"""What files hold beside weights."""

_HEADS = (HEAD, "llm.lm_head.weight", "output.weight")


def native_name(name: str) -> str | None:
    """Return what the native classes call a tensor, or None when they have nothing of the kind."""
    if name in _HEADS:
        return HEAD
    stem, _, suffix = name.rpartition(".")
    if name.endswith(("positional_embedding", "pos_embd")):
        stem, suffix = name, "weight"
    suffix = _SUFFIXES.get(suffix, suffix)
    if suffix not in ("weight", "bias"):
        return None
    for native, prefix, parts, layer_parts in _FAMILIES:
        found = re.match(prefix, stem)
        rest = "" if found is None else stem[found.end() :]
        layer = re.match(_LAYER, rest) if layer_parts else None
        part = _part(rest, parts) if layer is None else _part(rest[layer.end() :], layer_parts)
        if part is not None:
            place = "" if layer is None else f"layers.{int(layer['layer'])}."
            return f"{native}{place}{part}.{suffix}"
    return None


def is_this_model(names: Iterable[str]) -> bool:
    """Tell whether tensors of encoder, projector and decoder are among the names."""
    found = [native for name in names if (native := native_name(name)) is not None]
    return all(
        any(name.startswith(part) for name in found) for part in (ENCODER, PROJECTOR, DECODER)
    )


def _part(rest: str, parts: dict[str, str]) -> str | None:
    return next((native for names, native in parts.items() if re.fullmatch(names, rest)), None)
