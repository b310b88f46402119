"""Figures that others published, as rows of reference beside measured ones. Never mixed with them.

Each says what it was taken on; only ratios carry over to other hardware.
"""

from dataclasses import dataclass

from moss_demo.bench.report import Plan
from moss_demo.bench.tables import Table

ENCODER_SOURCE = "SGLang-Omni, encoder compilation, H800 PCIe"
PRECISION_SOURCE = "audio.cpp, RTX 5090, CUDA debug build"
UPSTREAM_SOURCE = "upstream PyTorch bf16, RTX 5090"
BATCH_SOURCE = "batch sweep of another model of the family (4.55 B, generation), A100"
SCORER_SOURCE = "speech recognizer of the same pipeline, A100"


@dataclass(frozen=True, slots=True)
class Published:
    """One published figure.

    Attributes:
        plan: the plan that measures its like here.
        source: who measured, on what.
        what: work and way of computing.
        value: as published, with its unit.
        ratio: against the baseline of the same source, None for a baseline.
    """

    plan: Plan
    source: str
    what: str
    value: str
    ratio: float | None = None


PUBLISHED = (
    Published(
        Plan.ENCODER, ENCODER_SOURCE, "one window, eager", "6.93 ms mean, 6.37 p50, 8.31 p95"
    ),
    Published(
        Plan.ENCODER,
        ENCODER_SOURCE,
        "one window, max-autotune-no-cudagraphs",
        "5.16 ms mean, 5.11 p50, 5.16 p95",
        1.345,
    ),
    Published(Plan.E2E, ENCODER_SOURCE, "27.7 s clip, encoder eager", "0.1864 s mean, 5.35 req/s"),
    Published(
        Plan.E2E,
        ENCODER_SOURCE,
        "27.7 s clip, encoder compiled",
        "0.1920 s mean, 5.20 req/s",
        0.971,
    ),
    Published(Plan.E2E, ENCODER_SOURCE, "110.9 s clip, encoder eager", "0.5845 s mean, 1.71 req/s"),
    Published(
        Plan.E2E,
        ENCODER_SOURCE,
        "110.9 s clip, encoder compiled",
        "0.5509 s mean, 1.81 req/s",
        1.061,
    ),
    Published(Plan.E2E, UPSTREAM_SOURCE, "28.0 s clip", "1.960 s, RTF 0.0700"),
    Published(Plan.E2E, UPSTREAM_SOURCE, "327.6 s clip", "25.466 s, RTF 0.0777"),
    Published(Plan.E2E, PRECISION_SOURCE, "28.0 s clip", "0.604 s, RTF 0.0216"),
    Published(Plan.E2E, PRECISION_SOURCE, "327.6 s clip", "8.561 s, RTF 0.0261"),
    Published(Plan.PRECISION, PRECISION_SOURCE, "28.0 s clip, bf16", "0.626 s, parity pass"),
    Published(Plan.PRECISION, PRECISION_SOURCE, "28.0 s clip, q8_0", "0.588 s, parity pass", 1.065),
    Published(Plan.PRECISION, PRECISION_SOURCE, "28.0 s clip, q4_k", "0.590 s, parity pass", 1.062),
    Published(
        Plan.PRECISION, PRECISION_SOURCE, "28.0 s clip, q4_0", "0.897 s, parity fail: reflow", 0.699
    ),
    Published(Plan.PRECISION, PRECISION_SOURCE, "327.6 s clip, bf16", "8.846 s, parity pass"),
    Published(
        Plan.PRECISION, PRECISION_SOURCE, "327.6 s clip, q8_0", "8.402 s, parity pass", 1.053
    ),
    Published(
        Plan.PRECISION,
        PRECISION_SOURCE,
        "327.6 s clip, q4_k",
        "8.318 s, parity fail: drift 680 ms",
        1.063,
    ),
    Published(
        Plan.PRECISION,
        PRECISION_SOURCE,
        "327.6 s clip, q4_0",
        "8.216 s, parity fail: words, reflow",
        1.077,
    ),
    Published(Plan.BATCH, BATCH_SOURCE, "batch 32", "0.998 s/clip, 20.6 GB"),
    Published(Plan.BATCH, BATCH_SOURCE, "batch 64 (sweet spot)", "0.868 s/clip, 24.2 GB", 1.15),
    Published(Plan.BATCH, BATCH_SOURCE, "batch 128", "0.83 s/clip, 31.5 GB", 1.20),
    Published(Plan.BATCH, SCORER_SOURCE, "fp32, one by one", "1.304 s/clip"),
    Published(Plan.BATCH, SCORER_SOURCE, "bf16, batch 32", "0.0097 s/clip", 134.0),
    Published(Plan.MEMORY, UPSTREAM_SOURCE, "28.0 s clip", "1,830 MiB allocated, 1,908 reserved"),
    Published(Plan.MEMORY, UPSTREAM_SOURCE, "327.6 s clip", "2,516 MiB allocated, 2,786 reserved"),
    Published(Plan.MEMORY, PRECISION_SOURCE, "28.0 s clip", "3,234 MiB process (NVML)"),
    Published(Plan.MEMORY, PRECISION_SOURCE, "327.6 s clip", "3,664 MiB process (NVML)"),
)


def published_table(plans: tuple[Plan, ...]) -> Table:
    """Return the published figures that belong to some plans."""
    rows = tuple(
        (
            row.plan.value,
            row.source,
            row.what,
            row.value,
            "baseline" if row.ratio is None else f"{row.ratio:g}×",
        )
        for row in PUBLISHED
        if row.plan in plans
    )
    return Table(
        "Published by others",
        ("Plan", "Source", "What", "Figure", "Ratio"),
        rows,
        ("Not measured here and on other hardware: compare ratios, not seconds.",),
    )
