"""Turns planned windows into arrays of one fixed shape and feeds them from worker processes.

Knows the pool's manifest, the layout of tokens and the shapes; touches neither sound nor a GPU.
"""

import multiprocessing as mp
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.domain.prompts import PROMPT_TEXTS, PromptPreset
from moss_demo.tiny.layout import (
    NO_LABEL,
    TOKENS_PER_CHUNK,
    Layout,
    Piece,
    Prompt,
    Target,
    audio_tokens,
)
from moss_demo.tiny.utterances import read_rows
from moss_demo.tiny.vocabulary import INSTRUCTION
from moss_demo.tiny.windows import SIZES, Conversations, Entry, Placed, Size, Window

Arrays = dict[str, NDArray[Any]]

KEYWORD_SHARE = 0.4
"""Of windows with a name that no text holds, whose list of keywords names it."""

OTHER_INSTRUCTION_SHARE = 0.04
"""Of windows whose prompt asks in other words: a person's own prompt must not end in nonsense."""

_OTHER_INSTRUCTIONS = (
    "transcribe the audio",
    "please write down who says what and when",
    PROMPT_TEXTS[PromptPreset.ENGLISH],
)

EFFECTS = 16
"""Uniform random numbers a window that `mixing` turns into room, noise, tone and level."""

_POLL_EVERY = 20
_EMBEDDING = 1280


@dataclass(frozen=True, slots=True)
class Feed:
    """What a worker needs to know.

    Attributes:
        manifest: text file that grows: `shard path TAB first sample in the pool` a line.
        tokenizer: `tokenizer.json`.
        speakers: class of every voice for the speaker losses.
        known_words: words that need no keyword.
        kind_weights: how often each kind of voice is cast.
        sizes: shapes of windows, the shortest first.
        size_weights: how often each is planned.
    """

    manifest: Path
    tokenizer: Path
    speakers: Mapping[str, int]
    known_words: frozenset[str]
    kind_weights: Mapping[str, float]
    sizes: tuple[Size, ...] = SIZES
    size_weights: tuple[float, ...] = (0.70, 0.17, 0.13)


class Planner:
    """Plans batches from the shards that the manifest names so far."""

    def __init__(self, feed: Feed, seed: int, vary: bool = True) -> None:
        """Start with an empty pool; `poll` fills it."""
        self._feed = feed
        self.draw = Random(seed)
        self._effects = np.random.default_rng(seed)
        self._tokenizer = Tokenizer.from_file(str(feed.tokenizer))
        self.layout = Layout(self._tokenizer)
        self.talk = Conversations(self.draw, feed.kind_weights, vary)
        self._read = 0

    def poll(self) -> int:
        """Take in shards that came since the last call; return the utterances known."""
        lines = self._feed.manifest.read_text(encoding="utf-8").split("\n")[:-1]
        for line in lines[self._read :]:
            shard, _, offset_text = line.partition("\t")
            rows, offset = read_rows(Path(shard)), int(offset_text)
            encoded = self._tokenizer.encode_batch(
                [row.text for row in rows], add_special_tokens=False
            )
            for row, tokens in zip(rows, encoded, strict=True):
                entry = Entry(offset, row.samples, tuple(tokens.ids), row.text)
                self.talk.add(row.speaker, entry)
                offset += row.samples
        if self._read < len(lines):
            self._read = len(lines)
            self.talk.cast()
        return sum(len(entries) for entries in self.talk.entries.values())

    def batch(self, size: Size) -> Arrays:
        """Plan windows until a batch of that size is full."""
        arrays = empty_batch(size)
        row = 0
        while row < size.batch:
            window = self.talk.window(size)
            if self._fill(arrays, row, size, window):
                row += 1
        arrays["effects"] = self._effects.random((size.batch, EFFECTS), dtype=np.float32)
        return arrays

    def _fill(self, arrays: Arrays, row: int, size: Size, window: Window) -> bool:
        """Write one window into its row; False when it does not fit the shape."""
        pieces = self._pieces(window)
        target = self.layout.target(pieces)
        instruction = INSTRUCTION
        if self.draw.random() < OTHER_INSTRUCTION_SHARE:
            instruction = self.draw.choice(_OTHER_INSTRUCTIONS)
        prompt = self.layout.prompt(window.samples, self._keywords(window), instruction)
        words = [token for piece in pieces for token in piece.tokens]
        if len(prompt.ids) + len(target.ids) > size.positions or len(words) > size.words:
            return False
        _write_tokens(arrays, row, prompt, target)
        arrays["words"][row, : len(words)] = words
        arrays["word_count"][row] = len(words)
        arrays["audio_count"][row] = audio_tokens(window.samples)
        arrays["samples"][row] = window.samples
        _write_sound(arrays, row, window.placed, self._feed.speakers)
        return True

    def _pieces(self, window: Window) -> list[Piece]:
        numbers: dict[str, int] = {}
        pieces: list[Piece] = []
        for item in window.placed:
            number = numbers.setdefault(item.voice, len(numbers) + 1)
            start = item.start / SAMPLE_RATE_HZ
            end = (item.start + item.samples) / SAMPLE_RATE_HZ
            label = speaker_class(self._feed.speakers, item)
            pieces.append(Piece(start, end, number, item.entry.tokens, label))
        return pieces

    def _keywords(self, window: Window) -> tuple[str, ...]:
        """Name what nobody can spell from its sound, among words that were not said."""
        known = self._feed.known_words
        texts = [item.entry.text for item in window.placed]
        rare = {word for text in texts for word in text.split() if word not in known}
        if self.draw.random() >= (KEYWORD_SHARE if rare else 0.02):
            return ()
        others = [word for text in texts for word in text.split() if len(word) > 5]
        extra = self.draw.sample(others, min(len(others), self.draw.randint(0, 2)))
        keywords = list(dict.fromkeys([*sorted(rare)[:4], *extra]))
        self.draw.shuffle(keywords)
        return tuple(keywords)


def empty_batch(size: Size) -> Arrays:
    """Return the arrays of one batch, all padding."""
    batch, positions, most = size.batch, size.positions, size.utterances
    frames = size.chunks * TOKENS_PER_CHUNK
    return {
        "offset": np.zeros((batch, most), np.int64),
        "start": np.zeros((batch, most), np.int32),
        "length": np.zeros((batch, most), np.int32),
        "rate": np.ones((batch, most), np.float32),
        "gain": np.zeros((batch, most), np.float32),
        "samples": np.zeros(batch, np.int32),
        "ids": np.zeros((batch, positions), np.int16),
        "labels": np.full((batch, positions), NO_LABEL, np.int16),
        "audio_index": np.full((batch, positions), -1, np.int16),
        "position_speaker": np.full((batch, positions), NO_LABEL, np.int16),
        "frame_speaker": np.full((batch, frames), NO_LABEL, np.int16),
        "words": np.zeros((batch, size.words), np.int16),
        "word_count": np.zeros(batch, np.int32),
        "audio_count": np.zeros(batch, np.int32),
    }


def speaker_class(speakers: Mapping[str, int], item: Placed) -> int:
    """Return the class of a voice at its pace; voices outside the table have none."""
    number = speakers.get(item.voice)
    return NO_LABEL if number is None else 3 * number + item.pace


def _write_tokens(arrays: Arrays, row: int, prompt: Prompt, target: Target) -> None:
    """Write ids and labels; labels stand where the token before them is read."""
    before, after = len(prompt.ids), len(prompt.ids) + len(target.ids)
    arrays["ids"][row, :before] = prompt.ids
    arrays["ids"][row, before:after] = target.ids
    arrays["audio_index"][row, :before] = prompt.audio_index
    arrays["labels"][row, before - 1 : after - 1] = target.ids
    arrays["position_speaker"][row, before - 1 : after - 1] = target.speaker_classes


def _write_sound(
    arrays: Arrays, row: int, placed: Sequence[Placed], speakers: Mapping[str, int]
) -> None:
    """Write where each utterance goes and which voice alone is heard in each audio embedding."""
    frames = arrays["frame_speaker"].shape[1]
    middle = (np.arange(frames) + 0.5) * _EMBEDDING
    heard = np.zeros(frames, np.int8)
    for place, item in enumerate(placed):
        arrays["offset"][row, place] = item.entry.offset
        arrays["start"][row, place] = item.start
        arrays["length"][row, place] = item.samples
        arrays["rate"][row, place] = item.rate
        arrays["gain"][row, place] = item.gain
        spoken = (middle >= item.start) & (middle < item.start + item.samples)
        heard += spoken
        arrays["frame_speaker"][row, spoken] = speaker_class(speakers, item)
    arrays["frame_speaker"][row, heard != 1] = NO_LABEL


def run_worker(feed: Feed, seed: int, queue: "mp.Queue[tuple[int, Arrays]]", long_too: Any) -> None:
    """Plan batches for ever; the parent ends the process.

    Args:
        feed: what to plan from.
        seed: of this worker alone.
        queue: takes (index into the feed's sizes, arrays); blocks when full.
        long_too: shared flag; until it is set only the shortest windows are planned.
    """
    planner = Planner(feed, seed)
    made = 0
    while True:
        if made % _POLL_EVERY == 0 and planner.poll() == 0:
            time.sleep(0.2)
            continue
        weights = feed.size_weights if long_too.value else (1.0, 0.0, 0.0)
        (which,) = planner.draw.choices(range(len(feed.sizes)), weights)
        queue.put((which, planner.batch(feed.sizes[which])))
        made += 1


class Workers:
    """Planning processes and the queue they fill."""

    def __init__(self, feed: Feed, count: int, seed: int) -> None:
        """Start `count` processes; they wait for the first shard by themselves."""
        context = mp.get_context("spawn")
        self.sizes = feed.sizes
        self.queue: mp.Queue[tuple[int, Arrays]] = context.Queue(maxsize=2 * count)
        self.long_too = context.Value("b", 0)
        self._processes = [
            context.Process(
                target=run_worker, args=(feed, seed + i, self.queue, self.long_too), daemon=True
            )
            for i in range(count)
        ]
        # A start waits until the new process has imported everything and reads what it is sent:
        # one after the other, nine of them took 100 s.
        with ThreadPoolExecutor(count) as starters:
            list(starters.map(BaseProcess.start, self._processes))

    def stop(self) -> None:
        """End the processes."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
