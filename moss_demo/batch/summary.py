"""Figures of a corpus, as a whole and by language and group, from the columns of the clips' table.

Rates are ratios of sums over the clips that have what a rate needs, never means of rates; clips
without a transcript are counted beside them. Pure: columns in, rows out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from moss_demo.batch.rows import Status
from moss_demo.domain.diagnostics import DiagnosticKind
from moss_demo.domain.events import StopReason
from moss_demo.scoring.bootstrap import Interval, rate_intervals
from moss_demo.scoring.stamp_errors import MIN_STAMPS_FOR_P95

Numbers = NDArray[np.float64]

RATES: Mapping[str, tuple[Mapping[str, int], str]] = {
    "wer": ({"substitutions": 1, "deletions": 1, "insertions": 1}, "words"),
    "cer": ({"character_errors": 1}, "characters"),
    "cpwer": ({"cp_word_errors": 1}, "words"),
    "cpcer": ({"cp_character_errors": 1}, "characters"),
    "delta_cp_wer": (
        {"cp_word_errors": 1, "substitutions": -1, "deletions": -1, "insertions": -1},
        "words",
    ),
    "delta_cp_cer": ({"cp_character_errors": 1, "character_errors": -1}, "characters"),
    "der": ({"missed_ms": 1, "false_alarm_ms": 1, "confusion_ms": 1}, "speech_ms"),
    "der_250ms": ({"collar_wrong_ms": 1}, "collar_speech_ms"),
    "jer": ({"jaccard_sum": 1}, "jaccard_speakers"),
}
"""Each rate by the columns that add up to its errors, with their signs, and that of its length."""

NUMBER_COLUMNS = (
    "duration_s",
    "speaker_count_error",
    *dict.fromkeys(
        column for errors, length in RATES.values() for column in (*errors, length)
    ),
)  # fmt: skip
COLUMNS = (
    "status", "language", "group", "stop", "warnings", "stamp_errors_ms", *NUMBER_COLUMNS
)  # fmt: skip
"""What of the clips' table is needed."""

DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Rate:
    """A corpus rate with its bootstrap interval over clips."""

    value: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of some clips.

    Attributes:
        scope: `all`, `language` or `group`.
        name: of the language or group.
        clips: rows of the manifest.
        done: of these, with a transcript.
        measured: of these, with a reference that has words.
        audio_s: sound that was transcribed.
        truncated: transcripts cut by their token budget.
        loops: transcripts that repeat themselves.
        rates: by name, see `RATES`; None where no clip has what it needs.
        speaker_count_error: mean distance of the number of speakers from the true one.
        speaker_count_right: share of clips with the right number of speakers.
        stamp_median_ms: of all stamps that could be compared.
        stamp_p95_ms: likewise, from 20 stamps on.
        stamps: how many these were.
    """

    scope: str
    name: str
    clips: int
    done: int
    measured: int
    audio_s: float
    truncated: int
    loops: int
    rates: Mapping[str, Rate | None]
    speaker_count_error: float | None
    speaker_count_right: float | None
    stamp_median_ms: float | None
    stamp_p95_ms: float | None
    stamps: int

    @property
    def failed(self) -> int:
        """Rows without a transcript."""
        return self.clips - self.done


def summarize(columns: Mapping[str, Sequence[Any]]) -> list[Summary]:
    """Return figures of all clips, then of each language and each group if there are several.

    Args:
        columns: `COLUMNS` of the clips' table; None where a figure makes no sense.
    """
    numbers = {name: np.array(columns[name], dtype=np.float64) for name in NUMBER_COLUMNS}
    everything = np.arange(len(columns["status"]))
    summaries = [_summary("all", "", everything, columns, numbers)]
    for scope in ("language", "group"):
        names = np.array(columns[scope], dtype=object)
        if len(set(names)) > 1:
            summaries += [
                _summary(scope, name, np.flatnonzero(names == name), columns, numbers)
                for name in sorted(set(names))
            ]
    return summaries


def summary_cells(summary: Summary) -> dict[str, object]:
    """Return a summary as one flat row by column, figures rounded; None stands for "n/a"."""
    cells: dict[str, object] = {
        "scope": summary.scope,
        "name": summary.name,
        "clips": summary.clips,
        "done": summary.done,
        "failed": summary.failed,
        "measured": summary.measured,
        "audio_s": _rounded(summary.audio_s),
        "truncated": summary.truncated,
        "loops": summary.loops,
    }
    for name, rate in summary.rates.items():
        low, high = (None, None) if rate is None or rate.interval is None else rate.interval
        cells[name] = None if rate is None else _rounded(rate.value)
        cells[f"{name}_low"], cells[f"{name}_high"] = _rounded(low), _rounded(high)
    return cells | {
        "speaker_count_error": _rounded(summary.speaker_count_error),
        "speaker_count_right": _rounded(summary.speaker_count_right),
        "stamp_median_ms": summary.stamp_median_ms,
        "stamp_p95_ms": summary.stamp_p95_ms,
        "stamps": summary.stamps,
    }


def _summary(
    scope: str,
    name: str,
    chosen: NDArray[np.intp],
    columns: Mapping[str, Sequence[Any]],
    numbers: Mapping[str, Numbers],
) -> Summary:
    own = {column: values[chosen] for column, values in numbers.items()}
    off = own["speaker_count_error"][~np.isnan(own["speaker_count_error"])]
    stamps = sorted(ms for index in chosen for ms in columns["stamp_errors_ms"][index] or ())
    return Summary(
        scope=scope,
        name=name,
        clips=len(chosen),
        done=sum(columns["status"][index] == Status.DONE for index in chosen),
        measured=int(np.count_nonzero(~np.isnan(own["words"]))),
        audio_s=float(np.nansum(own["duration_s"])),
        truncated=sum(columns["stop"][index] == StopReason.LENGTH for index in chosen),
        loops=sum(DiagnosticKind.LOOP in columns["warnings"][index].split() for index in chosen),
        rates=_rates(own),
        speaker_count_error=float(np.abs(off).mean()) if off.size else None,
        speaker_count_right=float((off == 0).mean()) if off.size else None,
        stamp_median_ms=float(np.median(stamps)) if stamps else None,
        stamp_p95_ms=_p95(stamps),
        stamps=len(stamps),
    )


def _rates(own: Mapping[str, Numbers]) -> dict[str, Rate | None]:
    pairs = [_counts(own, errors, length) for errors, length in RATES.values()]
    wrong = np.stack([errors for errors, _ in pairs], axis=1)
    total = np.stack([lengths for _, lengths in pairs], axis=1)
    intervals = rate_intervals(wrong, total)
    rates: dict[str, Rate | None] = {}
    for name, errors, length, interval in zip(
        RATES, wrong.sum(axis=0), total.sum(axis=0), intervals, strict=True
    ):
        rates[name] = Rate(float(errors / length), interval) if length else None
    return rates


def _counts(
    own: Mapping[str, Numbers], errors: Mapping[str, int], length: str
) -> tuple[Numbers, Numbers]:
    """Return errors and lengths of each clip, both 0 where a clip lacks one of them."""
    wrong = sum((sign * own[column] for column, sign in errors.items()), np.zeros_like(own[length]))
    counts = ~np.isnan(wrong + own[length])
    return np.where(counts, wrong, 0.0), np.where(counts, own[length], 0.0)


def _p95(ordered: Sequence[int]) -> float | None:
    """Return the 95th percentile by nearest rank."""
    if len(ordered) < MIN_STAMPS_FOR_P95:
        return None
    return float(ordered[ceil(0.95 * len(ordered)) - 1])


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)
