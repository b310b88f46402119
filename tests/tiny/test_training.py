import copy
from pathlib import Path
from random import Random

import pytest
import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoProcessor, MossTranscribeDiarizeForConditionalGeneration

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.errors import CheckpointError, MossDemoError
from moss_demo.tiny import schedule
from moss_demo.tiny.batches import Feed, Planner
from moss_demo.tiny.construct import TOWER, build_model, load_model
from moss_demo.tiny.corpus import Corpus
from moss_demo.tiny.layout import Layout
from moss_demo.tiny.losses import Objective
from moss_demo.tiny.recipe import Settings, train
from moss_demo.tiny.schedule import SETTLING, STAGES, TRAINING, Schedule
from moss_demo.tiny.training import Pool, Trainer, save_checkpoint, to_device
from moss_demo.tiny.utterances import read_rows
from moss_demo.tiny.vocabulary import build_processor
from moss_demo.tiny.windows import SIZES, Conversations, Entry, Size, sizes

CPU = torch.device("cpu")
SMALL = Size(30, 1, 896, 22, 300, 6.0)


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
    """Shards stay under 10 MB, nothing is missing, and a share of what was before is kept."""
    processor = build_processor(tokenizer)
    objective = Objective(build_model(processor), Layout(tokenizer), 9)
    tower = objective.model.model.audio_tower.state_dict()
    before = {f"{TOWER}{name}": 0 * value for name, value in tower.items()}
    save_checkpoint(objective, processor, tmp_path, (before, 0.25), ({}, 0.5))
    shards = list(tmp_path.glob("*.safetensors"))
    assert shards
    assert all(path.stat().st_size < 10_000_000 for path in shards)
    model, info = MossTranscribeDiarizeForConditionalGeneration.from_pretrained(
        tmp_path, output_loading_info=True
    )
    saved = model.model.audio_tower.conv1.weight.float()
    assert torch.allclose(saved, 0.75 * tower["conv1.weight"], rtol=0.01, atol=1e-4)
    head = objective.model.lm_head.weight
    assert torch.allclose(model.lm_head.weight.float(), head, rtol=0.01, atol=1e-4)
    assert not info["missing_keys"]
    assert not info["unexpected_keys"]
    loaded = AutoProcessor.from_pretrained(tmp_path)
    assert loaded.chat_template == processor.chat_template
    assert loaded.time_marker_every_seconds == 5


def test_word_noise_leaves_prompt_and_markup_alone(tokenizer: Tokenizer) -> None:
    """Only words of the transcript are ever replaced in the decoder's input."""
    layout = Layout(tokenizer)
    objective = Objective(build_model(build_processor(tokenizer)), layout, 9, word_noise=1.0)
    prompt = layout.prompt(16_000)
    ids = torch.tensor([prompt.ids + [layout.end_id] * 40])
    index = torch.tensor([prompt.audio_index + [-1] * 40])
    for _ in range(5):
        assert torch.equal(objective._noised(ids, index), ids)


def test_rates_warm_up_hold_and_fall() -> None:
    """The learning rate starts near zero, reaches its full value and ends near zero."""
    assert schedule.rate_factor(TRAINING, 0.0, 0) < 0.01
    assert schedule.rate_factor(TRAINING, 0.1, 5_000) == 1.0
    assert schedule.rate_factor(TRAINING, 0.6, 5_000) == 0.5
    assert schedule.rate_factor(TRAINING, 1.0, 5_000) == schedule.LAST_FACTOR


def test_the_encoder_waits_for_the_decoder() -> None:
    """It keeps still while the rates warm up, and then goes with them."""
    assert schedule.encoder_factor(TRAINING, 0.0, TRAINING.warm_up_steps - 1) == 0.0
    assert schedule.encoder_factor(TRAINING, 0.6, 5_000) == 0.5


def test_a_run_that_goes_on_covers_the_rest() -> None:
    """A second run starts at the share that the first one reached."""
    plan = Schedule(seconds=100, last=1.0)
    assert plan.progress(0.56, 0) == 0.56
    assert plan.progress(0.56, 50) == 0.78
    assert plan.progress(0.56, 500) == 1.0


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_teaches_the_decoder_and_the_last_keeps_the_encoder_still(
    name: str, tokenizer: Tokenizer, shard: Path, tmp_path: Path
) -> None:
    """What moves after the warm-up: the encoder too, but not where the decoder only settles."""
    stage = STAGES[name]
    torch.manual_seed(0)
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    pool = Pool(shard.parent, 0.01, CPU)
    pool.scan()
    planner = Planner(Feed(pool.manifest, path, {}, frozenset(), {"natural": 1.0}), 1)
    planner.poll()
    model = build_model(build_processor(tokenizer))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    whisper = copy.deepcopy(model.model.audio_tower) if stage.likeness else None
    objective = Objective(model, Layout(tokenizer), 3, stage.word_noise, whisper).train()
    trainer = Trainer(objective, CPU, stage)
    trainer.progress.step = stage.warm_up_steps
    trainer.step(pool.samples, to_device(planner.batch(SMALL), CPU), SMALL, 0.1)
    changed = {
        name.startswith("model.audio_tower.")
        for name, value in model.state_dict().items()
        if not torch.equal(value, before[name])
    }
    assert changed == ({False} if name == "settling" else {False, True})


def test_likeness_is_lost_as_the_encoder_moves_away(tokenizer: Tokenizer) -> None:
    """Nothing is missing at the start, something after a change, and padding never counts."""
    torch.manual_seed(0)
    model = build_model(build_processor(tokenizer))
    whisper = copy.deepcopy(model.model.audio_tower)
    objective = Objective(model, Layout(tokenizer), 3, whisper=whisper)
    mel = torch.randn(1, 80, 3000)
    batch = {"ids": torch.zeros(1, 4), "samples": torch.tensor([160_000])}

    def unlike(states: Tensor) -> float:
        return float(objective._likeness(states, mel, batch))

    with torch.no_grad():
        states = model.model.audio_tower(mel).last_hidden_state
        assert unlike(states) < 1e-6
        padding = states.clone()
        padding[:, 500:] += 1
        assert unlike(padding) < 1e-6
        mean = states[:, :500].mean((0, 1), keepdim=True)
        assert unlike(mean.expand_as(states)) == pytest.approx(1.0, abs=1e-4)
    assert not any(p.requires_grad for p in objective.whisper.parameters())


def test_a_later_stage_needs_a_checkpoint(tmp_path: Path) -> None:
    """Only the first one begins with a random decoder."""
    settings = Settings(Corpus(tmp_path), tmp_path, tmp_path, Schedule(1), stage=SETTLING)
    with pytest.raises(MossDemoError, match="--start"):
        train(settings, CPU)


def test_going_on_from_no_checkpoint_is_refused(tmp_path: Path) -> None:
    """The sentence names the folder and what belongs there."""
    with pytest.raises(CheckpointError, match="holds no checkpoint to go on from"):
        load_model(tmp_path)


def test_short_windows_are_planned_at_every_length_of_a_step(shard: Path) -> None:
    """A quarter of the shortest size's windows lasts under 15 s, however many make a step."""
    talk = Conversations(Random(1), {"natural": 1.0})
    for row in read_rows(shard):
        talk.add(row.speaker, Entry(0, row.samples, (), row.text))
    talk.cast()
    size, *longer = sizes(4)
    windows = [talk.window(size) for _ in range(200)]
    short = [w for w in windows if w.placed and w.samples < 14 * SAMPLE_RATE_HZ]
    assert len(short) > 20
    assert all(
        w.samples > 14 * SAMPLE_RATE_HZ
        for s in longer
        for w in (talk.window(s) for _ in range(20))
        if w.placed
    )


def test_every_size_of_window_holds_the_same_sound() -> None:
    """A step is so many minutes, whatever its windows; a long window is never dropped."""
    assert sizes(32) == SIZES
    assert [size.batch for size in sizes(4)] == [8, 4, 2]
    assert [size.batch for size in sizes(1)] == [2, 1, 1]
