from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import AutoProcessor, MossTranscribeDiarizeForConditionalGeneration

from moss_demo.tiny import schedule
from moss_demo.tiny.construct import build_model
from moss_demo.tiny.layout import Layout
from moss_demo.tiny.losses import Objective
from moss_demo.tiny.schedule import Schedule
from moss_demo.tiny.training import ORIGIN_SHARE, save_checkpoint
from moss_demo.tiny.vocabulary import build_processor


def test_the_decoder_pass_equals_the_models(tokenizer: Tokenizer) -> None:
    """Training runs the decoder layer by layer and gets what the model itself computes."""
    torch.manual_seed(0)
    model = build_model(build_processor(tokenizer))
    objective = Objective(model, Layout(tokenizer), 9)
    embeddings = torch.randn(2, 20, 384)
    with torch.no_grad():
        ours, middle = objective._decode(embeddings)
        theirs = model.model.language_model(
            inputs_embeds=embeddings, use_cache=False, output_hidden_states=True
        )
    assert torch.equal(ours, theirs.last_hidden_state)
    assert torch.equal(middle, theirs.hidden_states[3])


def test_a_saved_checkpoint_loads_with_transformers_alone(
    tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Shards stay under 10 MB, nothing is missing, and the encoder is pulled to its origin."""
    processor = build_processor(tokenizer)
    objective = Objective(build_model(processor), Layout(tokenizer), 9)
    tower = objective.model.model.audio_tower.state_dict()
    save_checkpoint(objective, processor, tmp_path, {name: 0 * v for name, v in tower.items()})
    shards = list(tmp_path.glob("*.safetensors"))
    assert shards
    assert all(path.stat().st_size < 10_000_000 for path in shards)
    model, info = MossTranscribeDiarizeForConditionalGeneration.from_pretrained(
        tmp_path, output_loading_info=True
    )
    kept = 1 - ORIGIN_SHARE
    saved = model.model.audio_tower.conv1.weight.float()
    assert torch.allclose(saved, kept * tower["conv1.weight"], rtol=0.01, atol=1e-4)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    loaded = AutoProcessor.from_pretrained(tmp_path)
    assert loaded.chat_template == processor.chat_template
    assert loaded.time_marker_every_seconds == 5


def test_word_noise_leaves_prompt_and_markup_alone(tokenizer: Tokenizer) -> None:
    """Only words of the transcript are ever replaced in the decoder's input."""
    layout = Layout(tokenizer)
    objective = Objective(build_model(build_processor(tokenizer)), layout, 9)
    prompt = layout.prompt(16_000)
    ids = torch.tensor([prompt.ids + [layout.end_id] * 40])
    index = torch.tensor([prompt.audio_index + [-1] * 40])
    for _ in range(5):
        assert torch.equal(objective._noised(ids, index), ids)


def test_rates_warm_up_hold_and_fall() -> None:
    """The learning rate starts near zero, reaches its full value and ends near zero."""
    assert schedule.rate_factor(0.0, 0) < 0.01
    assert schedule.rate_factor(0.1, 5_000) == 1.0
    assert schedule.rate_factor(0.6, 5_000) == 0.5
    assert schedule.rate_factor(1.0, 5_000) == schedule.LAST_FACTOR


def test_a_run_that_goes_on_covers_the_rest() -> None:
    """A second run starts at the share that the first one reached."""
    plan = Schedule(seconds=100, last=1.0)
    assert plan.progress(0.56, 0) == 0.56
    assert plan.progress(0.56, 50) == 0.78
    assert plan.progress(0.56, 500) == 1.0
