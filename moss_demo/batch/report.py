"""Everything that is said about a finished run: summaries, worst clips, failures, takes, times.

Pure: columns of the two tables in, one value out, and that value as JSON.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from moss_demo.batch import summary, takes
from moss_demo.batch.rows import Status
from moss_demo.batch.summary import Summary, summarize, summary_cells
from moss_demo.batch.takes import BestOf, Take, best_of, rank_takes, truncated_shares

SCHEMA = 1
SHOWN = 10
"""Clips of a list; the tables have all."""

CLIP_COLUMNS = tuple(dict.fromkeys((*summary.COLUMNS, *takes.COLUMNS, "reason", "rules")))
TIMING_COLUMNS = ("seconds", "rtf", "batch_rows", "batch_s", "engine")


@dataclass(frozen=True, slots=True)
class ClipNote:
    """A clip that is worth a look.

    Attributes:
        line: line of the manifest.
        audio: recording as the manifest names it.
        wer: word error rate, None for a failed clip.
        reason: why it failed, empty for one that did not.
    """

    line: int
    audio: str
    wer: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Times:
    """How long transcribing took.

    Attributes:
        clips: that were transcribed.
        audio_s: their length.
        seconds: on the device, shares of batches added up.
        seconds_a_clip: mean share.
        rtf: seconds by seconds of sound.
        batch_rows: median of recordings transcribed together.
        engines: what transcribed.
    """

    clips: int
    audio_s: float
    seconds: float
    seconds_a_clip: float | None
    rtf: float | None
    batch_rows: float | None
    engines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """A finished run.

    Attributes:
        rules: what counted as the same word.
        summaries: of all clips, then by language and group.
        worst: clips with the highest word error rate, the worst first.
        failures: clips without a transcript, the first ones of the manifest.
        takes: every group of takes, ranked.
        best_of: what more takes buy.
        truncated: tokens allowed for a word, and the share of takes that this would cut off.
        times: how long it took.
    """

    rules: tuple[str, ...]
    summaries: Sequence[Summary]
    worst: Sequence[ClipNote]
    failures: Sequence[ClipNote]
    takes: Sequence[Take]
    best_of: Sequence[BestOf]
    truncated: Sequence[tuple[int, float]]
    times: Times


def make_report(clips: Mapping[str, Sequence[Any]], timings: Mapping[str, Sequence[Any]]) -> Report:
    """Sum up a run.

    Args:
        clips: `CLIP_COLUMNS` of the clips' table.
        timings: `TIMING_COLUMNS` of the timings' table.
    """
    summaries = summarize(clips)
    ranking = rank_takes(clips)
    places = range(len(clips["line"]))
    measured = [place for place in places if clips["wer"][place] is not None]
    failed = [place for place in places if clips["status"][place] == Status.FAILED]
    worst = sorted(measured, key=lambda place: (-clips["wer"][place], clips["line"][place]))
    return Report(
        rules=tuple(dict.fromkeys(rules for rules in clips["rules"] if rules)),
        summaries=summaries,
        worst=[_note(clips, place) for place in worst[:SHOWN]],
        failures=[_note(clips, place) for place in failed[:SHOWN]],
        takes=ranking,
        best_of=best_of(ranking),
        truncated=truncated_shares(ranking),
        times=_times(timings),
    )


def report_dict(report: Report) -> dict[str, Any]:
    """Return a report as JSON values; None stands for "n/a"."""
    return {
        "schema": SCHEMA,
        "normalization": list(report.rules),
        "summary": [summary_cells(one) for one in report.summaries],
        "worst": [asdict(one) for one in report.worst],
        "failures": [asdict(one) for one in report.failures],
        "takes": [asdict(one) for one in report.takes],
        "best_of": [
            {**asdict(one), "seconds": _by(report.times.seconds_a_clip, one.takes)}
            for one in report.best_of
        ],
        "truncated_by_tokens_a_word": [
            {"tokens_a_word": allowed, "truncated_share": share}
            for allowed, share in report.truncated
        ],
        "times": asdict(report.times),
    }


def _note(clips: Mapping[str, Sequence[Any]], place: int) -> ClipNote:
    failed = clips["status"][place] == Status.FAILED
    return ClipNote(
        clips["line"][place],
        clips["audio"][place],
        clips["wer"][place],
        clips["reason"][place] if failed else "",
    )


def _times(timings: Mapping[str, Sequence[Any]]) -> Times:
    clips, seconds = len(timings["seconds"]), sum(timings["seconds"])
    audio_s = sum(s / r for s, r in zip(timings["seconds"], timings["rtf"], strict=True) if r)
    return Times(
        clips=clips,
        audio_s=audio_s,
        seconds=seconds,
        seconds_a_clip=seconds / clips if clips else None,
        rtf=seconds / audio_s if audio_s else None,
        batch_rows=float(median(timings["batch_rows"])) if clips else None,
        engines=tuple(dict.fromkeys(timings["engine"])),
    )


def _by(seconds: float | None, count: int) -> float | None:
    return None if seconds is None else seconds * count
