"""What every plan measures with: the engine under the pool's lock, requests, runs, progress."""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from moss_demo.bench.environment import describe_environment, gpu_uuid
from moss_demo.bench.events import Begun, Event, Progress
from moss_demo.bench.nvml import open_gpu
from moss_demo.bench.order import Effort, Order, Recording
from moss_demo.bench.report import Plan, Variant, Work
from moss_demo.bench.workload import Workload
from moss_demo.domain.events import Run
from moss_demo.domain.request import Request
from moss_demo.engine.checkpoints import Layout
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.engine import Engine
from moss_demo.engine.pool import EnginePool, Preparing, Waiting
from moss_demo.engine.prompting import CHUNK_SAMPLES, build_prompt_ids
from moss_demo.engine.together import transcribe_together
from moss_demo.engine.worker import Emit, IsStopped, StoppedError


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a plan that can fail without taking the others along.

    Attributes:
        plan: the plan it belongs to.
        label: what it measures, in a few words.
        expected_s: a guess that shares out the progress; what parts have taken corrects it.
        measure: the work; it emits its cases.
    """

    plan: Plan
    label: str
    expected_s: float
    measure: Callable[["Workbench"], None]


class Workbench:
    """Lends engines to parts, one at a time, and tells how far everything is."""

    def __init__(
        self, order: Order, pool: EnginePool, emit: Emit[Event], is_stopped: IsStopped
    ) -> None:
        """Start the clock."""
        self.order = order
        self.emit = emit
        self.is_stopped = is_stopped
        self.uuid = gpu_uuid(order.config.device)
        self.gpu = open_gpu(self.uuid)
        self._pool = pool
        self._started_at = perf_counter()
        self._begun = False
        self._part: Part | None = None
        self._expected_s = (0.0, 0.0)  # of the parts that are done, of all

    @property
    def effort(self) -> Effort:
        """How often things are done."""
        return self.order.effort

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return perf_counter() - self._started_at

    def begin(self, part: Part, done_s: float, total_s: float) -> None:
        """Take up a part.

        Args:
            part: what comes now.
            done_s: expected seconds of the parts before it.
            total_s: expected seconds of all parts.
        """
        self._part, self._expected_s = part, (done_s, total_s)
        self.tick(0.0)

    def tick(self, share: float) -> None:
        """Tell which share of the part is done.

        Raises:
            StoppedError: nobody wants the rest.
        """
        if self.is_stopped():
            raise StoppedError
        if self._part is None:
            return
        done_s, total_s = self._expected_s
        done = min(1.0, (done_s + share * self._part.expected_s) / total_s)
        elapsed_s = self.seconds()
        left_s = elapsed_s * (1 - done) / done if done > 0 else None
        label = f"{self._part.plan.value}: {self._part.label}"
        self.emit(Progress(done, label, elapsed_s, left_s))

    @contextmanager
    def engine(self, config: EngineConfig) -> Iterator[Engine]:
        """Hold the device with an engine on it until the block ends.

        Raises:
            StoppedError: the benchmark was given up.
            MossDemoError: the checkpoint cannot be loaded.
        """
        with self._pool.borrow(config, self._tell, self.is_stopped) as engine:
            if not self._begun:
                self._begun = True
                precision, effort = self.order.config.precision, self.effort.describe()
                found = describe_environment(engine.info, precision, effort, self.gpu)
                self.emit(Begun(found))
            yield engine

    def _tell(self, event: Preparing) -> None:
        """Pass on that others are in front; between parts they get their turn."""
        if isinstance(event, Waiting):
            self.emit(event)

    def transcribe(self, engine: Engine, requests: Sequence[Request]) -> tuple[Run, ...]:
        """Transcribe requests together.

        Raises:
            StoppedError: the benchmark was given up.
            MossDemoError: the device ran out of memory, or a request does not fit.
        """
        runs = transcribe_together(engine, requests, self.is_stopped)
        if self.is_stopped():
            raise StoppedError
        return runs

    def allocated_bytes(self, run: Run) -> int | None:
        """Return the allocator's peak of a run; on a CPU the engine knows that of its life only."""
        if self.uuid is None or run.finished is None:
            return None
        return run.finished.peak_memory_bytes


def make_request(engine: Engine, recording: Recording, tokens: int | None = None) -> Request:
    """Return the request for a recording; the speech gate stays out of the figures.

    Args:
        engine: whose prompt it is.
        recording: a clip, or a size of work.
        tokens: limit of tokens that is meant to be reached, None for the recording's own.
    """
    if isinstance(recording, Workload):
        limit = recording.tokens if tokens is None else min(tokens, recording.tokens)
        return replace(recording, tokens=limit).request(engine.loaded)
    request = Request(recording, speech_gate=False)
    if tokens is None:
        return request
    return replace(request, options=replace(request.options, max_new_tokens=tokens))


def work_of(engine: Engine, request: Request, *, forced: bool, batch: int = 1) -> Work:
    """Describe what a run of a request computes, once for each row of a batch."""
    ids = build_prompt_ids(engine.loaded.processor, Layout(engine.info.layout), request)
    clip = request.clip
    return Work(
        clip=clip.name,
        digest=clip.digest,
        audio_s=batch * clip.duration_s,
        chunks=batch * -(-clip.samples.size // CHUNK_SAMPLES),
        batch=batch,
        prompt_tokens=len(ids),
        prompt_digest=hashlib.sha256(np.asarray(ids, np.int64).tobytes()).hexdigest()[:16],
        tokens=request.options.max_new_tokens if forced else None,
    )


def variant_of(engine: Engine) -> Variant:
    """Describe how an engine computes."""
    config, info = engine.config, engine.info
    return Variant(config.precision, config.decode, config.encoder_compile, info.attention)


def recording_name(recording: Recording) -> str:
    """Name a recording for people."""
    if isinstance(recording, Workload):
        return f"noise of {recording.duration_s:g} s"
    return recording.name
