"""What a benchmark keeps: raw values with everything they depend on. Statistics are never stored.

A report grows case by case as the runner's events are folded into it (`events.py`), so whatever was
measured before a failure or a stop is there.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

SCHEMA = 1
"""Raised whenever a reader of older reports would misread a newer one."""


class Plan(StrEnum):
    """What is measured."""

    ENCODER = "encoder"
    E2E = "e2e"
    PRECISION = "precision"
    BATCH = "batch"
    MEMORY = "memory"


class Quantity(StrEnum):
    """A series of raw values; the unit is the last part of the name."""

    CALL_MS = "call_ms"
    REQUEST_S = "request_s"
    CLIP_S = "clip_s"
    FIRST_TOKEN_S = "first_token_s"
    FEATURES_S = "features_s"
    ENCODER_S = "encoder_s"
    PREFILL_S = "prefill_s"
    DECODE_S = "decode_s"
    TOKEN_MS = "token_ms"
    TOKENS = "tokens"
    ALLOCATED_BYTES = "allocated_bytes"
    RESERVED_BYTES = "reserved_bytes"
    SAMPLED_AT_S = "sampled_at_s"
    SAMPLED_BYTES = "sampled_bytes"


PRIMARY = {
    Plan.ENCODER: Quantity.CALL_MS,
    Plan.E2E: Quantity.REQUEST_S,
    Plan.PRECISION: Quantity.REQUEST_S,
    Plan.BATCH: Quantity.CLIP_S,
}
"""The series that speedups are taken of."""

Series: TypeAlias = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Work:
    """What was computed: the same for both sides of a comparison.

    Attributes:
        clip: name of the recording.
        digest: digest of its samples; of the features for the encoder alone.
        audio_s: length of the recording, of all rows of a batch together.
        chunks: windows of 30 s.
        batch: recordings a run.
        prompt_tokens: length of the prompt, 0 where there is none.
        prompt_digest: digest of the prompt's token ids, empty where there is none.
        tokens: forced number of tokens, None when the model ends by itself.
    """

    clip: str
    digest: str
    audio_s: float
    chunks: int
    batch: int = 1
    prompt_tokens: int = 0
    prompt_digest: str = ""
    tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Variant:
    """How it was computed.

    Attributes:
        precision: number format.
        decode: decode path, empty where nothing is decoded.
        encoder: how the encoder runs, such as "off" for eager.
        attention: what computes attention in the decoder.
    """

    precision: str
    decode: str = ""
    encoder: str = "off"
    attention: str = ""


@dataclass(frozen=True, slots=True)
class Case:
    """One row: some work done in one way, again and again.

    Attributes:
        name: unique within the report.
        plan: the plan it belongs to.
        work: what was computed.
        variant: how.
        raw: values in the order they were taken, by quantity.
        baseline: name of the case it took turns with, None for a baseline.
        figures: what is measured or known once, by name; the unit is the last part of the name.
        labels: findings that are words, such as the verdict of the parity gate.
    """

    name: str
    plan: Plan
    work: Work
    variant: Variant
    raw: dict[Quantity, Series]
    baseline: str | None = None
    figures: dict[str, float] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GpuState:
    """What the driver says of a GPU at one moment; None where it does not say.

    Attributes:
        sm_clock_mhz: clock of the multiprocessors.
        memory_clock_mhz: clock of the memory.
        temperature_c: temperature of the chip.
        power_w: power drawn.
        power_limit_w: power it may draw.
        processes: compute processes on it, ours included where it is listed.
    """

    sm_clock_mhz: int | None = None
    memory_clock_mhz: int | None = None
    temperature_c: int | None = None
    power_w: float | None = None
    power_limit_w: float | None = None
    processes: int | None = None


@dataclass(frozen=True, slots=True)
class Environment:
    """Where a report comes from.

    Attributes:
        started_at: time of day in UTC, ISO 8601.
        device: torch device.
        hardware: name of the GPU or processor.
        memory_bytes: memory of that device.
        driver: version of the GPU's driver, or "n/a".
        cuda: version of CUDA that torch was built with, or "n/a".
        torch: version.
        transformers: version.
        python: version.
        threads: threads of torch on the CPU.
        checkpoint: name of the weights.
        revision: their commit, or "local".
        parameters: how many there are.
        precision: number format, where a case does not say another.
        code: commit of this project, or the digest of its sources.
        effort: how often things were done, in words.
        before: state of the GPU before the first measurement.
    """

    started_at: str
    device: str
    hardware: str
    memory_bytes: int | None
    driver: str
    cuda: str
    torch: str
    transformers: str
    python: str
    threads: int
    checkpoint: str
    revision: str
    parameters: int
    precision: str
    code: str
    effort: str = ""
    before: GpuState | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that could not be measured.

    Attributes:
        plan: the plan it belongs to.
        what: the part that failed.
        message: cause and, where there is one, remedy.
    """

    plan: Plan
    what: str
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that one benchmark measured.

    Attributes:
        plans: what was asked for, in the order it is done.
        quick: whether only a smoke run was asked for.
        environment: where it ran, None until the first engine was there.
        cases: what was measured.
        failures: what could not be.
        peak_tflops: rate of a large matrix product on this device by precision.
        after: state of the GPU at the end.
        seconds: how long all of it took, None for a report that was cut short.
    """

    plans: tuple[Plan, ...]
    quick: bool = False
    environment: Environment | None = None
    cases: tuple[Case, ...] = ()
    failures: tuple[Failure, ...] = ()
    peak_tflops: dict[str, float] = field(default_factory=dict)
    after: GpuState | None = None
    seconds: float | None = None

    def case(self, name: str | None) -> Case | None:
        """Return the case of that name, if it was measured."""
        return next((case for case in self.cases if case.name == name), None)
