"""Pure presenters of an evaluation: what the page says about rows and a report."""

from collections.abc import Sequence

from moss_demo.batch.report import Report
from moss_demo.batch.rows import ClipRow, Status
from moss_demo.batch.summary import Rate, Summary
from moss_demo.batch.takes import Take
from moss_demo.bench.tables import Table
from moss_demo.domain.figures import NOT_AVAILABLE, clock

IDLE = (
    "Upload recordings with references of the same name, a manifest or a zip of them, or take the "
    "built-in set; then press Evaluate."
)
READING = "Reading the upload…"
NO_RATES = "The rates of the whole set stand here."
NOTHING = "There is nothing to evaluate yet; upload recordings or take the built-in set."
HELP = (
    "A manifest is JSON lines or a table with audio, reference, group and language; a reference is "
    "a file or the transcript itself. Takes of one text with the same group are ranked."
)
MAX_TAKES = 200
"""Takes that are listed on the page; the download has all."""

STOPPED_EARLY = "Stopped before a recording was done."
HEADERS = [
    "Line",
    "Recording",
    "WER %",
    "cpWER %",
    "DER %",
    "Speakers",
    "Length",
    "Group",
    "Remark",
]

RATES = {
    "wer": "WER",
    "cer": "CER",
    "cpwer": "cpWER",
    "cpcer": "cpCER",
    "delta_cp_wer": "Δcp (words)",
    "delta_cp_cer": "Δcp (characters)",
    "der": "DER",
    "der_250ms": "DER, ±250 ms",
    "jer": "JER",
}
"""Names of the corpus rates, in reading order."""


def running_line(done: int, clips: int, failed: int) -> str:
    """Say how many recordings are done."""
    return f"Evaluating · {done} of {clips} recordings{_failed(failed)}"


def ended_line(report: Report) -> str:
    """Say what was evaluated."""
    whole = report.summaries[0]
    wer = whole.rates["wer"]
    rate = "" if wer is None else f" · WER {100 * wer.value:.2f} %"
    return f"{whole.clips} recordings, {clock(whole.audio_s)}{rate}{_failed(whole.failed)}"


def stopped_line(report: Report) -> str:
    """Say how far a stopped evaluation came."""
    return f"Stopped · {ended_line(report)}"


def clip_rows(rows: Sequence[ClipRow]) -> list[list[str]]:
    """Return the live table, one row a recording."""
    return [
        [
            str(row.line),
            row.audio,
            _percent(row.wer),
            _percent(row.cpwer),
            _percent(row.der),
            _speakers(row),
            "" if row.duration_s is None else clock(row.duration_s),
            row.group,
            row.reason if row.status is Status.FAILED else row.warnings,
        ]
        for row in rows
    ]


def worst_first(rows: Sequence[ClipRow]) -> list[ClipRow]:
    """Order rows for the reader: failed ones, then by word error rate from the highest down."""
    return sorted(
        rows,
        key=lambda row: (
            row.status is Status.DONE,
            -(-1.0 if row.wer is None else row.wer),
            row.line,
        ),
    )


def summary_tables(report: Report) -> tuple[Table, ...]:
    """Return the corpus figures, by language and group, and what takes are worth."""
    whole = report.summaries[0]
    rows = [
        (label, _rate(whole.rates[name]), _interval(whole.rates[name]))
        for name, label in RATES.items()
    ]
    tables = [
        Table("Corpus", ("Figure", "%", "95 % over recordings"), tuple(rows), _notes(report)),
        Table(
            "Time",
            ("Figure", "Value"),
            (
                ("Seconds a recording", _number(report.times.seconds_a_clip, 3)),
                ("RTF", _number(report.times.rtf, 4)),
                ("Recordings at a time, median", _number(report.times.batch_rows, 0)),
            ),
            tuple(report.times.engines),
        ),
    ]
    if len(report.summaries) > 1:
        tables.insert(1, _scopes(report.summaries[1:]))
    return (*tables, *_takes(report))


def _merit(row: ClipRow) -> tuple[bool, float, int]:
    """Return what is small for a row that deserves a look."""
    return row.status is Status.DONE, 1.0 if row.wer is None else -row.wer, row.line


def _scopes(summaries: Sequence[Summary]) -> Table:
    names = ("wer", "cpwer", "der")
    rows = tuple(
        (
            f"{one.scope} {one.name or '–'}",
            str(one.clips),
            str(one.failed),
            *(_rate(one.rates[name]) for name in names),
        )
        for one in summaries
    )
    heads = ("Part", "Recordings", "Failed", *(f"{RATES[name]} %" for name in names))
    return Table("By language and group", heads, rows, ())


def _takes(report: Report) -> list[Table]:
    if not report.best_of:
        return []
    seconds = report.times.seconds_a_clip
    best = tuple(
        (
            str(one.takes),
            str(one.groups),
            f"{100 * one.wer:.2f}",
            _number(None if seconds is None else seconds * one.takes, 2),
        )
        for one in report.best_of
    )
    cut = tuple((str(allowed), f"{share:.0%}") for allowed, share in _until_none(report.truncated))
    ranked = tuple(
        (take.group, str(take.rank), take.audio, f"{100 * take.wer:.1f}", _doubts(take))
        for take in report.takes[:MAX_TAKES]
    )
    return [
        Table("Best of several takes", ("Takes", "Groups", "Expected WER %", "Seconds"), best, ()),
        Table("Takes, best first", ("Group", "Rank", "Take", "WER %", "Remark"), ranked, ()),
        Table("Takes cut off by a token budget", ("Tokens a word", "Share cut off"), cut, ()),
    ]


def _notes(report: Report) -> tuple[str, ...]:
    whole = report.summaries[0]
    right = whole.speaker_count_right
    speakers = NOT_AVAILABLE if right is None else f"{right:.0%}"
    return (
        f"Words compared by: {'; '.join(report.rules) or NOT_AVAILABLE}",
        f"Right number of speakers: {speakers}",
        f"Stamps: median {_ms(whole.stamp_median_ms)}, 95th percentile {_ms(whole.stamp_p95_ms)}",
        f"Truncated: {whole.truncated}, with loops: {whole.loops}",
    )


def _until_none(shares: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
    """Leave out budgets above the first that cuts off nothing."""
    enough = next((at for at, (_, share) in enumerate(shares) if not share), len(shares))
    return list(shares[: enough + 1])


def _doubts(take: Take) -> str:
    return " ".join(["truncated"] * take.truncated + ["loop"] * take.loops)


def _speakers(row: ClipRow) -> str:
    if row.reference_speakers is None or row.speaker_count_error is None:
        return ""
    return f"{row.reference_speakers + row.speaker_count_error} of {row.reference_speakers}"


def _failed(count: int) -> str:
    return f" · {count} failed" if count else ""


def _percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.1f}"


def _rate(rate: Rate | None) -> str:
    return NOT_AVAILABLE if rate is None else f"{100 * rate.value:.2f}"


def _interval(rate: Rate | None) -> str:
    if rate is None or rate.interval is None:
        return ""
    low, high = rate.interval
    return f"{100 * low:.2f} – {100 * high:.2f}"


def _number(value: float | None, decimals: int) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.{decimals}f}"


def _ms(value: float | None) -> str:
    return NOT_AVAILABLE if value is None else f"{value:.0f} ms"
