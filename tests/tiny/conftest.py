"""Seconds of synthetic utterances and a small tokenizer: enough to run the recipe on a CPU."""

from pathlib import Path

import numpy as np
import pytest
from tokenizers import Tokenizer

from moss_demo.tiny.utterances import Spoken, write_shard
from moss_demo.tiny.vocabulary import train_tokenizer

SENTENCES = ("so what is the budget", "one two three", "yes i agree", "the demo is ready", "no")


@pytest.fixture(scope="session")
def tokenizer() -> Tokenizer:
    """A tokenizer trained on a handful of sentences, repeated until pieces form."""
    return train_tokenizer(SENTENCES * 40)


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    """A shard of twelve utterances by three voices: tones of about one second."""
    draw = np.random.default_rng(0)
    sounds, rows = [], []
    for number in range(12):
        samples = int(draw.integers(9_000, 20_000))
        tone = np.sin(2 * np.pi * (150 + 40 * number) * np.arange(samples) / 16_000)
        sounds.append((8_000 * tone).astype(np.int16))
        voice = ("natural:a", "natural:b", "human:c")[number % 3]
        rows.append(Spoken(voice, SENTENCES[number % len(SENTENCES)], samples))
    folder = tmp_path / "shards"
    folder.mkdir()
    write_shard(folder / "shard", sounds, rows)
    return folder / "shard.json"
