from pathlib import Path

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer
from transformers import MossTranscribeDiarizeFeatureExtractor

from moss_demo.tiny import nonspeech
from moss_demo.tiny.batches import Feed, Planner
from moss_demo.tiny.mixing import Mixer
from moss_demo.tiny.training import Pool, to_device
from moss_demo.tiny.windows import Size
from tests.tiny.conftest import SENTENCES

SMALL = Size(30, 3, 896, 22, 300, 6.0)
CPU = torch.device("cpu")


@pytest.fixture
def pool(shard: Path) -> Pool:
    """The shard in memory, with its manifest."""
    pool = Pool(shard.parent, 0.01, CPU)
    pool.scan()
    return pool


@pytest.fixture
def feed(pool: Pool, tokenizer: Tokenizer, tmp_path: Path) -> Feed:
    """What a planner needs to plan from the shard."""
    path = tmp_path / "tokenizer.json"
    tokenizer.save(str(path))
    words = frozenset(" ".join(SENTENCES).split())
    speakers = {"natural:a": 0, "natural:b": 1, "human:c": 2}
    return Feed(pool.manifest, path, speakers, words, {"natural": 1.0, "human": 1.0})


def test_planned_windows_fit_their_shape(feed: Feed) -> None:
    """Labels, words, sound and speakers of a batch agree with each other."""
    planner = Planner(feed, 1)
    assert planner.poll() == 12
    batch = planner.batch(SMALL)
    speech = batch["word_count"] > 0
    assert ((batch["length"] > 0).any(1) == speech).all()
    assert (batch["samples"] <= 480_000).all()
    assert ((batch["labels"] >= 0).sum(1) > 0).all()
    assert batch["position_speaker"].max() < 9
    ends = (batch["start"] + batch["length"]).max(1)
    assert (ends[speech] <= batch["samples"][speech]).all()


def test_a_shard_that_comes_later_is_taken_in(feed: Feed, pool: Pool) -> None:
    """Planning starts with what is there and grows with the manifest."""
    planner = Planner(feed, 1)
    planner.poll()
    pool.scan()
    assert planner.poll() == 12


def test_mixes_are_levelled_and_end_where_planned(feed: Feed, pool: Pool) -> None:
    """A test mix has the level that the rows ask for and silence after its end."""
    planner = Planner(feed, 2, vary=False)
    planner.poll()
    batch = to_device(planner.batch(SMALL), CPU)
    waves = Mixer(CPU).waves(pool.samples, batch, 480_000, vary=False)
    for wave, samples in zip(waves, batch["samples"].tolist(), strict=True):
        assert wave[samples:].abs().max() == 0
        assert 20 * torch.log10(wave[:samples].pow(2).mean().sqrt()) == pytest.approx(-22, abs=0.5)


def test_varied_mixes_stay_finite_and_within_range(feed: Feed, pool: Pool) -> None:
    """Room, noise, tones and level never produce a sample that cannot be played."""
    planner = Planner(feed, 3)
    planner.poll()
    batch = to_device(planner.batch(SMALL), CPU)
    batch["length"][0] = 0  # one window without speech
    waves = Mixer(CPU).waves(pool.samples, batch, 480_000)
    assert torch.isfinite(waves).all()
    assert waves.abs().max() <= 1


def test_features_equal_the_feature_extractors() -> None:
    """What is trained on is what the processor computes from a file."""
    sound = torch.randn(1, 480_000) * 0.05
    extractor = MossTranscribeDiarizeFeatureExtractor()
    expected = extractor([sound[0].numpy()], sampling_rate=16_000, return_tensors="pt")
    ours = Mixer(CPU).features(sound)
    assert torch.allclose(ours, expected["input_features"], atol=1e-5)


@pytest.mark.parametrize("maker", [nonspeech.tones, nonspeech.music, nonspeech.hum])
def test_sounds_without_words_have_unit_power(maker) -> None:
    """Levels are set by the caller, so every sound starts from the same power."""
    sound = maker(2, 16_000, torch.Generator().manual_seed(1))
    assert np.allclose(sound.pow(2).mean(1).numpy(), 1, atol=1e-3)
