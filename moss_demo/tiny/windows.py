"""Plans of training windows: who says what when, how loud, in which room, and what is no speech.

A plan is numbers only; the GPU turns it into sound. Planning runs in worker processes beside the
training. Knows conversations and the pool's table of contents; knows neither samples nor weights.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random

from moss_demo.domain.audio import SAMPLE_RATE_HZ

PACES = (0.8, 0.93, 0.96, 1.05, 1.08, 1.22)
"""Borders of slow, own and quick pace. Resampling moves pitch and formants too: each pace counts as
a speaker of its own, which triples the voices the speaker losses must tell apart."""

EMPTY_SHARE = 0.05
"""Of windows without speech. The first checkpoint saw none and invented text on 100 % of tones."""


@dataclass(frozen=True, slots=True)
class Size:
    """A window's fixed shape; one shape is one compilation.

    Attributes:
        seconds: longest window, whole chunks of 30 s.
        batch: windows a step; every size holds the same amount of sound.
        positions: prompt and transcript.
        utterances: at most.
        words: tokens of words at most (the CTC target).
        shortest_s: most windows are drawn between this and `seconds`.
    """

    seconds: int
    batch: int
    positions: int
    utterances: int
    words: int
    shortest_s: float

    @property
    def chunks(self) -> int:
        """Chunks of 30 s."""
        return self.seconds // 30


SHORT = Size(30, 64, 896, 22, 300, 15.0)
MEDIUM = Size(60, 32, 1792, 42, 600, 31.0)
LONG = Size(120, 16, 3584, 80, 1200, 61.0)
SIZES = (SHORT, MEDIUM, LONG)


def sizes(step_minutes: int) -> tuple[Size, ...]:
    """Return `SIZES` with as many windows as make that many minutes of sound, at least one."""
    return tuple(replace(s, batch=max(1, 60 * step_minutes // s.seconds)) for s in SIZES)


@dataclass(frozen=True, slots=True)
class Entry:
    """Where an utterance lies in the pool and what it says."""

    offset: int
    samples: int
    tokens: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Placed:
    """An utterance on the time line of a window.

    Attributes:
        entry: what is said.
        voice: who says it.
        start: first sample.
        samples: length after resampling.
        rate: input samples an output sample.
        pace: 0 slow, 1 own, 2 quick.
        gain: factor.
    """

    entry: Entry
    voice: str
    start: int
    samples: int
    rate: float
    pace: int
    gain: float


@dataclass(frozen=True, slots=True)
class Window:
    """A planned window; without utterances it holds no speech at all."""

    placed: tuple[Placed, ...]
    samples: int


class Conversations:
    """Draws windows from a pool of voices grouped by kind."""

    def __init__(
        self,
        draw: Random,
        kind_weights: Mapping[str, float],
        vary: bool = True,
        most_speakers: int = 4,
    ) -> None:
        """Prepare an empty cast.

        Args:
            draw: source of all choices.
            kind_weights: how often each kind of voice (the name up to the colon) is cast.
            vary: resample voices and draw windows of any length; off for test rows.
            most_speakers: in one window.
        """
        self.draw = draw
        self.entries: dict[str, list[Entry]] = defaultdict(list)
        self._weights = dict(kind_weights)
        self._kinds: dict[str, list[str]] = {}
        self._vary = vary
        self._most = most_speakers

    def add(self, voice: str, entry: Entry) -> None:
        """Add an utterance; call `cast` after the last one."""
        self.entries[voice].append(entry)

    def cast(self) -> None:
        """Group the voices by kind."""
        kinds: dict[str, list[str]] = defaultdict(list)
        for voice in self.entries:
            kind = voice.partition(":")[0]
            if self._weights.get(kind, 0.0) > 0:
                kinds[kind].append(voice)
        self._kinds = dict(kinds)

    def can_cast(self, kind: str) -> bool:
        """Tell whether there is a voice of that kind."""
        return kind in self._kinds

    def window(self, size: Size) -> Window:
        """Plan one window."""
        draw = self.draw
        if self._vary and draw.random() < EMPTY_SHARE:
            return Window((), int(draw.uniform(0.5, size.seconds) * SAMPLE_RATE_HZ))
        if self._vary and size.chunks == 1 and draw.random() < 0.25:
            limit_s = draw.uniform(3, size.shortest_s)
        else:
            limit_s = draw.uniform(size.shortest_s, size.seconds)
        limit = int(limit_s * SAMPLE_RATE_HZ)
        placed = self._talk(limit, size)
        if not placed:
            return Window((), limit)
        end = max(item.start + item.samples for item in placed)
        return Window(placed, min(limit, end + int(draw.uniform(0.05, 1.2) * SAMPLE_RATE_HZ)))

    def _talk(self, limit: int, size: Size) -> tuple[Placed, ...]:
        draw = self.draw
        voices = self._voices()
        manner = {voice: self._manner() for voice in voices}
        lead_s = draw.uniform(0, 1.5) if draw.random() < 0.85 else draw.uniform(1.5, 5)
        end, placed = int(lead_s * SAMPLE_RATE_HZ), list[Placed]()
        misses = 0
        while len(placed) < size.utterances:
            before = placed[-1] if placed else None
            voice = self._next_voice(voices, before)
            entry = draw.choice(self.entries[voice])
            pace, rate, gain = manner[voice]
            length = int((entry.samples - 2) / rate)
            start = end + self._gap(before, voice, length) if before else end
            if start + length > limit:
                misses += 1
                if misses > 2:
                    break
                continue
            level = gain * 10 ** (draw.uniform(-2, 2) / 20)
            placed.append(Placed(entry, voice, start, length, rate, pace, level))
            end = start + length
        return tuple(placed)

    def _voices(self) -> list[str]:
        """Cast one to four different voices; a synthesizer's variants of one voice are one."""
        draw = self.draw
        count = min(self._most, draw.choices((1, 2, 3, 4), (0.14, 0.34, 0.30, 0.22))[0])
        if not self._vary:
            count = draw.randint(2, self._most)
        kinds = tuple(self._kinds)
        weights = [self._weights[kind] for kind in kinds]
        voices: dict[str, str] = {}
        for _ in range(40):
            voice = draw.choice(self._kinds[draw.choices(kinds, weights)[0]])
            voices.setdefault(voice.partition("@")[0], voice)
            if len(voices) == count:
                break
        return list(voices.values())

    def _manner(self) -> tuple[int, float, float]:
        """Draw (pace, rate, gain) of a voice within a window."""
        gain = 10 ** (self.draw.uniform(-9, 0) / 20)
        if not self._vary:
            return 1, 1.0, gain
        pace = self.draw.choices((0, 1, 2), (0.25, 0.5, 0.25))[0]
        return pace, self.draw.uniform(*PACES[2 * pace : 2 * pace + 2]), gain

    def _next_voice(self, voices: list[str], before: Placed | None) -> str:
        others = [voice for voice in voices if before is None or voice != before.voice]
        if others and (before is None or self.draw.random() < 0.78):
            return self.draw.choice(others)
        return voices[0] if before is None else before.voice

    def _gap(self, before: Placed, voice: str, length: int) -> int:
        """Draw the samples between two turns; negative when the next speaker cuts in."""
        draw, change = self.draw, voice != before.voice
        luck = draw.random()
        if change and luck < 0.16:
            most_s = 0.45 * min(before.samples, length) / SAMPLE_RATE_HZ
            return -int(min(draw.uniform(0, 0.6), most_s) * SAMPLE_RATE_HZ)
        if luck < 0.7:
            gap_s = draw.uniform(0.06 if change else 0.18, 0.55)
        elif luck < 0.96:
            gap_s = draw.uniform(0.5, 1.6)
        else:
            gap_s = draw.uniform(1.6, 6)
        return int(gap_s * SAMPLE_RATE_HZ)
