"""What a shell user reads about a finished evaluation. Pure: a report in, lines out."""

from collections.abc import Iterator, Sequence

from moss_demo.batch.report import ClipNote, Report
from moss_demo.batch.summary import Rate, Summary
from moss_demo.domain.figures import NOT_AVAILABLE, clock

SHOWN_RATES = {"wer": "WER", "cer": "CER", "cpwer": "cpWER", "delta_cp_wer": "Δcp", "der": "DER"}
MAX_SCOPES = 12


def report_lines(report: Report) -> Iterator[str]:
    """Yield the summary, what failed, what went worst and what more takes buy."""
    whole = report.summaries[0]
    yield (
        f"{whole.clips} recording{'' if whole.clips == 1 else 's'}, {whole.failed} failed, "
        f"{whole.measured} measured, {clock(whole.audio_s)} of sound"
    )
    if whole.measured:
        yield f"words compared by: {'; '.join(report.rules)}"
        yield ""
        measured = [summary for summary in report.summaries if summary.measured]
        yield from _rates_table(measured[:MAX_SCOPES])
        yield _others(whole)
        yield ""
        yield "worst:"
        yield from (f"  {100 * (c.wer or 0):6.1f} %  {c.audio}" for c in report.worst)
    if report.failures:
        yield ""
        yield "failed:"
        yield from (f"  line {c.line}: {_failure(c)}" for c in report.failures)
    yield from _takes(report)


def _failure(clip: ClipNote) -> str:
    """Name the recording, unless the reason does or there is none."""
    return clip.reason if clip.audio in clip.reason else f"{clip.audio}: {clip.reason}"


def _rates_table(summaries: Sequence[Summary]) -> Iterator[str]:
    names = [s.scope if s.scope == "all" else f"{s.scope} {s.name or '–'}" for s in summaries]
    width = max(map(len, names))
    heads = "".join(f"{label + ' % (95 %)':>22}" for label in SHOWN_RATES.values())
    yield f"{'':<{width}}{'clips':>7}{heads}"
    for name, one in zip(names, summaries, strict=True):
        cells = "".join(f"{_rate(one.rates[key]):>22}" for key in SHOWN_RATES)
        yield f"{name:<{width}}{one.measured:>7}{cells}"


def _others(whole: Summary) -> str:
    right = whole.speaker_count_right
    speakers = NOT_AVAILABLE if right is None else f"{right:.0%} of clips"
    return (
        f"right number of speakers {speakers} · stamps median {_ms(whole.stamp_median_ms)}, "
        f"p95 {_ms(whole.stamp_p95_ms)} · {whole.truncated} truncated · {whole.loops} with loops"
    )


def _takes(report: Report) -> Iterator[str]:
    if not report.best_of:
        return
    seconds = report.times.seconds_a_clip
    yield ""
    yield f"{'best of':>8}{'groups':>8}{'WER %':>8}{'seconds':>9}"
    for one in report.best_of:
        cost = NOT_AVAILABLE if seconds is None else f"{seconds * one.takes:.2f}"
        yield f"{one.takes:>8}{one.groups:>8}{100 * one.wer:>8.2f}{cost:>9}"
    shares = ", ".join(f"{allowed}: {share:.0%}" for allowed, share in report.truncated)
    yield f"takes cut off by a budget of tokens a word: {shares}"


def _rate(rate: Rate | None) -> str:
    if rate is None:
        return NOT_AVAILABLE
    if rate.interval is None:
        return f"{100 * rate.value:.2f}"
    low, high = rate.interval
    return f"{100 * rate.value:.2f} ({100 * low:.2f}–{100 * high:.2f})"


def _ms(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.0f} ms"
