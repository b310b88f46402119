"""End to end: two ways of running the same requests, in turns, from samples to the last token."""

from dataclasses import dataclass, field, replace
from functools import partial

from moss_demo.bench.order import Order, Recording
from moss_demo.bench.report import Case, Plan
from moss_demo.bench.samples import Samples, same_tokens
from moss_demo.bench.workbench import (
    Part,
    Workbench,
    make_request,
    recording_name,
    variant_of,
    work_of,
)
from moss_demo.bench.workload import Workload
from moss_demo.domain.request import Request
from moss_demo.engine.config import DecodePath, EncoderCompile, EngineConfig
from moss_demo.engine.engine import Engine

COMPILED = EncoderCompile.DEFAULT
"""Autotuning takes 95 to 145 s a batch size on an H200 and gains at most 6 % of an encoder call
over this mode, so little of a request that the encoder plan alone can show it."""


@dataclass(slots=True)
class _Side:
    """One of the two engines, with what was measured of it."""

    engine: Engine
    samples: Samples
    figures: dict[str, float] = field(default_factory=dict)
    asked: int = 0


def duel_parts(order: Order) -> list[Part]:
    """Return two duels a recording: the decode paths, and the encoder eager against compiled."""
    fast = replace(order.config, decode=DecodePath.FAST)
    slow = replace(order.config, decode=DecodePath.REFERENCE)
    compiled = replace(fast, encoder_compile=COMPILED)
    parts = []
    for number, recording in enumerate(order.recordings):
        tokens = order.effort.reference_tokens if number else None
        name = recording_name(recording)
        parts += [
            Part(
                Plan.E2E,
                f"decode paths, {name}",
                60.0,
                partial(_duel, recording=recording, rivals=(slow, fast), tokens=tokens),
            ),
            Part(
                Plan.E2E,
                f"compiled encoder, {name}",
                60.0,
                partial(_duel, recording=recording, rivals=(fast, compiled), tokens=None),
            ),
        ]
    return parts


def _duel(
    bench: Workbench,
    recording: Recording,
    rivals: tuple[EngineConfig, EngineConfig],
    tokens: int | None,
) -> None:
    """Run both sides cold, warm, and then in turns: A B, B A, A B and so on."""
    with bench.engine(rivals[0]) as first:
        request = make_request(first, recording, tokens)
        forced = tokens is not None or isinstance(recording, Workload)
        engines = (first, first.sibling(rivals[1]))
        sides = [_Side(engine, Samples(forced)) for engine in engines]
        for side in sides:
            _warm_up(bench, side, request)
        warm_s = max(side.figures["warm_up_s"] for side in sides)
        rounds = bench.effort.rounds(warm_s)
        for turn in range(rounds):
            bench.tick((turn + 1) / (rounds + 1))
            for side in sides if turn % 2 == 0 else reversed(sides):
                side.asked += 1
                side.samples.add(bench.transcribe(side.engine, [request])[0])
            for case in _cases(sides, request, forced=forced):
                bench.emit(case)


def _warm_up(bench: Workbench, side: _Side, request: Request) -> None:
    """Compile what is to be compiled, then run once cold and once to settle."""
    for _ in side.engine.compile_for([request.clip]):
        bench.tick(0.0)
    side.figures |= {"load_s": side.engine.info.load_s, "compile_s": side.engine.info.compile_s}
    for name in ("cold_s", "warm_up_s"):
        run = bench.transcribe(side.engine, [request])[0]
        side.samples.check(run)
        side.figures[name] = run.finished.at if run.finished else 0.0


def _cases(sides: list[_Side], request: Request, *, forced: bool) -> list[Case]:
    first = sides[0]
    work = work_of(first.engine, request, forced=forced)
    duel = "decode" if first.engine.config.decode is DecodePath.REFERENCE else "encoder"
    tokens = "" if work.tokens is None else f"/{work.tokens}"
    names = [
        f"e2e/{work.clip}/{work.audio_s:g}{tokens}/{duel}/{'ab'[number]}" for number in range(2)
    ]
    return [
        Case(
            name=name,
            plan=Plan.E2E,
            work=work,
            variant=variant_of(side.engine),
            raw=side.samples.series(),
            baseline=None if side is first else names[0],
            figures=side.figures | {"asked": side.asked},
            labels=side.samples.labels()
            | (
                {}
                if side is first
                else {"tokens": same_tokens(first.samples.last, side.samples.last)}
            ),
        )
        for name, side in zip(names, sides, strict=True)
    ]
