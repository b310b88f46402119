"""The embedded checkpoint as GGUF files: the same words through the same engine."""

import shutil
from pathlib import Path

import pytest
import torch
from transformers import Qwen2Tokenizer

from moss_demo.domain.events import Finished
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.checkpoints import TINY_DIR, Layout, find_checkpoint
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.gguf_file.names import native_name
from moss_demo.engine.loading import Loaded, load
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.prompting import build_prompt_ids
from moss_demo.errors import CheckpointError
from tests.engine import original_layout as published
from tests.engine.conftest import SAMPLES
from tests.engine.gguf_file.writing import (
    LLAMA_CPP,
    OPENAI_WHISPER,
    SHORT,
    renamed,
    tiny_metadata,
    tiny_weights,
    write_file,
)

WHOLE = Request(read_audio(SAMPLES / "two-speakers.flac"))
BEGIN = Request(WHOLE.clip, options=DecodeOptions(40), speech_gate=False)
FIRST = "[0.48][S01]hello ben can you hear me[1.98]"


def _finished(path: Path | str, request: Request) -> Finished:
    config = EngineConfig(str(path), "cpu", Precision.FP32)
    last = list(EnginePool().stream(config, request))[-1]
    assert isinstance(last, Finished)
    return last


def test_a_file_that_carries_everything_gives_the_native_tokens(tmp_path: Path) -> None:
    """In F32 with llama.cpp's names, every token of a sample is the native checkpoint's."""
    path = write_file(tmp_path / "tiny.gguf", tiny_weights(), LLAMA_CPP, "F32", tiny_metadata())
    assert find_checkpoint(str(path)).layout is Layout.GGUF
    assert _finished(path, WHOLE).token_ids == _finished("tiny", WHOLE).token_ids


@pytest.mark.parametrize(
    ("kind", "table"),
    [("BF16", OPENAI_WHISPER), ("F16", SHORT), ("Q8_0", OPENAI_WHISPER)],
    ids=["bf16", "f16", "q8_0"],
)
def test_what_a_file_lacks_is_read_from_its_folder(
    tmp_path: Path, kind: str, table: dict[str, str]
) -> None:
    """Weights alone, beside the checkpoint's small files; the embedded weights are bf16."""
    for name in ("config.json", "tokenizer.json", "processor_config.json", "chat_template.jinja"):
        shutil.copy(TINY_DIR / name, tmp_path / name)
    path = write_file(tmp_path / "weights.gguf", tiny_weights(), table, kind)
    finished = _finished(path, BEGIN)
    assert "[S01]hello ben can you hear me[" in finished.text
    if kind == "BF16":
        assert finished.token_ids == _finished("tiny", BEGIN).token_ids


def test_precisions_and_adapters_work_on_it_as_on_any_checkpoint(tmp_path: Path) -> None:
    """A file in F32 runs in int8 too, and says so."""
    path = write_file(tmp_path / "tiny.gguf", tiny_weights(), LLAMA_CPP, "F32", tiny_metadata())
    pool = EnginePool()
    last = list(pool.stream(EngineConfig(str(path), "cpu", Precision.INT8), BEGIN))[-1]
    assert isinstance(last, Finished)
    assert last.text.startswith(FIRST)
    assert pool.resident is not None
    assert (pool.resident.layout, pool.resident.precision) == ("gguf", "int8")


@pytest.mark.parametrize("table", [LLAMA_CPP, OPENAI_WHISPER, SHORT])
def test_every_name_of_every_family_is_known(tiny: Loaded, table: dict[str, str]) -> None:
    """No tensor is left over, none is taken for another."""
    for name in tiny.model.state_dict():
        assert native_name(renamed(name, table)) == name


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, torch.Tensor]]:
    """A folder in the publisher's layout, and its weights under their native names."""
    folder = tmp_path_factory.mktemp("published")
    published.write_checkpoint(folder)
    model = load(find_checkpoint(str(folder)), torch.float32, "cpu").model
    return folder, {k: t.detach() for k, t in model.state_dict().items()}


def _small_metadata(folder: Path) -> dict[str, object]:
    vocabulary = Qwen2Tokenizer.from_pretrained(folder).get_vocab()
    return {
        "clip.audio.attention.head_count": published.HEADS,
        "qwen3.context_length": 4_096,
        "tokenizer.ggml.tokens": sorted(vocabulary, key=lambda token: vocabulary[token]),
    }


def test_the_published_tokenizer_and_prompt_are_built_from_lists(
    tmp_path: Path, small: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    """A file with llama.cpp's lists and no template gets the published prompt and its markers."""
    folder, weights = small
    path = write_file(tmp_path / "small.gguf", weights, LLAMA_CPP, "F32", _small_metadata(folder))
    native = load(find_checkpoint(str(folder)), torch.float32, "cpu")
    loaded = load(find_checkpoint(str(path)), torch.float32, "cpu")
    for name, weight in loaded.model.state_dict().items():
        assert torch.equal(weight, weights[name]), name
    assert loaded.model.config.text_config.rms_norm_eps == published.EPS
    assert loaded.model.config.text_config.rope_parameters["rope_theta"] == published.ROPE_THETA
    request = Request(WHOLE.clip, hotwords=("Kettle",))
    ids = build_prompt_ids(loaded.processor, Layout.GGUF, request)
    audio = native.processor.tokenizer.convert_tokens_to_ids("<|audio_pad|>")
    expected = build_prompt_ids(native.processor, Layout.ORIGINAL, request)
    assert ids.count(audio) == expected.count(audio)
    text = loaded.processor.tokenizer.decode(ids)
    assert "<|audio_end|>" in text
    assert f"{PROMPT_TEXTS[PromptPreset.CHINESE]} 热词提示：Kettle<|im_end|>" in text
    assert loaded.generation.eos_token_id == native.processor.tokenizer.eos_token_id


def test_a_head_that_repeats_the_embedding_is_dropped_and_another_one_refused(
    tmp_path: Path, small: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    """Converters write a tied head twice; this model has none of its own."""
    folder, weights = small
    assert "lm_head.weight" in weights
    metadata = _small_metadata(folder)
    path = write_file(tmp_path / "tied.gguf", weights, OPENAI_WHISPER, "F32", metadata)
    load(find_checkpoint(str(path)), torch.float32, "cpu")
    other = weights | {"lm_head.weight": weights["lm_head.weight"] + 1}
    path = write_file(tmp_path / "untied.gguf", other, OPENAI_WHISPER, "F32", metadata)
    with pytest.raises(CheckpointError, match="a head that is not its embedding"):
        load(find_checkpoint(str(path)), torch.float32, "cpu")


def test_incomplete_and_foreign_files_are_refused(
    tmp_path: Path, small: tuple[Path, dict[str, torch.Tensor]]
) -> None:
    """A missing layer, a strange tensor, no tokenizer, and a decoder without an encoder."""
    folder, weights = small
    metadata = _small_metadata(folder)

    def refused(message: str, changed: dict[str, torch.Tensor], values: dict[str, object]) -> None:
        path = write_file(tmp_path / "file.gguf", changed, LLAMA_CPP, "F32", values)
        with pytest.raises(CheckpointError, match=message):
            load(find_checkpoint(str(path)), torch.float32, "cpu")

    layer = "model.language_model.layers.1."
    refused("layers is missing", {k: t for k, t in weights.items() if layer not in k}, metadata)
    norm = "model.language_model.norm.weight"
    refused(norm, {k: t for k, t in weights.items() if k != norm}, metadata)
    refused("'strange'", weights | {"strange": torch.ones(4)}, metadata)
    refused("carries no tokenizer", weights, {})
    no_audio = metadata | {"tokenizer.ggml.tokens": ["a", "<|im_end|>", "<|endoftext|>"]}
    refused(r"has no <\|audio_pad\|>", weights, no_audio)
    refused("template", weights, metadata | {"tokenizer.chat_template": "{% for %}"})
    decoder = {k: t for k, t in weights.items() if "language_model" in k}
    refused("weights of another model", decoder, metadata)
