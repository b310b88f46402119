import copy
from contextlib import suppress
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
from moss_demo.tiny.schedule import BRIDGING, STAGES, TRAINING, Schedule, Stage
from moss_demo.tiny.training import WEIGHT_DECAY, Pool, Trainer, save_checkpoint, to_device
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


class Bench:
    """A trainer of one stage with a batch, on a CPU."""

    def __init__(self, stage: Stage, tokenizer: Tokenizer, shard: Path, folder: Path) -> None:
        """Plan one batch, and let Whisper's encoder be half of the model's."""
        torch.manual_seed(0)
        path = folder / "tokenizer.json"
        tokenizer.save(str(path))
        self.pool = Pool(shard.parent, 0.01, CPU)
        self.pool.scan()
        voices = {"natural:a": 0, "natural:b": 1}
        planner = Planner(Feed(self.pool.manifest, path, voices, frozenset(), {"natural": 1.0}), 1)
        planner.poll()
        self.model = build_model(build_processor(tokenizer))
        self.tower = self.model.model.audio_tower
        whisper = copy.deepcopy(self.tower) if stage.likeness else None
        objective = Objective(self.model, Layout(tokenizer), 6, stage.word_noise, whisper).train()
        self.origin = {name: 0.5 * value.clone() for name, value in self.tower.state_dict().items()}
        self.trainer = Trainer(objective, CPU, stage, self.origin if stage.bridge else None)
        self.trainer.progress.step = stage.warm_up_steps
        self.arrays = planner.batch(SMALL)

    def step(self) -> None:
        """Take one step after the warm-up."""
        batch = to_device(self.arrays, CPU)
        self.trainer.step(self.pool.samples, batch, SMALL, 0.1)


@pytest.mark.parametrize("name", STAGES)
def test_every_stage_teaches_decoder_and_encoder(
    name: str, tokenizer: Tokenizer, shard: Path, tmp_path: Path
) -> None:
    """Both move after the warm-up."""
    bench = Bench(STAGES[name], tokenizer, shard, tmp_path)
    before = {name: value.clone() for name, value in bench.model.state_dict().items()}
    bench.step()
    changed = {
        name.startswith(TOWER)
        for name, value in bench.model.state_dict().items()
        if not torch.equal(value, before[name])
    }
    assert changed == {False, True}


def test_towards_whisper_is_for_the_block_alone(
    tokenizer: Tokenizer, shard: Path, tmp_path: Path
) -> None:
    """Inside, the encoder is a mean of both; after it, and after an error, its own again."""
    bench = Bench(BRIDGING, tokenizer, shard, tmp_path)
    own = bench.tower.conv1.weight.clone()
    with bench.trainer.towards_whisper(0.25):
        assert torch.allclose(bench.tower.conv1.weight, 0.875 * own)
    assert torch.equal(bench.tower.conv1.weight, own)
    with suppress(ZeroDivisionError), bench.trainer.towards_whisper(1.0):
        assert torch.allclose(bench.tower.conv1.weight, bench.origin["conv1.weight"])
        raise ZeroDivisionError
    assert torch.equal(bench.tower.conv1.weight, own)


def test_whispers_own_encoder_teaches_words_but_no_voices(
    tokenizer: Tokenizer, shard: Path, tmp_path: Path
) -> None:
    """At the far end of the bridge the encoder stays, and who speaks counts nothing."""
    bench = Bench(BRIDGING, tokenizer, shard, tmp_path)
    bench.trainer._draw = Fixed()
    before = {name: value.clone() for name, value in bench.model.state_dict().items()}
    heads = bench.trainer.objective.frame_head.weight.clone()
    bench.step()
    after = bench.model.state_dict()
    assert all(torch.equal(after[n], before[n]) for n in after if n.startswith(TOWER))
    name = "model.language_model.layers.0.mlp.up_proj.weight"
    assert not torch.equal(after[name], before[name])
    decayed = heads * (1 - WEIGHT_DECAY * BRIDGING.decoder_rate)
    assert torch.allclose(bench.trainer.objective.frame_head.weight, decayed)


class Fixed(Random):
    """Draws the largest share of Whisper's."""

    def random(self) -> float:
        """Return 1."""
        return 1.0


def test_the_weight_of_a_speaker_digit_can_fade(
    tokenizer: Tokenizer, shard: Path, tmp_path: Path
) -> None:
    """Without voices, a wrong digit costs nothing; every other token still does."""
    bench = Bench(BRIDGING, tokenizer, shard, tmp_path)
    objective = bench.trainer.objective
    labels = torch.from_numpy(bench.arrays["labels"]).long()
    right = torch.nn.functional.one_hot(labels.clamp(min=0), len(objective.is_word)) * 20.0
    wrong = torch.where(objective.speaker_digits(labels)[..., None], -right, right)
    assert objective._text_loss(right, labels, 1.0) < 1e-4
    assert objective._text_loss(wrong, labels, 1.0) > 1
    assert objective._text_loss(wrong, labels, 0.0) < 1e-4
    assert objective._text_loss(-right, labels, 0.0) > 1


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
    settings = Settings(Corpus(tmp_path), tmp_path, tmp_path, Schedule(1), stage=BRIDGING)
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
