"""Writes a small random checkpoint laid out as the publisher's files are, and restates its maths.

The names, configuration keys and processor files are those of the published repository; the sizes
are small. `forward` is the published forward pass written out in plain torch, independent of the
classes under test.
"""

import json
from pathlib import Path

import torch
import torch.nn.functional as F  # noqa: N812  # the name every torch program uses
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE

SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|audio_start|>", "<|audio_end|>")
AUDIO_PAD = "<|audio_pad|>"
WIDTH, ENCODER_LAYERS, HEADS, ENCODER_FFN = 32, 2, 4, 64
HIDDEN, LAYERS, QUERY_HEADS, KV_HEADS, HEAD_DIM, FFN = 48, 3, 4, 2, 16, 96
VOCAB = 256 + len(SPECIAL) + 1
EPS, ROPE_THETA = 1e-6, 1e6

TEMPLATE = (
    "{%- for m in messages %}{{ '<|im_start|>' + m['role'] + '\\n' }}"
    "{%- for c in m['content'] %}{%- if c['type'] == 'audio' %}"
    "{{ '<|audio_start|><|audio_pad|><|audio_end|>' }}"
    "{%- elif c['type'] == 'text' %}{{ c['text'] }}{%- endif %}{%- endfor %}"
    "{{ '<|im_end|>\\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{%- endif %}"
)

CONFIG = {
    "architectures": ["MossTranscribeDiarizeForConditionalGeneration"],
    "auto_map": {"AutoModel": "modeling_moss_transcribe_diarize.MossTranscribeDiarizeModel"},
    "model_type": "moss_transcribe_diarize",
    "adaptor_input_dim": 4 * WIDTH,
    "audio_merge_size": 4,
    "audio_token_id": VOCAB - 1,
    "audio_config": {
        "model_type": "whisper",
        "d_model": WIDTH,
        "encoder_layers": ENCODER_LAYERS,
        "encoder_attention_heads": HEADS,
        "encoder_ffn_dim": ENCODER_FFN,
        "num_mel_bins": 80,
        "max_source_positions": 1500,
        "activation_function": "gelu",
    },
    "text_config": {
        "model_type": "qwen3",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "intermediate_size": FFN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": QUERY_HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "rms_norm_eps": EPS,
        "rope_theta": ROPE_THETA,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": True,
    },
    "tie_word_embeddings": True,
}


def write_checkpoint(folder: Path) -> dict[str, torch.Tensor]:
    """Write every file of the layout; returns the tensors under their original names."""
    folder.mkdir(parents=True, exist_ok=True)
    weights = random_weights()
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    (folder / "config.json").write_text(json.dumps(CONFIG))
    (folder / "chat_template.jinja").write_text(TEMPLATE)
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": 258}))
    (folder / "processor_config.json").write_text(
        json.dumps(
            {
                "processor_class": "MossTranscribeDiarizeProcessor",
                "audio_tokens_per_second": 12.5,
                "audio_merge_size": 4,
                "time_marker_every_seconds": 5,
                "enable_time_marker": True,
            }
        )
    )
    (folder / "preprocessor_config.json").write_text(
        json.dumps({"feature_extractor_type": "WhisperFeatureExtractor", "feature_size": 80})
    )
    _write_tokenizer(folder)
    return weights


def _write_tokenizer(folder: Path) -> None:
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(t, special=True) for t in (*SPECIAL, AUDIO_PAD)])
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "Qwen2Tokenizer",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "additional_special_tokens": [*SPECIAL, AUDIO_PAD],
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def random_weights() -> dict[str, torch.Tensor]:
    """Draw weights large enough that a wrong tensor anywhere changes the answer."""
    generator = torch.Generator().manual_seed(20)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(shape, generator=generator) * 0.25

    tensors: dict[str, torch.Tensor] = {}
    encoder = "model.whisper_encoder."
    tensors[encoder + "conv1.weight"] = draw(WIDTH, 80, 3)
    tensors[encoder + "conv2.weight"] = draw(WIDTH, WIDTH, 3)
    tensors[encoder + "embed_positions.weight"] = draw(1500, WIDTH)
    for conv in ("conv1", "conv2"):
        tensors[f"{encoder}{conv}.bias"] = draw(WIDTH)
    norms = [encoder + "layer_norm"]
    for index in range(ENCODER_LAYERS):
        layer = f"{encoder}layers.{index}."
        norms += [layer + "self_attn_layer_norm", layer + "final_layer_norm"]
        for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
            tensors[f"{layer}self_attn.{name}.weight"] = draw(WIDTH, WIDTH)
            if name != "k_proj":
                tensors[f"{layer}self_attn.{name}.bias"] = draw(WIDTH)
        tensors[layer + "fc1.weight"] = draw(ENCODER_FFN, WIDTH)
        tensors[layer + "fc1.bias"] = draw(ENCODER_FFN)
        tensors[layer + "fc2.weight"] = draw(WIDTH, ENCODER_FFN)
        tensors[layer + "fc2.bias"] = draw(WIDTH)
    for name in norms:
        tensors[name + ".weight"] = 1 + draw(WIDTH)
        tensors[name + ".bias"] = draw(WIDTH)
    adaptor = "model.vq_adaptor.layers."
    tensors[adaptor + "0.weight"] = draw(HIDDEN, 4 * WIDTH)
    tensors[adaptor + "2.weight"] = draw(HIDDEN, HIDDEN)
    tensors[adaptor + "3.weight"] = 1 + draw(HIDDEN)
    for index in (0, 2, 3):
        tensors[f"{adaptor}{index}.bias"] = draw(HIDDEN)
    decoder = "model.language_model."
    tensors[decoder + "embed_tokens.weight"] = draw(VOCAB, HIDDEN)
    tensors[decoder + "norm.weight"] = 1 + draw(HIDDEN)
    for index in range(LAYERS):
        layer = f"{decoder}layers.{index}."
        tensors[layer + "self_attn.q_proj.weight"] = draw(QUERY_HEADS * HEAD_DIM, HIDDEN)
        tensors[layer + "self_attn.k_proj.weight"] = draw(KV_HEADS * HEAD_DIM, HIDDEN)
        tensors[layer + "self_attn.v_proj.weight"] = draw(KV_HEADS * HEAD_DIM, HIDDEN)
        tensors[layer + "self_attn.o_proj.weight"] = draw(HIDDEN, QUERY_HEADS * HEAD_DIM)
        tensors[layer + "self_attn.q_norm.weight"] = 1 + draw(HEAD_DIM)
        tensors[layer + "self_attn.k_norm.weight"] = 1 + draw(HEAD_DIM)
        tensors[layer + "mlp.gate_proj.weight"] = draw(FFN, HIDDEN)
        tensors[layer + "mlp.up_proj.weight"] = draw(FFN, HIDDEN)
        tensors[layer + "mlp.down_proj.weight"] = draw(HIDDEN, FFN)
        tensors[layer + "input_layernorm.weight"] = 1 + draw(HIDDEN)
        tensors[layer + "post_attention_layernorm.weight"] = 1 + draw(HIDDEN)
    return tensors


def audio_embeddings(
    w: dict[str, torch.Tensor], mel: torch.Tensor, frames: list[int]
) -> torch.Tensor:
    """Encode chunks of log-mel: mel (chunks, 80, 3000), frames = valid mel frames a chunk."""
    p = "model.whisper_encoder."
    x = F.gelu(F.conv1d(mel, w[p + "conv1.weight"], w[p + "conv1.bias"], padding=1))
    x = F.gelu(F.conv1d(x, w[p + "conv2.weight"], w[p + "conv2.bias"], stride=2, padding=1))
    x = x.transpose(1, 2) + w[p + "embed_positions.weight"]
    for index in range(ENCODER_LAYERS):
        x = _encoder_layer(w, f"{p}layers.{index}.", x)
    x = F.layer_norm(x, (WIDTH,), w[p + "layer_norm.weight"], w[p + "layer_norm.bias"])
    rows = []
    for chunk, count in zip(x, frames, strict=True):
        positions = -(-((count + 1) // 2) // 4) * 4
        rows.append(chunk[:positions].reshape(-1, 4 * WIDTH))
    q = "model.vq_adaptor.layers."
    y = F.silu(F.linear(torch.cat(rows), w[q + "0.weight"], w[q + "0.bias"]))
    y = F.linear(y, w[q + "2.weight"], w[q + "2.bias"])
    return F.layer_norm(y, (HIDDEN,), w[q + "3.weight"], w[q + "3.bias"], EPS)


def _encoder_layer(w: dict[str, torch.Tensor], p: str, x: torch.Tensor) -> torch.Tensor:
    def project(name: str, y: torch.Tensor) -> torch.Tensor:
        return F.linear(y, w[f"{p}self_attn.{name}.weight"], w.get(f"{p}self_attn.{name}.bias"))

    def norm(name: str, y: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(y, (WIDTH,), w[f"{p}{name}.weight"], w[f"{p}{name}.bias"])

    def heads(y: torch.Tensor) -> torch.Tensor:
        return y.unflatten(-1, (HEADS, WIDTH // HEADS)).transpose(1, 2)

    y = norm("self_attn_layer_norm", x)
    q, k, v = (heads(project(name, y)) for name in ("q_proj", "k_proj", "v_proj"))
    scores = (q @ k.transpose(-1, -2)) * (WIDTH // HEADS) ** -0.5
    x = x + project("out_proj", (scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
    y = F.gelu(F.linear(norm("final_layer_norm", x), w[p + "fc1.weight"], w[p + "fc1.bias"]))
    return x + F.linear(y, w[p + "fc2.weight"], w[p + "fc2.bias"])


def logits(w: dict[str, torch.Tensor], x: torch.Tensor) -> torch.Tensor:
    """Run the decoder over embeddings (length, HIDDEN); returns logits (length, VOCAB)."""
    p = "model.language_model."
    for index in range(LAYERS):
        x = _decoder_layer(w, f"{p}layers.{index}.", x)
    return F.linear(_rms(x, w[p + "norm.weight"]), w[p + "embed_tokens.weight"])


def _rms(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return weight * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + EPS)


def _rotate(x: torch.Tensor) -> torch.Tensor:
    """Apply rotary positions to (heads, length, HEAD_DIM), halves paired as in Qwen3."""
    frequencies = ROPE_THETA ** -(torch.arange(0, HEAD_DIM, 2) / HEAD_DIM)
    angles = torch.arange(x.shape[1]).float()[:, None] * frequencies
    cos, sin = angles.cos().repeat(1, 2), angles.sin().repeat(1, 2)
    first, second = x.chunk(2, dim=-1)
    return x * cos + torch.cat((-second, first), dim=-1) * sin


def _decoder_layer(w: dict[str, torch.Tensor], p: str, x: torch.Tensor) -> torch.Tensor:
    def heads(name: str, count: int, y: torch.Tensor) -> torch.Tensor:
        projected = F.linear(y, w[f"{p}self_attn.{name}_proj.weight"])
        return projected.unflatten(-1, (count, HEAD_DIM)).transpose(0, 1)

    y = _rms(x, w[p + "input_layernorm.weight"])
    q = _rotate(_rms(heads("q", QUERY_HEADS, y), w[p + "self_attn.q_norm.weight"]))
    k = _rotate(_rms(heads("k", KV_HEADS, y), w[p + "self_attn.k_norm.weight"]))
    v = heads("v", KV_HEADS, y)
    repeats = QUERY_HEADS // KV_HEADS
    k, v = k.repeat_interleave(repeats, 0), v.repeat_interleave(repeats, 0)
    scores = (q @ k.transpose(-1, -2)) * HEAD_DIM**-0.5
    future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1)
    mixed = scores.masked_fill(future, float("-inf")).softmax(-1) @ v
    x = x + F.linear(mixed.transpose(0, 1).flatten(1), w[p + "self_attn.o_proj.weight"])
    y = _rms(x, w[p + "post_attention_layernorm.weight"])
    gated = F.silu(F.linear(y, w[p + "mlp.gate_proj.weight"]))
    return x + F.linear(
        gated * F.linear(y, w[p + "mlp.up_proj.weight"]), w[p + "mlp.down_proj.weight"]
    )
