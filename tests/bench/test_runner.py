"""Orders measured on the embedded checkpoint: what they give, and what failures and stops leave."""

from contextlib import closing

import numpy as np
import pytest
from transformers import MossTranscribeDiarizeConfig

from moss_demo.bench.clips import SAMPLES, SHORT, read_clips
from moss_demo.bench.encoder_calls import measure_encoder, operations
from moss_demo.bench.events import Begun, Ended, Progress, advance
from moss_demo.bench.judging import judge
from moss_demo.bench.order import Order, choose_recordings
from moss_demo.bench.report import Case, Plan, Quantity, Report
from moss_demo.bench.runner import run_benchmark
from moss_demo.bench.samples import Samples
from moss_demo.bench.tables import tables
from moss_demo.bench.workload import Workload
from moss_demo.domain.audio import SAMPLE_RATE_HZ, AudioClip
from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.engine.config import EncoderCompile, EngineConfig, Precision
from moss_demo.engine.pool import EnginePool, Working
from moss_demo.errors import RequestError

TINY = EngineConfig("tiny", "cpu", Precision.FP32)


@pytest.fixture(scope="module")
def pool() -> EnginePool:
    """A pool of this module."""
    return EnginePool()


@pytest.fixture(scope="module")
def clip() -> AudioClip:
    """The first four seconds of a sample."""
    (whole,) = read_clips([SAMPLES / SHORT], 600.0)
    return AudioClip("start.flac", whole.samples[: 4 * SAMPLE_RATE_HZ])


def _measured(order: Order, pool: EnginePool) -> tuple[Report, list[object]]:
    report = Report(order.plans, order.quick)
    events: list[object] = []
    for event in run_benchmark(order, pool, judge):
        if not isinstance(event, Working):
            events.append(event)
        report = advance(report, event)
    return report, events


def test_requests_are_measured_in_turns(pool: EnginePool, clip: AudioClip) -> None:
    """Both duels have both sides, raw values, compile times apart, and equal tokens."""
    report, events = _measured(Order((Plan.E2E,), TINY, (clip,), quick=True), pool)
    assert report.failures == ()
    assert isinstance(events[0], Progress)
    assert isinstance(events[1], Begun)
    assert isinstance(events[-1], Ended)
    done = [event.done for event in events if isinstance(event, Progress)]
    assert done == sorted(done)
    slow, fast, eager, compiled = report.cases
    assert (slow.variant.decode, fast.variant.decode) == ("reference", "fast")
    assert compiled.variant.encoder == EncoderCompile.DEFAULT
    assert (fast.baseline, compiled.baseline) == (slow.name, eager.name)
    assert compiled.figures["compile_s"] > 0
    assert {case.labels.get("tokens") for case in (fast, compiled)} == {"same tokens"}
    for case in report.cases:
        assert case.figures["asked"] == len(case.raw[Quantity.REQUEST_S])
        assert case.raw[Quantity.FIRST_TOKEN_S] < case.raw[Quantity.REQUEST_S]
        assert case.work.prompt_tokens > 50
        assert len(case.work.digest) == len(case.work.prompt_digest) == 16
    assert report.environment is not None
    assert report.environment.checkpoint == "tiny"
    assert not pool.is_busy


def test_a_part_that_fails_costs_its_own_rows_only(pool: EnginePool, clip: AudioClip) -> None:
    """A recording too long for the checkpoint is said in the report; the other one is measured."""
    endless = AudioClip("endless.wav", np.zeros(1_200 * SAMPLE_RATE_HZ, np.float32))
    report, _ = _measured(Order((Plan.MEMORY,), TINY, (clip, endless), quick=True), pool)
    assert {case.work.clip for case in report.cases} == {"start.flac"}
    assert {failure.what for failure in report.failures} == {
        "fp32 reference, endless.wav",
        "fp32 fast, endless.wav",
    }
    assert all("20.0 minutes" in failure.message for failure in report.failures)
    assert report.seconds is not None


def test_precisions_are_judged_and_only_those_with_a_speed_of_their_own_are_compared(
    pool: EnginePool, clip: AudioClip
) -> None:
    """Each transcript is judged by that of fp32; what is computed in bf16 claims no speed."""
    precisions = (Precision.FP32, Precision.INT8, Precision.Q8_0)
    order = Order((Plan.PRECISION,), TINY, (clip,), quick=True, precisions=precisions)
    report, _ = _measured(order, pool)
    fp32, int8, q8_0 = report.cases
    assert fp32.labels["parity"] == "reference"
    assert all(case.labels["parity"].startswith(("pass", "fail")) for case in (int8, q8_0))
    assert int8.baseline == fp32.name
    assert q8_0.baseline is None
    (table,) = tables(report)
    assert [row[-1] for row in table.rows][2] == "as bf16"


def test_closing_stops_and_frees_the_device(pool: EnginePool, clip: AudioClip) -> None:
    """What was measured before the stop is there, and the next order runs."""
    order = Order((Plan.BATCH, Plan.PRECISION), TINY, (clip,), quick=True)
    report = Report(order.plans)
    with closing(run_benchmark(order, pool, judge)) as events:
        for event in events:
            report = advance(report, event)
            if isinstance(event, Case):
                break
    assert len(report.cases) == 1
    assert report.seconds is None
    again, _ = _measured(Order((Plan.MEMORY,), TINY, (clip,), quick=True), pool)
    assert len(again.cases) == 2


def test_encoder_modes_are_compared_with_eager(pool: EnginePool) -> None:
    """Every mode gets the calls it was promised, in the same process over the same input."""
    ticks: list[float] = []
    with pool.borrow(TINY, lambda _: None, lambda: False) as engine:
        modes = (EncoderCompile.OFF, EncoderCompile.DEFAULT)
        eager, compiled = measure_encoder(
            engine, modes, 1, warm_ups=1, iterations=2, tick=ticks.append
        )
    assert (eager.baseline, compiled.baseline) == (None, eager.name)
    assert eager.work == compiled.work
    assert len(eager.raw[Quantity.CALL_MS]) == len(compiled.raw[Quantity.CALL_MS]) == 2
    assert compiled.figures["drift_relative"] < 1e-4
    assert ticks == sorted(ticks)


def test_operations_of_the_published_encoder_are_those_of_arithmetic() -> None:
    """Convolutions 10.9, matrices 906 and attention 221 GFLOP for one window of 30 s."""
    config = MossTranscribeDiarizeConfig().audio_config
    assert operations(config, 1) == pytest.approx(1.1381, rel=1e-3)
    assert operations(config, 8) == 8 * operations(config, 1)


def _run(tokens: tuple[int, ...], stop: StopReason) -> Run:
    finished = Finished(1.0, "", tokens, stop)
    return Run("a.wav", "0", 4.0, token_ids=tokens, first_token_at=0.1, last_token_at=0.9,
               finished=finished)  # fmt: skip


def test_runs_that_prove_nothing_are_not_timed() -> None:
    """Cut off or not repeatable: the reason is said; forced lengths may end anywhere."""
    with pytest.raises(RequestError, match="cut off"):
        Samples(forced=False).add(_run((1, 2), StopReason.LENGTH))
    samples = Samples(forced=False)
    samples.add(_run((1, 2), StopReason.END_OF_TEXT))
    with pytest.raises(RequestError, match="different transcripts"):
        samples.add(_run((1, 3), StopReason.END_OF_TEXT))
    forced = Samples(forced=True)
    forced.add(_run((1, 2), StopReason.LENGTH))
    forced.add(_run((1, 3), StopReason.LENGTH))
    assert forced.series()[Quantity.REQUEST_S] == (1.0, 1.0)
    assert "different" in forced.labels()["repeats"]


def test_recordings_suit_checkpoint_and_device(clip: AudioClip) -> None:
    """The shortest comes first; random weights get noise, on a CPU only a little of it."""
    longer = AudioClip("longer", np.zeros(8 * SAMPLE_RATE_HZ, np.float32))
    assert choose_recordings(TINY, [longer, clip], quick=False) == (clip, longer)
    assert choose_recordings(TINY, [longer, clip], quick=True) == (clip,)
    with pytest.raises(RequestError, match=r"Two recordings are named start\.flac"):
        choose_recordings(TINY, [clip, longer, clip], quick=False)
    gpu = EngineConfig("synthetic-0.9b", "cuda:0", Precision.BF16)
    assert [type(r) for r in choose_recordings(gpu, [], quick=False)] == [Workload, Workload]
    cpu = EngineConfig("synthetic-0.9b", "cpu", Precision.FP32)
    (only,) = choose_recordings(cpu, [], quick=False)
    assert isinstance(only, Workload)
    assert only.tokens < 20
