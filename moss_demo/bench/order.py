"""What a benchmark is asked to measure, and how much of it suits a device."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from moss_demo.bench.report import Plan
from moss_demo.bench.workload import Workload
from moss_demo.domain.audio import AudioClip
from moss_demo.engine.checkpoints import SYNTHETIC
from moss_demo.engine.config import EngineConfig, Precision
from moss_demo.errors import RequestError

Recording = AudioClip | Workload
"""Sound that is there, or noise of a fixed size with a fixed number of tokens."""

SYNTHETIC_RECORDINGS = (Workload(28.0, 445, 190), Workload(327.6, 4_356, 2_600))
"""Sizes of the two recordings that published figures of this model were taken on."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How often things are done.

    Attributes:
        warm_ups: encoder calls before the timed ones.
        iterations: timed encoder calls.
        chunk_counts: windows of 30 s an encoder call.
        batches: recordings a run.
        batch_runs: timed runs of a batch size on each of its two visits.
        subsecond_rounds: timed requests of a second at most.
        short_rounds: timed requests of up to ten seconds.
        long_rounds: timed requests that take longer.
        reference_tokens: tokens that the reference path decodes of a long recording, None for all:
            its time a token does not need more.
    """

    warm_ups: int
    iterations: int
    chunk_counts: tuple[int, ...]
    batches: tuple[int, ...]
    batch_runs: int
    subsecond_rounds: int
    short_rounds: int
    long_rounds: int
    reference_tokens: int | None = None

    def rounds(self, request_s: float) -> int:
        """Return how often a request is timed that takes about `request_s` seconds."""
        if request_s <= 1.0:
            return self.subsecond_rounds
        return self.short_rounds if request_s <= 10.0 else self.long_rounds

    def describe(self) -> str:
        """Say in words how much is done, for the report."""
        calls = f"encoder calls {self.iterations} after {self.warm_ups}"
        requests = "/".join(map(str, (self.subsecond_rounds, self.short_rounds, self.long_rounds)))
        batches = ", ".join(map(str, self.batches))
        return f"{calls}; requests {requests} up to 1 s/up to 10 s/longer; batches {batches}"


FULL_ON_GPU = Effort(5, 50, (1, 8), (1, 8, 16, 32, 64, 128), 3, 20, 6, 3, reference_tokens=64)
FULL_ON_CPU = Effort(1, 5, (1, 2), (1, 4, 8), 1, 10, 5, 3)
QUICK_ON_GPU = Effort(2, 10, (1,), (1, 8), 1, 5, 3, 1, reference_tokens=64)
QUICK_ON_CPU = Effort(1, 3, (1,), (1, 2), 1, 1, 1, 1)


@dataclass(frozen=True, slots=True)
class Order:
    """One benchmark.

    Attributes:
        plans: what is measured, in this order.
        config: checkpoint, device and precision; plans vary the rest.
        recordings: what is transcribed; the shortest one serves for batches.
        quick: a smoke run.
        precisions: what the precision sweep visits.
    """

    plans: tuple[Plan, ...]
    config: EngineConfig
    recordings: tuple[Recording, ...]
    quick: bool = False
    precisions: tuple[Precision, ...] = tuple(Precision)

    @property
    def effort(self) -> Effort:
        """How often things are done on this device."""
        if self.config.device == "cpu":
            return QUICK_ON_CPU if self.quick else FULL_ON_CPU
        return QUICK_ON_GPU if self.quick else FULL_ON_GPU


def choose_recordings(
    config: EngineConfig, clips: Sequence[AudioClip], *, quick: bool
) -> tuple[Recording, ...]:
    """Choose what is transcribed, the shortest first; a quick run takes only that one.

    Random weights get noise of fixed sizes instead of clips: they never end by themselves. On a
    CPU there is one recording.

    Raises:
        RequestError: two clips have one name, by which a report tells them apart.
    """
    names = [clip.name for clip in clips]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise RequestError(f"Two recordings are named {twice}; rename one of them.")
    recordings: list[Recording] = sorted(clips, key=lambda clip: clip.duration_s)
    if config.checkpoint == SYNTHETIC:
        short, long = SYNTHETIC_RECORDINGS
        recordings = [replace(short, tokens=8)] if config.device == "cpu" else [short, long]
    return tuple(recordings[:1] if quick else recordings)
