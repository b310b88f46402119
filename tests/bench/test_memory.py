"""Memory of a process: the ladder of sources, and a real process seen from outside."""

import json
from dataclasses import replace

import numpy as np
import pytest

from moss_demo.bench.judging import judge
from moss_demo.bench.memory_plan import memory_parts
from moss_demo.bench.memory_trial import Source, read_timeline, watch_memory
from moss_demo.bench.order import SYNTHETIC_RECORDINGS, Order
from moss_demo.bench.precisions import PrecisionSweep
from moss_demo.bench.report import Plan
from moss_demo.engine.checkpoints import SYNTHETIC
from moss_demo.engine.config import DecodePath, EngineConfig, Precision

READINGS = {
    Source.PROCESS: [[1.0, 500, None, 900], [1.05, 700, None, 950]],
    Source.ONLY_PROCESS: [[1.0, None, 600, 900], [1.05, None, 700, 950]],
    Source.DEVICE: [[1.0, None, 600, 900], [1.05, None, None, 950]],
    Source.NONE: [[1.0, None, None, None]],
}


@pytest.mark.parametrize("source", READINGS)
def test_the_best_source_that_every_sample_has_is_named(source: Source) -> None:
    """A figure never mixes sources, and what nobody knows is n/a, never 0."""
    lines = [json.dumps(reading) for reading in READINGS[source]]
    found = read_timeline(lines, 1.0, on_gpu=True)
    assert found.source is source
    if source is Source.NONE:
        assert found.used_bytes == ()
    else:
        assert found.at_s == (0.0, 0.05)
        assert len(found.used_bytes) == 2


def test_a_process_is_seen_growing_from_outside() -> None:
    """Memory taken during the work shows in the samples of the second process."""
    taken = []
    found = watch_memory(lambda: taken.append(np.ones(40_000_000)), None)
    assert found.source is Source.RESIDENT
    assert found.used_bytes[-1] - found.used_bytes[0] > 200e6


def test_a_failure_of_the_work_ends_the_second_process() -> None:
    """What the work raises comes through."""

    def work() -> None:
        raise ValueError("broken")

    with pytest.raises(ValueError, match="broken"):
        watch_memory(work, None)


def test_each_precision_that_holds_memory_of_its_own_is_tried_on_a_gpu() -> None:
    """Formats that only reproduce numerics hold what bf16 holds."""
    config = EngineConfig(SYNTHETIC, "cuda:0", Precision.BF16)
    order = Order((Plan.MEMORY,), config, SYNTHETIC_RECORDINGS[:1])
    tried = [part.label.partition(",")[0] for part in memory_parts(order)]
    assert tried == ["bf16 reference", "bf16 fast", "fp32 fast", "fp16 fast", "int8 fast"]
    on_cpu = replace(order, config=replace(config, device="cpu"))
    assert len(memory_parts(on_cpu)) == len(DecodePath)


def test_formats_that_only_reproduce_numerics_are_timed_once() -> None:
    """All others are visited again in the opposite order."""
    config = EngineConfig(SYNTHETIC, "cuda:0", Precision.BF16)
    order = Order((Plan.PRECISION,), config, SYNTHETIC_RECORDINGS)
    visits = [part.label for part in PrecisionSweep(order, judge).parts()]
    assert visits[-4:] == [f"{name}, visit 2" for name in ("int8", "fp16", "bf16", "fp32")]
    assert len(visits) == len(Precision) + 4
