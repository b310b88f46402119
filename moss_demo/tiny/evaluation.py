"""A checkpoint's figures on the rows of the model card's table.

Knows how a transcript is judged; lets a function write the transcripts.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Segment, Transcript
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.speaker_errors import attribute
from moss_demo.scoring.stamp_errors import StampErrors, stamp_errors
from moss_demo.scoring.text_errors import align, count_errors
from moss_demo.tiny.heldout import Clip
from moss_demo.tiny.rows import Row

Write = Callable[[Sequence[NDArray[np.float32]]], list[tuple[str, bool]]]
"""Clips to (raw text, whether the model ended it itself)."""


@dataclass(frozen=True, slots=True)
class Figures:
    """What a checkpoint did on clips; figures of several clips add up.

    Attributes:
        clips: how many.
        words: errors of the words.
        heard: rightly recognised words.
        attributed: of these, with the right speaker under the best one-to-one renaming.
        stamps: errors of start and end stamps where the words around them agree.
        well_formed: transcripts that ended by themselves and parse without a flaw.
        empty: transcripts without a word.
    """

    clips: int = 0
    words: ErrorCounts = ErrorCounts()  # noqa: RUF009  # a frozen value
    heard: int = 0
    attributed: int = 0
    stamps: StampErrors = StampErrors()  # noqa: RUF009  # a frozen value
    well_formed: int = 0
    empty: int = 0

    def __add__(self, other: "Figures") -> "Figures":
        """Pool two sets of clips."""
        return Figures(
            self.clips + other.clips,
            self.words + other.words,
            self.heard + other.heard,
            self.attributed + other.attributed,
            self.stamps + other.stamps,
            self.well_formed + other.well_formed,
            self.empty + other.empty,
        )


def judge(clip: Clip, text: str, ended: bool) -> Figures:
    """Compare one transcript with its reference."""
    duration_s = len(clip.samples) / SAMPLE_RATE_HZ
    written = parse(text, duration_s)
    reference = _reference(clip)
    said, heard = _words(reference), _words(written)
    pairs: Counter[tuple[str | None, str | None]] = Counter()
    alignment = align([word for word, _ in said], [word for word, _ in heard])
    for (word, speaker), partner in zip(said, alignment.partners, strict=True):
        if partner >= 0 and heard[partner][0] == word:
            pairs[speaker, heard[partner][1]] += 1
    right = sum(pairs.values())
    whole = written.complete or not text.strip()
    flawless = ended and whole and not any(s.flags for s in written.segments)
    return Figures(
        clips=1,
        words=count_errors([word for word, _ in said], [word for word, _ in heard]),
        heard=right,
        attributed=right - attribute(pairs).token_errors,
        stamps=stamp_errors(reference, written),
        well_formed=int(flawless),
        empty=int(not heard),
    )


def _reference(clip: Clip) -> Transcript:
    return Transcript(
        tuple(
            Segment(said.start, said.end, f"S{said.speaker:02d}", said.text)
            for said in clip.utterances
        )
    )


def _words(transcript: Transcript) -> list[tuple[str, str | None]]:
    return [(word, s.speaker) for s in transcript.segments for word in s.text.split()]


def measure(clips: Sequence[Clip], write: Write) -> tuple[Figures, list[tuple[str, bool]]]:
    """Transcribe and judge clips; return the figures and the transcripts."""
    texts = write([clip.samples for clip in clips])
    judged = (judge(clip, text, ended) for clip, (text, ended) in zip(clips, texts, strict=True))
    return sum(judged, Figures()), texts


HEADER = (
    "| row | clips | words | WER % | right speaker % | stamps p95 s | well formed % | target |\n"
    "|---|---|---|---|---|---|---|---|"
)


def table_row(row: Row, figures: Figures) -> str:
    """Return a row of the card's table in Markdown."""
    formed = f"{100 * figures.well_formed / max(1, figures.clips):.1f}"
    if row.name == "empty":
        empty = f"empty {100 * figures.empty / max(1, figures.clips):.1f}"
        return f"| {row.label} | {figures.clips} | 0 | {empty} | | | {formed} | {row.target} |"
    speaker = f"{100 * figures.attributed / max(1, figures.heard):.1f}"
    p95_ms = figures.stamps.p95_ms
    stamps = "" if p95_ms is None else f"{p95_ms / 1000:.2f}"
    rate = figures.words.rate
    wer = "" if rate is None else f"{100 * rate:.1f}"
    count = figures.words.reference_length
    return (
        f"| {row.label} | {figures.clips} | {count} | {wer} | {speaker} | {stamps} | {formed} "
        f"| {row.target} |"
    )
