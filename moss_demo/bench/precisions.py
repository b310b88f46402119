"""The precisions one after the other on the same recordings: time, memory and what they write."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

from moss_demo.bench.order import Order, Recording
from moss_demo.bench.report import Case, Plan, Variant, Work
from moss_demo.bench.samples import Samples
from moss_demo.bench.workbench import Part, Workbench, make_request, variant_of, work_of
from moss_demo.bench.workload import Workload
from moss_demo.domain.events import Run
from moss_demo.engine.config import NUMERICS_ONLY, DecodePath, Precision

Judge = Callable[[Run, Run], str]
"""Says in a few words whether the second run's transcript equals the first's."""


@dataclass(slots=True)
class _Series:
    """What both visits of one precision to one recording gave."""

    work: Work
    variant: Variant
    samples: Samples
    load_s: float


@dataclass(slots=True)
class PrecisionSweep:
    """Visits all precisions forward, then backward, so that a slow drift meets all alike.

    Those that only reproduce numerics compute as bf16 does: they are visited once and run twice,
    for what they write.

    Attributes:
        order: what is asked for.
        judge: compares transcripts.
        found: what was measured so far, by precision and number of the recording.
    """

    order: Order
    judge: Judge
    found: dict[tuple[Precision, int], _Series] = field(default_factory=dict)

    def parts(self) -> list[Part]:
        """Return one part a visit; a precision that cannot be had fails alone."""
        forward = self.order.precisions
        again = [precision for precision in reversed(forward) if precision not in NUMERICS_ONLY]
        visits = [*forward, *([] if self.order.quick else again)]
        return [
            Part(
                Plan.PRECISION,
                f"{precision}, visit {1 if number < len(forward) else 2}",
                20.0 * len(self.order.recordings),
                partial(self._visit, precision=precision),
            )
            for number, precision in enumerate(visits)
        ]

    def _visit(self, bench: Workbench, precision: Precision) -> None:
        config = replace(self.order.config, precision=precision, decode=DecodePath.FAST)
        with bench.engine(config) as engine:
            for number, recording in enumerate(self.order.recordings):
                request = make_request(engine, recording)
                series = self.found.get((precision, number))
                if series is None:
                    forced = isinstance(recording, Workload)
                    work = work_of(engine, request, forced=forced)
                    series = _Series(work, variant_of(engine), Samples(forced), engine.info.load_s)
                    self.found[precision, number] = series
                run = bench.transcribe(engine, [request])[0]
                series.samples.check(run)
                rounds = self._rounds(bench, precision, run)
                for turn in range(rounds):
                    bench.tick((number + turn / rounds) / len(self.order.recordings))
                    run = bench.transcribe(engine, [request])[0]
                    series.samples.add(run, bench.allocated_bytes(run))
                bench.emit(self._case(precision, number, recording))

    def _rounds(self, bench: Workbench, precision: Precision, warm_up: Run) -> int:
        if precision in NUMERICS_ONLY or warm_up.finished is None:
            return 1
        return -(-bench.effort.rounds(warm_up.finished.at) // 2)  # on each of two visits

    def _case(self, precision: Precision, number: int, recording: Recording) -> Case:
        series = self.found[precision, number]
        oracle = self.found.get((Precision.FP32, number))
        labels = series.samples.labels()
        written, expected = series.samples.last, oracle.samples.last if oracle else None
        if not isinstance(recording, Workload) and written and expected:
            labels["parity"] = "reference" if oracle is series else self.judge(expected, written)
        is_numerics_only = precision in NUMERICS_ONLY
        if is_numerics_only:
            labels["speed"] = "as bf16"
        has_baseline = not is_numerics_only and precision is not Precision.FP32
        return Case(
            name=_name(precision, series.work),
            plan=Plan.PRECISION,
            work=series.work,
            variant=series.variant,
            raw=series.samples.series(),
            baseline=_name(Precision.FP32, series.work) if has_baseline else None,
            figures={"load_s": series.load_s},
            labels=labels,
        )


def _name(precision: Precision, work: Work) -> str:
    return f"precision/{work.clip}/{work.audio_s:g}/{precision}"
