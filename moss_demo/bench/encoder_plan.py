"""The parts of the encoder plan: the device's peak, then every way of running the encoder."""

from functools import partial

from moss_demo.bench.encoder_calls import measure_encoder, measure_peak
from moss_demo.bench.events import PeakMeasured
from moss_demo.bench.isolated_encoder import measure_isolated
from moss_demo.bench.order import Order
from moss_demo.bench.report import Plan
from moss_demo.bench.workbench import Part, Workbench
from moss_demo.engine.config import EncoderCompile

MODES = (EncoderCompile.OFF, EncoderCompile.MAX_AUTOTUNE, EncoderCompile.DEFAULT)
"""What may share a process with a decoder; the remaining mode is measured in its own."""


def encoder_parts(order: Order) -> list[Part]:
    """Return the peak, then one part for each number of windows."""
    counts = order.effort.chunk_counts
    parts = [Part(Plan.ENCODER, "a large matrix product", 1.0, _peak)]
    parts += [
        Part(Plan.ENCODER, f"{_windows(count)} a call", 60.0, partial(_shared, chunks=count))
        for count in counts
    ]
    if order.config.device != "cpu":  # without CUDA the mode is the default one
        label = f"{EncoderCompile.REDUCE_OVERHEAD}, {_windows(counts[0])} a call"
        parts.append(Part(Plan.ENCODER, label, 60.0, partial(_isolated, chunks=counts[0])))
    return parts


def _windows(count: int) -> str:
    return "1 window" if count == 1 else f"{count} windows"


def _peak(bench: Workbench) -> None:
    with bench.engine(bench.order.config) as engine:
        rate = measure_peak(engine.config.device, engine.loaded.model.dtype)
        bench.emit(PeakMeasured(engine.config.precision, rate))


def _shared(bench: Workbench, chunks: int) -> None:
    effort = bench.effort
    with bench.engine(bench.order.config) as engine:
        for case in measure_encoder(
            engine,
            MODES,
            chunks,
            warm_ups=effort.warm_ups,
            iterations=effort.iterations,
            tick=bench.tick,
        ):
            bench.emit(case)


def _isolated(bench: Workbench, chunks: int) -> None:
    config, effort = bench.order.config, bench.effort
    with bench.engine(config):  # holds the device: the child's work counts as ours
        for case in measure_isolated(
            config, chunks, effort.warm_ups, effort.iterations, bench.tick
        ):
            bench.emit(case)
