"""LoRA adapters: what peft computes with one is what the merged weights compute."""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.engine.pool import EnginePool
from moss_demo.engine.weights.adapter import merge_adapter, read_adapter
from moss_demo.errors import CheckpointError
from tests.engine.conftest import SAMPLES

pytestmark = [
    # What peft still asks transformers for, and what it says of tied heads.
    pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning"),
    pytest.mark.filterwarnings("ignore:.*tie_word_embeddings:UserWarning"),
]

Model = MossTranscribeDiarizeForConditionalGeneration
IDS = torch.tensor([[7, 16_499, 0, 12, 5_000]])
TARGETS = ["q_proj", "v_proj", "down_proj", "fc1", "linear_2"]


@pytest.fixture
def model(make_model: Callable[[], Model]) -> Model:
    """The model in fp32, so that sums can be compared."""
    return make_model().float()


def _write(folder: Path, model: Model, **options: Any) -> Model:
    """Train nothing, but give both halves of a peft adapter values, and save it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other packages that it imports
        from peft import LoraConfig, get_peft_model  # the oracle; seconds to import
    torch.manual_seed(3)
    config = LoraConfig(**({"r": 4, "lora_alpha": 10, "target_modules": TARGETS} | options))
    adapted = get_peft_model(model, config)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_" in name:
                weight.normal_(0, 0.1)
    adapted.save_pretrained(folder)
    return adapted.eval()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"use_rslora": True},
        {"rank_pattern": {"v_proj": 2}, "alpha_pattern": {"layers.1.self_attn.q_proj": 3}},
    ],
    ids=["plain", "rank stabilized", "ranks and alphas by name"],
)
def test_merged_weights_compute_what_peft_computes(
    tmp_path: Path, model: Model, make_model: Callable[[], Model], options: dict[str, Any]
) -> None:
    """Every adapted matrix equals W + scale * B @ A, and logits are those of peft's own layers."""
    plain = make_model().float()
    oracle = _write(tmp_path, model, **options)
    merged = make_model().float()
    merge_adapter(merged, read_adapter(tmp_path))
    with torch.inference_mode():
        logits = merged(input_ids=IDS).logits
        torch.testing.assert_close(logits, oracle(input_ids=IDS).logits, rtol=1e-4, atol=1e-4)
        assert not torch.allclose(logits, plain(input_ids=IDS).logits, rtol=1e-2)
    by_peft = oracle.merge_and_unload().state_dict()
    for name, weight in merged.state_dict().items():
        torch.testing.assert_close(weight, by_peft[name], rtol=1e-5, atol=1e-6)


def test_names_of_the_publishers_layout_are_known(
    tmp_path: Path, model: Model, make_model: Callable[[], Model]
) -> None:
    """An adapter trained with the publisher's own classes merges into the same matrices."""
    oracle = _write(tmp_path, model, target_modules=["fc1", "linear_2"])
    path = tmp_path / "adapter_model.safetensors"
    renamed = {
        key.replace("audio_tower", "whisper_encoder").replace(
            "multi_modal_projector.linear_2", "vq_adaptor.layers.2"
        ): tensor.clone()
        for key, tensor in load_file(path).items()
    }
    assert any("vq_adaptor" in key for key in renamed)
    save_file(renamed, path)
    merged = make_model().float()
    merge_adapter(merged, read_adapter(tmp_path))
    expected = oracle.merge_and_unload().state_dict()
    for name, weight in merged.state_dict().items():
        torch.testing.assert_close(weight, expected[name])


@pytest.fixture
def saved(tmp_path: Path, model: Model) -> Path:
    """The folder of a good adapter."""
    _write(tmp_path, model)
    return tmp_path


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("peft_type", "IA3"),
        ("use_dora", True),
        ("bias", "all"),
        ("modules_to_save", ["lm_head"]),
        ("init_lora_weights", "pissa"),
        ("fan_in_fan_out", True),
        ("alpha_pattern", {"(a+)+$": 3}),
        ("r", 5),
        ("lora_alpha", None),
        ("lora_alpha", float("inf")),
    ],
)
def test_adapters_that_cannot_be_merged_exactly_are_refused(
    saved: Path, key: str, value: object
) -> None:
    """Each variant is named in one sentence, and none is merged by guess."""
    path = saved / "adapter_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {key: value}))
    with pytest.raises(CheckpointError) as refused:
        read_adapter(saved)
    assert str(saved) in refused.value.in_full
    assert str(saved.parent) not in str(refused.value)
    assert "\n" not in str(refused.value)


def test_damaged_adapters_are_refused(saved: Path) -> None:
    """Half a file, half a pair, another shape, a NaN, and no file at all."""
    path = saved / "adapter_model.safetensors"
    whole = path.read_bytes()
    tensors = {key: tensor.clone() for key, tensor in load_file(path).items()}
    first = min(tensors)
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match="damaged"):
        read_adapter(saved)
    for change, message in (
        ({first: None}, "two halves"),
        ({first: torch.full_like(tensors[first], torch.nan)}, "not finite"),
        ({first: tensors[first].flatten()}, "no matrix"),
        ({"base_model.model.x.weight": torch.ones(2, 2)}, "no matrix"),
    ):
        changed = {k: t for k, t in (tensors | change).items() if t is not None}
        save_file(changed, path)
        with pytest.raises(CheckpointError, match=message):
            read_adapter(saved)
    save_file({}, path)
    with pytest.raises(CheckpointError, match="empty"):
        read_adapter(saved)
    path.unlink()
    with pytest.raises(CheckpointError, match=r"adapter_model\.safetensors is missing"):
        read_adapter(saved)


def test_an_adapter_of_another_model_changes_nothing(saved: Path) -> None:
    """Shapes and names are checked before the first weight is touched; the pool stays usable."""
    pool = EnginePool()
    clip = read_audio(SAMPLES / "two-speakers.flac")
    request = Request(clip, options=DecodeOptions(3), speech_gate=False)
    config = EngineConfig("tiny", "cpu", Precision.FP32, adapter=str(saved))
    with pytest.raises(CheckpointError, match="use the checkpoint that it was trained with"):
        list(pool.stream(config, request))


def test_the_shared_table_is_never_adapted(saved: Path, make_model: Callable[[], Model]) -> None:
    """A change of the head alone cannot be merged into a matrix that is the embedding too."""
    path = saved / "adapter_model.safetensors"
    module = "model.language_model.layers.0.self_attn.q_proj"
    save_file({k.replace(module, "lm_head"): t.clone() for k, t in load_file(path).items()}, path)
    with pytest.raises(CheckpointError, match="lm_head, which is no linear layer of its own"):
        merge_adapter(make_model(), read_adapter(saved))
