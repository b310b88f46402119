"""What the commands do, step by step. Knows the order; translates no arguments."""

import argparse
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from moss_demo.errors import MossDemoError
from moss_demo.tiny.corpus import Corpus, prepare
from moss_demo.tiny.evaluation import HEADER, measure, table_row
from moss_demo.tiny.kokoro import Kokoro
from moss_demo.tiny.natural import Narrator, Phonemizer, plain
from moss_demo.tiny.rows import ROWS, Row, build_clips
from moss_demo.tiny.samples import write_sample
from moss_demo.tiny.scripts import CONVERSATIONS
from moss_demo.tiny.transcribing import Scribe
from moss_demo.tiny.utterances import trimmed


def prepare_parts(data: Path, lines: int) -> None:
    """Convert weights, train the tokenizer and write down what the voices are to say."""
    american, british = _phonemizers()
    prepare(Corpus(data), american, british, lines=lines)


def write_samples(data: Path, out: Path) -> None:
    """Speak and write the sample conversations."""
    corpus = Corpus(data)
    american, british = _phonemizers()
    narrator = Narrator(data / "vocab.json", corpus.styles(), american, british)
    kokoro = Kokoro(corpus.kokoro_package, corpus.kokoro_weights)

    def speak(text: str, voice: str, speed: float) -> NDArray[np.float32]:
        line = narrator.line(text, plain(voice), speed)
        sound = None if line is None else trimmed(next(iter(kokoro.say([line])))[1])
        if sound is None:
            raise MossDemoError(f"The voice {voice} could not say {text!r}; write it in words.")
        return sound.astype(np.float32) / np.float32(32768)

    for conversation in CONVERSATIONS:
        print(write_sample(out, conversation, speak))


def _phonemizers() -> tuple[Phonemizer, Phonemizer]:
    """Return American and British readings of English; the package is not needed to train."""
    try:
        from hibari.g2p import G2P
    except ModuleNotFoundError as error:
        raise MossDemoError(
            "Phonemes come from the package hibari-tts: pip install hibari-tts."
        ) from error
    return G2P(), G2P(british=True)


def evaluate(arguments: argparse.Namespace, device: torch.device) -> None:
    """Print the model card's table for a checkpoint, row by row as it comes."""
    names = arguments.rows or [row.name for row in ROWS]
    known = {row.name: row for row in ROWS}
    strange = [name for name in names if name not in known]
    if strange:
        raise MossDemoError(f"There is no row {strange[0]!r}; the rows are {', '.join(known)}.")
    scribe = Scribe(arguments.checkpoint, device)
    batch = 100 if device.type == "cuda" else 8
    kept: dict[str, list[dict[str, object]]] = {}
    print(HEADER)
    for row in (known[name] for name in names):
        with _skipped_without_recordings(row, arguments.human):
            clips = build_clips(row, arguments.clips, human=arguments.human)
            figures, texts = measure(clips, lambda sounds: scribe.write(sounds, batch))
            print(table_row(row, figures), flush=True)
            kept[row.name] = [
                {
                    "reference": [[u.start, u.end, u.speaker, u.text] for u in clip.utterances],
                    "text": text,
                    "ended": ended,
                }
                for clip, (text, ended) in zip(clips, texts, strict=True)
            ]
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(kept, indent=1), encoding="utf-8")


@contextmanager
def _skipped_without_recordings(row: Row, human: Path | None) -> Iterator[None]:
    """Say so and go on when a row of people has no recordings and none were promised."""
    try:
        yield
    except MossDemoError:
        if not row.human or human is not None:
            raise
        print(f"| {row.label} | 0 | | | | | | needs recordings: --human DIR |", flush=True)
