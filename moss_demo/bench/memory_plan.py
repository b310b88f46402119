"""Memory while a recording is transcribed, in trials of their own that no time is taken of."""

from dataclasses import replace
from functools import partial

import torch

from moss_demo.bench.memory_trial import Timeline, watch_memory
from moss_demo.bench.order import Order, Recording
from moss_demo.bench.report import Case, Plan, Quantity, Series
from moss_demo.bench.workbench import (
    Part,
    Workbench,
    make_request,
    recording_name,
    variant_of,
    work_of,
)
from moss_demo.bench.workload import Workload, decode_bytes
from moss_demo.domain.events import Run
from moss_demo.engine.config import NUMERICS_ONLY, DecodePath, EngineConfig


def memory_parts(order: Order) -> list[Part]:
    """Return one trial for each decode path and recording, then one for each other precision.

    Precisions take turns on a GPU alone, where a freed model leaves the process: main memory that
    was freed may stay with it. Those that only reproduce numerics hold what bf16 holds.
    """
    parts = [
        _part(replace(order.config, decode=decode), recording, _limit(order, decode, number))
        for number, recording in enumerate(order.recordings)
        for decode in DecodePath
    ]
    if order.config.device == "cpu":
        return parts
    others = [p for p in order.precisions if p not in {order.config.precision, *NUMERICS_ONLY}]
    fast = replace(order.config, decode=DecodePath.FAST)
    return parts + [_part(replace(fast, precision=p), order.recordings[0], None) for p in others]


def _limit(order: Order, decode: DecodePath, number: int) -> int | None:
    """Return how many tokens of the recording of that number are decoded, None for all."""
    is_long = decode is DecodePath.REFERENCE and number > 0
    return order.effort.reference_tokens if is_long else None


def _part(config: EngineConfig, recording: Recording, limit: int | None) -> Part:
    name = f"{config.precision} {config.decode}, {recording_name(recording)}"
    trial = partial(_trial, config=config, recording=recording, limit=limit)
    return Part(Plan.MEMORY, name, 15.0, trial)


def _trial(bench: Workbench, config: EngineConfig, recording: Recording, limit: int | None) -> None:
    with bench.engine(config) as engine:
        request = make_request(engine, recording, limit)
        runs: list[Run] = []
        timeline = watch_memory(
            lambda: runs.extend(bench.transcribe(engine, [request])), bench.uuid
        )
        forced = isinstance(recording, Workload) or limit is not None
        work = work_of(engine, request, forced=forced)
        positions = work.prompt_tokens + len(runs[0].token_ids)
        bench.emit(
            Case(
                name=f"memory/{work.clip}/{work.audio_s:g}/{config.precision}/{config.decode}",
                plan=Plan.MEMORY,
                work=work,
                variant=variant_of(engine),
                raw=_raw(timeline, engine.config.device),
                figures={
                    "weights_bytes": engine.info.weight_bytes,
                    "kv_bytes": decode_bytes(engine.loaded, positions),
                },
                labels={"memory_source": timeline.source},
            )
        )


def _raw(timeline: Timeline, device: str) -> dict[Quantity, Series]:
    raw: dict[Quantity, Series] = {
        Quantity.SAMPLED_AT_S: timeline.at_s,
        Quantity.SAMPLED_BYTES: timeline.used_bytes,
    }
    if device != "cpu":
        raw[Quantity.ALLOCATED_BYTES] = (float(torch.cuda.max_memory_allocated(device)),)
        raw[Quantity.RESERVED_BYTES] = (float(torch.cuda.max_memory_reserved(device)),)
    return raw
