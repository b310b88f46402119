"""Writes GGUF files of a checkpoint as the converters of this model do, with the package gguf."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import torch
from safetensors.torch import load_file

from moss_demo.engine.checkpoints import TINY_DIR

LLAMA_CPP = {
    r"model\.audio_tower\.conv(\d)": r"a.conv1d.\1",
    r"model\.audio_tower\.embed_positions": "a.position_embd",
    r"model\.audio_tower\.layer_norm": "a.post_ln",
    r"model\.audio_tower\.layers\.": "a.blk.",
    r"model\.multi_modal_projector\.linear_1": "mm.a.mlp.0",
    r"model\.multi_modal_projector\.linear_2": "mm.a.mlp.2",
    r"model\.multi_modal_projector\.norm": "mm.a.mlp.3",
    r"model\.language_model\.embed_tokens": "token_embd",
    r"model\.language_model\.norm": "output_norm",
    r"model\.language_model\.layers\.": "blk.",
    r"self_attn\.([qkv])_proj": r"attn_\1",
    r"self_attn\.([qk])_norm": r"attn_\1_norm",
    r"self_attn\.out_proj": "attn_out",
    r"self_attn\.o_proj": "attn_output",
    r"self_attn_layer_norm": "ln1",
    r"final_layer_norm": "ln2",
    r"fc1": "ffn_up",
    r"fc2": "ffn_down",
    r"input_layernorm": "attn_norm",
    r"post_attention_layernorm": "ffn_norm",
    r"mlp\.(gate|up|down)_proj": r"ffn_\1",
}
"""Names as in llama.cpp: its Qwen3 for the decoder, its audio encoders for the rest."""

OPENAI_WHISPER = {
    r"model\.audio_tower\.conv": "encoder.conv",
    r"model\.audio_tower\.embed_positions\.weight": "encoder.positional_embedding",
    r"model\.audio_tower\.layer_norm": "encoder.ln_post",
    r"model\.audio_tower\.layers\.": "encoder.blocks.",
    r"(?<=\d)\.self_attn_layer_norm": ".attn_ln",
    r"^(encoder.*)self_attn\.q_proj": r"\1attn.query",
    r"^(encoder.*)self_attn\.k_proj": r"\1attn.key",
    r"^(encoder.*)self_attn\.v_proj": r"\1attn.value",
    r"^(encoder.*)self_attn\.out_proj": r"\1attn.out",
    r"final_layer_norm": "mlp_ln",
    r"fc1": "mlp.0",
    r"fc2": "mlp.2",
    r"model\.multi_modal_projector\.linear_1": "model.vq_adaptor.layers.0",
    r"model\.multi_modal_projector\.linear_2": "model.vq_adaptor.layers.2",
    r"model\.multi_modal_projector\.norm": "model.vq_adaptor.layers.3",
}
"""The publisher's names with OpenAI's for the encoder, as a native engine's packages have them."""

SHORT = {
    r"model\.audio_tower\.conv": "enc.conv",
    r"model\.audio_tower\.embed_positions\.weight": "enc.pos_embd",
    r"model\.audio_tower\.layer_norm": "enc.ln_post",
    r"model\.audio_tower\.layers\.": "enc.blk.",
    r"^(enc.*)self_attn\.([qkv])_proj": r"\1attn_\2",
    r"^(enc.*)self_attn\.out_proj": r"\1attn_out",
    r"self_attn_layer_norm": "attn_ln",
    r"final_layer_norm": "ffn_ln",
    r"fc(\d)": r"ffn_\1",
    r"model\.multi_modal_projector\.linear_": "adaptor.fc",
    r"model\.multi_modal_projector\.norm": "adaptor.ln",
    r"^((?:enc|adaptor).*)\.weight": r"\1.w",
    r"^((?:enc|adaptor).*)\.bias": r"\1.b",
    r"model\.language_model\.embed_tokens": "token_embd",
    r"model\.language_model\.norm": "qwen3.output_norm",
    r"model\.language_model\.layers\.": "qwen3.blk.",
    r"self_attn\.([qkvo])_proj": r"attn_\1",
    r"self_attn\.([qk])_norm": r"attn_\1_norm",
    r"input_layernorm": "attn_norm",
    r"post_attention_layernorm": "ffn_norm",
    r"mlp\.(gate|up|down)_proj": r"ffn_\1",
}
"""Short names of a port that holds every parameter in one file."""


def renamed(name: str, table: Mapping[str, str]) -> str:
    """Apply a table of expressions to a native name, one after the other."""
    for pattern, replacement in table.items():
        name = re.sub(pattern, replacement, name)
    return name


def tiny_weights() -> dict[str, torch.Tensor]:
    """Return the embedded checkpoint's tensors under their native names, in fp32."""
    shards = sorted(TINY_DIR.glob("*.safetensors"))
    return {name: t.float() for shard in shards for name, t in load_file(shard).items()}


def write_file(
    path: Path,
    weights: Mapping[str, torch.Tensor],
    table: Mapping[str, str],
    kind: str = "F32",
    metadata: Mapping[str, Any] | None = None,
) -> Path:
    """Write weights; matrices get the type, and vectors and convolutions stay in F32."""
    writer = gguf.GGUFWriter(path, "qwen3")
    for key, value in (metadata or {}).items():
        _add(writer, key, value)
    for name, tensor in weights.items():
        values = np.ascontiguousarray(tensor.numpy())
        stored = gguf.GGMLQuantizationType[kind if values.ndim == 2 else "F32"]
        packed = gguf.quantize(values, stored)
        writer.add_tensor(renamed(name, table), packed, raw_dtype=stored)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def tiny_metadata() -> dict[str, Any]:
    """Return what a file of the embedded checkpoint has to say beside its weights."""
    config = json.loads((TINY_DIR / "config.json").read_text())["text_config"]
    return {
        "qwen3.context_length": config["max_position_embeddings"],
        "qwen3.rope.freq_base": float(config["rope_parameters"]["rope_theta"]),
        "qwen3.attention.layer_norm_rms_epsilon": config["rms_norm_eps"],
        "tokenizer.huggingface.json": (TINY_DIR / "tokenizer.json").read_text("utf-8"),
        "tokenizer.chat_template": (TINY_DIR / "chat_template.jinja").read_text("utf-8"),
    }


def _add(writer: gguf.GGUFWriter, key: str, value: object) -> None:
    if isinstance(value, list):
        writer.add_array(key, value)
    elif isinstance(value, str):
        writer.add_string(key, value)
    elif isinstance(value, float):
        writer.add_float32(key, value)
    elif isinstance(value, int):
        writer.add_uint32(key, value)
