"""More and more recordings a run: seconds a clip, memory, and where more gains nothing."""

from dataclasses import dataclass, field, replace
from functools import partial

from moss_demo.bench.order import Order
from moss_demo.bench.report import Case, Plan, Quantity, Variant, Work
from moss_demo.bench.samples import Samples
from moss_demo.bench.workbench import Part, Workbench, make_request, variant_of, work_of
from moss_demo.bench.workload import Workload
from moss_demo.engine.config import DecodePath, EngineConfig, Precision


@dataclass(slots=True)
class _Series:
    work: Work
    variant: Variant
    samples: Samples
    clip_s: list[float] = field(default_factory=list)
    allocated_bytes: list[float] = field(default_factory=list)


@dataclass(slots=True)
class BatchSweep:
    """Visits all sizes upward, then downward, after the plainest way of all: fp32, one by one.

    Every row of a batch is the same recording, so that no row waits for a longer one.

    Attributes:
        order: what is asked for.
        found: what was measured so far, by way of computing and size.
    """

    order: Order
    found: dict[tuple[EngineConfig, int], _Series] = field(default_factory=dict)

    def parts(self) -> list[Part]:
        """Return one part a visit; a size that does not fit fails alone."""
        fast = replace(self.order.config, decode=DecodePath.FAST)
        plain = replace(fast, precision=Precision.FP32)
        sizes = self.order.effort.batches
        visits = [(replace(plain, decode=DecodePath.REFERENCE), 1)]
        if fast != plain:
            visits.append((plain, 1))
        visits += [(fast, size) for size in sizes]
        visits += [] if self.order.quick else visits[::-1]
        return [
            Part(
                Plan.BATCH,
                f"{config.precision} {config.decode}, batch {size}",
                5.0 + size / 2,
                partial(self._visit, config=config, size=size),
            )
            for config, size in visits
        ]

    def _visit(self, bench: Workbench, config: EngineConfig, size: int) -> None:
        recording = self.order.recordings[0]
        with bench.engine(config) as engine:
            request = make_request(engine, recording)
            series = self.found.get((config, size))
            if series is None:
                forced = isinstance(recording, Workload)
                work = work_of(engine, request, forced=forced, batch=size)
                series = _Series(work, variant_of(engine), Samples(forced))
                self.found[config, size] = series
            requests = [request] * size
            for turn in range(bench.effort.batch_runs + 1):  # the first one settles
                bench.tick(turn / (bench.effort.batch_runs + 1))
                started_s = bench.seconds()
                runs = bench.transcribe(engine, requests)
                elapsed_s = bench.seconds() - started_s
                series.samples.check(runs[0])
                if turn:
                    series.clip_s.append(elapsed_s / size)
                    used = bench.allocated_bytes(runs[0])
                    series.allocated_bytes += [] if used is None else [used]
            bench.emit(self._case(config, size))

    def _case(self, config: EngineConfig, size: int) -> Case:
        series = self.found[config, size]
        raw = {Quantity.CLIP_S: tuple(series.clip_s)}
        if series.allocated_bytes:
            raw[Quantity.ALLOCATED_BYTES] = tuple(series.allocated_bytes)
        plainest = next(iter(self.found))
        baseline = None if (config, size) == plainest else _name(*plainest)
        return Case(
            name=_name(config, size),
            plan=Plan.BATCH,
            work=series.work,
            variant=series.variant,
            raw=raw,
            baseline=baseline,
            labels=series.samples.labels(),
        )


def _name(config: EngineConfig, size: int) -> str:
    return f"batch/{config.precision}/{config.decode}/{size}"
