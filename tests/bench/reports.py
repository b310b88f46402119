"""Reports that no machine made: small, with every kind of case in them."""

from moss_demo.bench.report import (
    Case,
    Environment,
    Failure,
    GpuState,
    Plan,
    Quantity,
    Report,
    Variant,
    Work,
)

CLIP = Work("talk.wav", "0123456789abcdef", 28.0, 1, prompt_tokens=445, prompt_digest="feed")


def request_case(name: str, decode: str, times_s: tuple[float, ...], baseline: str | None) -> Case:
    """Return a case of requests that took `times_s`, a tenth of them in the encoder."""
    return Case(
        name=name,
        plan=Plan.E2E,
        work=CLIP,
        variant=Variant("bf16", decode, attention="sdpa"),
        raw={
            Quantity.REQUEST_S: times_s,
            Quantity.FIRST_TOKEN_S: tuple(0.2 * t for t in times_s),
            Quantity.FEATURES_S: tuple(0.0 * t for t in times_s),
            Quantity.ENCODER_S: tuple(0.1 * t for t in times_s),
            Quantity.PREFILL_S: tuple(0.1 * t for t in times_s),
            Quantity.DECODE_S: tuple(0.8 * t for t in times_s),
            Quantity.TOKEN_MS: tuple(4.0 * t for t in times_s),
            Quantity.TOKENS: tuple(190.0 for _ in times_s),
        },
        baseline=baseline,
        figures={"cold_s": 3.0, "load_s": 2.0, "compile_s": 0.0, "asked": len(times_s)},
        labels={} if baseline is None else {"tokens": "same tokens"},
    )


def batch_case(size: int, clip_s: float) -> Case:
    """Return a batch of `size` clips that took `clip_s` each."""
    return Case(
        name=f"batch/{size}",
        plan=Plan.BATCH,
        work=Work("talk.wav", "0123456789abcdef", 28.0 * size, size, size),
        variant=Variant("bf16", "fast"),
        raw={
            Quantity.CLIP_S: (clip_s, clip_s),
            Quantity.ALLOCATED_BYTES: (size * 2.0**30, size * 2.0**30),
        },
        baseline=None if size == 1 else "batch/1",
    )


def encoder_case(mode: str, times_ms: tuple[float, ...]) -> Case:
    """Return encoder calls of one mode."""
    eager = mode == "off"
    return Case(
        name=f"encoder/1/{mode}",
        plan=Plan.ENCODER,
        work=Work("noise", "00ff", 30.0, 1),
        variant=Variant("bf16", encoder=mode),
        raw={Quantity.CALL_MS: times_ms},
        baseline=None if eager else "encoder/1/off",
        figures={"first_call_s": 0.5, "operations_tflop": 1.0}
        | ({} if eager else {"drift_relative": 1e-5, "drift_largest": 0.01}),
    )


def full_report() -> Report:
    """Return a complete report of a GPU."""
    return Report(
        plans=tuple(Plan),
        environment=Environment(
            started_at="2026-11-30T12:00:00+00:00",
            device="cuda:0",
            hardware="NVIDIA H200",
            memory_bytes=141 * 2**30,
            driver="580.1",
            cuda="13.0",
            torch="2.11.0",
            transformers="5.24.0",
            python="3.12.3",
            threads=16,
            checkpoint="synthetic-0.9b",
            revision="local",
            parameters=908_513_280,
            precision="bf16",
            code="abcdef",
            effort="encoder calls 50 after 5",
            before=GpuState(1_980, 2_619, 41, 120.5, 700.0, 1),
        ),
        cases=(
            encoder_case("off", (10.0, 11.0, 10.5, 10.2, 10.1) * 2),
            encoder_case("default", (5.0, 5.5, 5.2, 5.1, 5.0) * 2),
            request_case("e2e/a", "reference", (2.0, 2.1, 1.9, 2.0, 2.05), None),
            request_case("e2e/b", "fast", (0.5, 0.51, 0.52, 0.5, 0.49), "e2e/a"),
            Case(
                "precision/fp32",
                Plan.PRECISION,
                CLIP,
                Variant("fp32", "fast"),
                {Quantity.REQUEST_S: (1.0, 1.02)},
                labels={"parity": "reference"},
            ),
            batch_case(1, 0.998),
            batch_case(2, 0.868),
            batch_case(4, 0.83),
            Case(
                "memory/fast",
                Plan.MEMORY,
                CLIP,
                Variant("bf16", "fast"),
                {
                    Quantity.SAMPLED_AT_S: (0.0, 0.05, 0.1),
                    Quantity.SAMPLED_BYTES: (2.0 * 2**30, 3.0 * 2**30, 2.5 * 2**30),
                    Quantity.ALLOCATED_BYTES: (1.5 * 2**30,),
                    Quantity.RESERVED_BYTES: (1.75 * 2**30,),
                },
                figures={"weights_bytes": 1.817e9, "kv_bytes": 7.3e7},
                labels={"memory_source": "process (NVML)"},
            ),
        ),
        failures=(Failure(Plan.BATCH, "batch 128", "cuda:0 ran out of memory | <b>free it</b>"),),
        peak_tflops={"bf16": 765.0},
        after=GpuState(1_980, 2_619, 55, 480.0, 700.0, 1),
        seconds=300.0,
    )
