"""What the voices say: meetings, chains of their words, a dictionary, novels, the grammar.

The decoder of a small checkpoint learns sentences by heart when it sees few of them, and then hears
what it expects. Chains of three-word stretches of real sentences and the examples of a dictionary
keep the supply of unseen sentences endless. Knows text and what is held out; knows no sound.
"""

import gzip
import hashlib
import json
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from random import Random

from moss_demo.tiny import grammar

MAX_WORDS = 16
MIN_ENTRY = 4
"""Words of a dictionary entry, the word itself included."""

_HELD_OUT_SHARE = 16
_CHAIN_START = ("", "")
_SHORTENED = frozenset({"mr", "mrs", "dr", "st", "etc", "vs"})
_SPLIT_WORDS = {"gon na": "gonna", "wan na": "wanna", "got ta": "gotta", "lem me": "lemme"}


def held_out(text: str, one_in: int = _HELD_OUT_SHARE) -> bool:
    """Decide by its digest whether a generated sentence, or a person's name, is kept for tests."""
    return hashlib.sha256(text.encode()).digest()[0] % one_in == 0


def meeting_sentences(path: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Read the training and test sentences of real meetings (AMI, CC BY 4.0).

    Words that the corpus splits ("gon na") are joined; what occurs in both lists stays in the test.
    """
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        lists: dict[str, list[str]] = json.load(stream)
    test = tuple(dict.fromkeys(_joined(text) for text in lists["test"]))
    kept_out = set(test)
    train = dict.fromkeys(_joined(text) for text in lists["train"])
    return tuple(text for text in train if text not in kept_out), test


def _joined(text: str) -> str:
    for split, whole in _SPLIT_WORDS.items():
        text = text.replace(split, whole)
    return text


def dictionary_examples(folder: Path) -> tuple[str, ...]:
    """Read the example phrases of WordNet's `data.*` files, plain words only, lower case."""
    found: dict[str, None] = {}
    for part in ("noun", "verb", "adj", "adv"):
        text = (folder / f"data.{part}").read_text(encoding="latin-1")
        for example in re.findall(r'"([^"\n]+)"', text):
            plain = " ".join(re.sub(r"[,.!?;:]", " ", example.lower()).split())
            words = plain.split()
            shortened = not _SHORTENED.isdisjoint(words)
            if re.fullmatch(r"[a-z' ]+", plain) and 3 <= len(words) <= MAX_WORDS and not shortened:
                found[plain] = None
    return tuple(found)


def dictionary_entries(folder: Path) -> tuple[str, ...]:
    """Read WordNet's words, each followed by what it means, as a dictionary is read aloud.

    Meetings and examples use few words often; here every word comes once or twice.
    """
    found: dict[str, None] = {}
    for part in ("noun", "verb", "adj", "adv"):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            fields, _, gloss = line.partition(" | ")
            if line.startswith(" ") or not gloss:
                continue  # the licence stands above the entries
            word = re.sub(r"[(].*[)]", "", fields.split()[4]).replace("_", " ")
            meaning = re.sub(r"[(][^)]*[)]", " ", gloss.partition('"')[0]).partition(";")[0]
            entry = " ".join(re.sub(r"[,:-]", " ", f"{word} {meaning}").split())
            size = len(entry.split())
            if re.fullmatch(r"[a-z' ]+", entry) and MIN_ENTRY <= size <= MAX_WORDS:
                found[entry] = None
    return tuple(found)


class Chain:
    """A second-order Markov chain over sentences: any three words in a row are real."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        """Count which word follows which two."""
        self._next: dict[tuple[str, str], list[str]] = defaultdict(list)
        for text in texts:
            state = _CHAIN_START
            for word in (*text.split(), ""):
                self._next[state].append(word)
                state = (state[1], word)

    def sentence(self, draw: Random) -> str:
        """Return a new sentence; it breaks off after `MAX_WORDS` words."""
        words: list[str] = []
        state = _CHAIN_START
        while len(words) < MAX_WORDS:
            word = draw.choice(self._next[state])
            if not word:
                break
            words.append(word)
            state = (state[1], word)
        return " ".join(words)


@dataclass(frozen=True, slots=True)
class Shares:
    """How often each source is drawn; they need not add up to 1."""

    meetings: float = 0.26
    chains: float = 0.08
    examples: float = 0.12
    entries: float = 0.16
    novels: float = 0.24
    grammar: float = 0.08
    digits: float = 0.06


class Text:
    """Draws training sentences; never one that is held out."""

    def __init__(
        self,
        meetings: tuple[str, ...],
        tests: tuple[str, ...],
        examples: tuple[str, ...] = (),
        novels: tuple[str, ...] = (),
        entries: tuple[str, ...] = (),
        shares: Shares | None = None,
    ) -> None:
        """Keep the sources; an empty one is not drawn from."""
        shares = shares or Shares()
        self._meetings, self._tests = meetings, frozenset(tests)
        self._examples, self._novels, self._entries = examples, novels, entries
        self._chain = Chain(meetings)
        self._sources = {
            self._meeting: shares.meetings,
            self._chain.sentence: shares.chains,
            self._example: shares.examples if examples else 0.0,
            self._phrase: shares.novels if novels else 0.0,
            self._entry: shares.entries if entries else 0.0,
            grammar.sentence: shares.grammar,
            grammar.digit_string: shares.digits,
        }

    def sentence(self, draw: Random) -> str:
        """Return one training sentence; those of novels may be longer than `MAX_WORDS`."""
        while True:
            (source,) = draw.choices(tuple(self._sources), tuple(self._sources.values()))
            text = source(draw)
            real = source == self._meeting or len(text.split()) <= 2
            if text and text not in self._tests and (real or not held_out(text)):
                return text

    def _meeting(self, draw: Random) -> str:
        return draw.choice(self._meetings)

    def _example(self, draw: Random) -> str:
        return draw.choice(self._examples)

    def _phrase(self, draw: Random) -> str:
        return draw.choice(self._novels)

    def _entry(self, draw: Random) -> str:
        return draw.choice(self._entries)


class TestText:
    """Draws held-out sentences: test sentences of meetings and the held-out part of the grammar."""

    __test__ = False

    def __init__(self, tests: tuple[str, ...], meetings_share: float = 0.5) -> None:
        """Mix the two sources; a share of 1 leaves the grammar out."""
        self._tests = tuple(text for text in tests if len(text.split()) >= 3)
        self._share = meetings_share

    def sentence(self, draw: Random) -> str:
        """Return one sentence that `Text` never returns."""
        if draw.random() < self._share:
            return draw.choice(self._tests)
        while True:
            text = grammar.sentence(draw)
            if held_out(text) and len(text.split()) >= 3:
                return text
