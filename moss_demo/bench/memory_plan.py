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
from moss_demo.engine.config import DecodePath


def memory_parts(order: Order) -> list[Part]:
    """Return one trial for each decode path and recording."""
    return [
        Part(
            Plan.MEMORY,
            f"{decode}, {recording_name(recording)}",
            15.0,
            partial(
                _trial,
                recording=recording,
                decode=decode,
                tokens=order.effort.reference_tokens if number else None,
            ),
        )
        for number, recording in enumerate(order.recordings)
        for decode in DecodePath
    ]


def _trial(bench: Workbench, recording: Recording, decode: DecodePath, tokens: int | None) -> None:
    limit = tokens if decode is DecodePath.REFERENCE else None
    with bench.engine(replace(bench.order.config, decode=decode)) as engine:
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
                name=f"memory/{work.clip}/{work.audio_s:g}/{decode}",
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
