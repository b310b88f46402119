"""The publisher's layout gives the same numbers through the native classes as its own maths."""

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.checkpoints import Layout, find_checkpoint
from moss_demo.engine.config import EncoderCompile
from moss_demo.engine.decoding import embed_prompt, generate_tokens
from moss_demo.engine.encoder import Encoder
from moss_demo.engine.encoding import encode_batches, extractor_log_mel
from moss_demo.engine.loading import Loaded, load
from moss_demo.engine.prompting import build_prompt_ids
from moss_demo.errors import CheckpointError
from tests.engine import original_layout as published


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint folder in the publisher's layout."""
    path = tmp_path_factory.mktemp("original")
    published.write_checkpoint(path)
    return path


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Loaded:
    """The same checkpoint through the native classes."""
    return load(find_checkpoint(str(folder)), torch.float32, "cpu")


@pytest.fixture(scope="module")
def clip() -> AudioClip:
    """Noise over two chunks, the second one partial."""
    samples = np.random.default_rng(3).normal(0, 0.1, 16_000 * 37 + 123)
    return AudioClip("noise", samples.astype(np.float32))


def _restated_embeddings(loaded: Loaded, clip: AudioClip) -> torch.Tensor:
    batch = loaded.processor.feature_extractor(
        clip.samples, sampling_rate=16_000, return_tensors="pt"
    )
    frames = [min(3000, -(-n // 160)) for n in (480_000, clip.samples.size - 480_000)]
    return published.audio_embeddings(published.random_weights(), batch["input_features"], frames)


def _embeddings(loaded: Loaded, clip: AudioClip) -> torch.Tensor:
    log_mel = extractor_log_mel(loaded.processor.feature_extractor)
    *_, encoded = encode_batches(Encoder(loaded, EncoderCompile.OFF), log_mel, [clip])
    return torch.cat(encoded.parts)


def test_layout_is_told_from_the_tensors(folder: Path) -> None:
    """A folder needs no label: its tensor names say which layout it has."""
    assert find_checkpoint(str(folder)).layout is Layout.ORIGINAL


def test_every_tensor_arrives(loaded: Loaded) -> None:
    """No weight is left random and the head is tied to the embedding."""
    state = loaded.model.state_dict()
    written = published.random_weights()
    renamed = {
        "model.whisper_encoder.": "model.audio_tower.",
        "model.vq_adaptor.layers.0.": "model.multi_modal_projector.linear_1.",
        "model.vq_adaptor.layers.2.": "model.multi_modal_projector.linear_2.",
        "model.vq_adaptor.layers.3.": "model.multi_modal_projector.norm.",
    }
    for name, tensor in written.items():
        for old, new in renamed.items():
            name = name.replace(old, new)
        assert torch.equal(state.pop(name), tensor), name
    assert torch.equal(
        state.pop("lm_head.weight"), written["model.language_model.embed_tokens.weight"]
    )
    assert not state


def test_audio_embeddings_equal_the_published_maths(loaded: Loaded, clip: AudioClip) -> None:
    """Encoder, merge and projector agree with the restated forward pass in fp32."""
    torch.testing.assert_close(
        _embeddings(loaded, clip), _restated_embeddings(loaded, clip), rtol=1e-4, atol=1e-5
    )


def test_logits_and_greedy_ids_equal_the_published_maths(loaded: Loaded, clip: AudioClip) -> None:
    """Prompt logits agree and twelve greedy tokens are the same."""
    weights = published.random_weights()
    ids = build_prompt_ids(loaded.processor, Layout.ORIGINAL, Request(clip))
    prompt = embed_prompt(loaded, ids, _embeddings(loaded, clip))
    table = weights["model.language_model.embed_tokens.weight"]
    restated = table[torch.tensor(ids)].clone()
    restated[torch.tensor(ids) == published.VOCAB - 1] = _restated_embeddings(loaded, clip)
    with torch.inference_mode():
        ours = loaded.model(inputs_embeds=prompt).logits[0]
    torch.testing.assert_close(ours, published.logits(weights, restated), rtol=1e-4, atol=1e-3)
    expected: list[int] = []
    for _ in range(12):
        expected.append(int(published.logits(weights, restated)[-1].argmax()))
        restated = torch.cat((restated, table[expected[-1]][None]))
    produced: list[int] = []
    generate_tokens(loaded, prompt, DecodeOptions(), 12, produced.append, lambda: False)
    assert produced == expected[: len(produced)]
    assert len(produced) == 12 or produced[-1] == 258


def test_prompt_is_the_published_one_with_its_markers(loaded: Loaded, clip: AudioClip) -> None:
    """The default prompt text, the 5 s markers and the hotwords stand where training put them."""
    request = Request(clip, hotwords=("Kettle", "Ångström"))
    text = loaded.processor.tokenizer.decode(
        build_prompt_ids(loaded.processor, Layout.ORIGINAL, request)
    )
    audio = text.split("<|audio_start|>")[1].split("<|audio_end|>")[0]
    assert audio.replace("<|audio_pad|>", ".").split("." * 62)[1:] == [
        "5", "10", "15", "20", "25", "30", "35" + "." * 29,
    ]  # fmt: skip
    lead = PROMPT_TEXTS[PromptPreset.CHINESE]
    assert f"<|audio_end|>{lead} 热词提示：Kettle, Ångström<|im_end|>" in text


def test_a_missing_tensor_is_refused(tmp_path: Path) -> None:
    """A checkpoint that would leave a weight random does not load, and the tensor is named."""
    broken = tmp_path / "broken"
    published.write_checkpoint(broken)
    tensors = load_file(broken / "model.safetensors")
    tensors.pop("model.vq_adaptor.layers.2.weight")
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match=r"multi_modal_projector\.linear_2\.weight"):
        load(find_checkpoint(str(broken)), torch.float32, "cpu")


def test_an_unknown_tensor_is_refused(tmp_path: Path) -> None:
    """A checkpoint with a tensor that no module takes does not load."""
    broken = tmp_path / "broken"
    published.write_checkpoint(broken)
    tensors = load_file(broken / "model.safetensors")
    tensors["model.whisper_encoder.layers.9.fc1.weight"] = torch.zeros(4, 4)
    save_file(tensors, broken / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(CheckpointError, match="unexpected"):
        load(find_checkpoint(str(broken)), torch.float32, "cpu")


def test_code_beside_the_weights_is_never_run(folder: Path) -> None:
    """A modeling file shipped with a checkpoint stays unread."""
    trap = folder / "modeling_moss_transcribe_diarize.py"
    trap.write_text("raise SystemExit('remote code ran')")
    load(find_checkpoint(str(folder)), torch.float32, "cpu")
