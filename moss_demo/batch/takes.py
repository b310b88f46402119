"""Best of N: which of several takes of the same text is the cleanest, and what more takes buy.

A group of takes is a group of the manifest whose rows share one reference text. Takes rank by word
error rate, then by whether their transcript is whole and without loops. Pure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import comb
from typing import Any

from moss_demo.batch.rows import Status
from moss_demo.domain.diagnostics import DiagnosticKind
from moss_demo.domain.events import StopReason

COLUMNS = (
    "line", "audio", "group", "status", "stop", "warnings", "tokens", "words", "wer",
    "reference_digest",
)  # fmt: skip
"""What of the clips' table is needed."""

COUNTS = (1, 2, 4, 8, 16, 32, 64)
"""Numbers of takes that are compared."""

TOKENS_PER_WORD = (2, 3, 4, 5, 6, 8, 10, 12, 16)
"""Token budgets that are compared, by words of the text."""


@dataclass(frozen=True, slots=True)
class Take:
    """One take within its group.

    Attributes:
        group: of the manifest.
        rank: 1 for the best.
        line: line of the manifest.
        audio: recording as the manifest names it.
        wer: word error rate.
        truncated: its transcript was cut by the token budget.
        loops: its transcript repeats itself.
        tokens: length of the transcript.
        words: of the text that all takes speak.
    """

    group: str
    rank: int
    line: int
    audio: str
    wer: float
    truncated: bool
    loops: bool
    tokens: int
    words: int


@dataclass(frozen=True, slots=True)
class BestOf:
    """What the best of some takes is worth.

    Attributes:
        takes: how many are made.
        groups: groups with at least as many.
        wer: expected word error rate of the best, averaged over these groups.
    """

    takes: int
    groups: int
    wer: float


def rank_takes(columns: Mapping[str, Sequence[Any]]) -> list[Take]:
    """Return the takes of every group with at least two, best first within their group.

    Args:
        columns: `COLUMNS` of the clips' table.
    """
    rows = [
        dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    named = sorted((row for row in rows if row["group"]), key=lambda row: str(row["group"]))
    takes: list[Take] = []
    for group, members in groupby(named, key=lambda row: str(row["group"])):
        usable = [r for r in members if r["status"] == Status.DONE and r["wer"] is not None]
        if len(usable) > 1 and len({row["reference_digest"] for row in usable}) == 1:
            ordered = sorted(usable, key=_merit)
            takes += [_take(group, rank, row) for rank, row in enumerate(ordered, 1)]
    return takes


def best_of(takes: Sequence[Take]) -> list[BestOf]:
    """Return what the best of 1, 2, 4, … takes is expected to be.

    The expectation is over all choices of so many takes of a group, so that no order of the
    manifest plays a part: the take of rank r is the best one in C(m - r, n - 1) of C(m, n) choices.
    """
    groups = [list(members) for _, members in groupby(takes, key=lambda take: take.group)]
    table = []
    for count in COUNTS:
        enough = [members for members in groups if len(members) >= count]
        if enough:
            wers = [_expected_best(members, count) for members in enough]
            table.append(BestOf(count, len(enough), sum(wers) / len(wers)))
    return table


def truncated_shares(takes: Sequence[Take]) -> list[tuple[int, float]]:
    """Return tokens allowed for a word, and the share of takes that such a budget would cut off.

    Greedy text under a smaller budget is the beginning of the text under a larger one, so one run
    tells of all budgets below its own.
    """
    if not takes:
        return []
    return [
        (allowed, sum(t.truncated or t.tokens > allowed * t.words for t in takes) / len(takes))
        for allowed in TOKENS_PER_WORD
    ]


def _take(group: str, rank: int, row: Mapping[str, Any]) -> Take:
    truncated, loops = _doubts(row)
    return Take(
        group, rank, row["line"], row["audio"], row["wer"], truncated, loops,
        row["tokens"] or 0, row["words"],
    )  # fmt: skip


def _merit(row: Mapping[str, Any]) -> tuple[float, bool, bool, int]:
    return (row["wer"], *_doubts(row), row["line"])


def _doubts(row: Mapping[str, Any]) -> tuple[bool, bool]:
    return row["stop"] == StopReason.LENGTH, DiagnosticKind.LOOP in row["warnings"].split()


def _expected_best(members: Sequence[Take], count: int) -> float:
    total = comb(len(members), count)
    return sum(
        take.wer * comb(len(members) - rank, count - 1) / total
        for rank, take in enumerate(members, 1)
    )
