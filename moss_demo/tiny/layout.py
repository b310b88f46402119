"""Token layout of a training example: prompt with its audio span, transcript, what each loss reads.

Built token by token instead of through the processor, which would need the sound; a test holds both
to the same ids. Knows the markup and the tokenizer; knows no sound and no speakers' names.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from tokenizers import Tokenizer

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny.vocabulary import (
    AUDIO,
    AUDIO_END,
    AUDIO_START,
    INSTRUCTION,
    KEYWORDS,
    MARKER_S,
    TURN_END,
    TURN_START,
)

CHUNK_SAMPLES = 30 * SAMPLE_RATE_HZ
TOKENS_PER_CHUNK = 375
TOKENS_PER_S = 12.5
GRID_S = 0.02
"""Of the stamps: the encoder's frames last 0.02 s, and what is between cannot be heard."""

NO_LABEL = -100


def audio_tokens(samples: int) -> int:
    """Count audio positions: 10 ms frames, halved and quartered, chunk by chunk, rounding up."""
    whole, rest = divmod(samples, CHUNK_SAMPLES)
    if rest == 0:
        return whole * TOKENS_PER_CHUNK
    frames = -(-rest // 160)
    return whole * TOKENS_PER_CHUNK + -(-((frames - 1) // 2 + 1) // 4)


@dataclass(frozen=True, slots=True)
class Piece:
    """One segment of a transcript, tokenized.

    Attributes:
        start: seconds.
        end: seconds.
        speaker: number from 1.
        tokens: ids of the words.
        speaker_class: what the auxiliary speaker losses call this voice, or `NO_LABEL`.
    """

    start: float
    end: float
    speaker: int
    tokens: tuple[int, ...]
    speaker_class: int = NO_LABEL


@dataclass(frozen=True, slots=True)
class Prompt:
    """Ids of a prompt and, at its audio positions, which audio embedding goes there (else -1)."""

    ids: list[int]
    audio_index: list[int]


@dataclass(frozen=True, slots=True)
class Target:
    """The transcript as ids, and the voice's class at the positions that must know the voice."""

    ids: list[int]
    speaker_classes: list[int]


class Layout:
    """Builds prompts and targets with one tokenizer."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        """Look the pieces of markup up once."""
        self._tokenizer = tokenizer
        self.audio_id = self._single(AUDIO)
        self.end_id = self._single(TURN_END)
        self.digit_ids = tuple(self._single(str(digit)) for digit in range(10))
        self.speaker_border_id = self._single("][S")
        self._open, self._close = self._single("["), self._single("]")
        self._border, self._point = self._single("]["), self._single(".")
        self._before = self._encode(f"{TURN_START}user\n{AUDIO_START}")

    def _encode(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def _single(self, text: str) -> int:
        (only,) = self._encode(text)
        return int(only)

    @property
    def markup_ids(self) -> frozenset[int]:
        """Ids that are not words: brackets, borders, digits, points and the end."""
        marks = (self._open, self._close, self._border, self._point, self.speaker_border_id)
        return frozenset((*marks, *self.digit_ids, self.end_id))

    def words(self, text: str) -> tuple[int, ...]:
        """Tokenize the words of one segment."""
        return self._encode(text)

    def prompt(
        self, samples: int, keywords: Sequence[str] = (), instruction: str = INSTRUCTION
    ) -> Prompt:
        """Return the prompt for a recording of that many samples."""
        count = audio_tokens(samples)
        ids, index = list(self._before), [-1] * len(self._before)
        done = 0
        tokens_per_marker = int(TOKENS_PER_S * MARKER_S)
        for second in range(MARKER_S, int(count / TOKENS_PER_S) + 1, MARKER_S):
            reached = second // MARKER_S * tokens_per_marker
            digits = [self.digit_ids[int(digit)] for digit in str(second)]
            ids += [self.audio_id] * (reached - done) + digits
            index += [*range(done, reached), *([-1] * len(digits))]
            done = reached
        hint = KEYWORDS + ", ".join(keywords) if keywords else ""
        after = self._encode(f"{AUDIO_END}\n{instruction}{hint}{TURN_END}\n{TURN_START}assistant\n")
        ids += [self.audio_id] * (count - done) + list(after)
        index += [*range(done, count), *([-1] * len(after))]
        return Prompt(ids, index)

    def target(self, pieces: Sequence[Piece]) -> Target:
        """Return the transcript `[start][S01]words[end][start]...` and its end; empty: the end."""
        ids: list[int] = []
        classes: list[int] = []
        zero = self.digit_ids[0]
        for place, piece in enumerate(pieces):
            opening = [self._open] if place == 0 else []
            stamp = opening + self._stamp(piece.start) + [self.speaker_border_id]
            # A class belongs to the position that predicts the token after it.
            known = [zero, self.digit_ids[piece.speaker], self._close, *piece.tokens]
            ending = [self._open, *self._stamp(piece.end)]
            ending.append(self._border if place < len(pieces) - 1 else self._close)
            ids += stamp + known + ending
            classes += [NO_LABEL] * len(stamp) + [piece.speaker_class] * (len(known) + 1)
            classes += [NO_LABEL] * (len(ending) - 1)
        return Target([*ids, self.end_id], [*classes, NO_LABEL])

    def _stamp(self, seconds: float) -> list[int]:
        text = f"{round(seconds / GRID_S) * GRID_S:.2f}"
        return [self._point if c == "." else self.digit_ids[int(c)] for c in text]
