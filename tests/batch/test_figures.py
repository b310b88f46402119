"""Figures of clips, of a corpus and of takes."""

from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from moss_demo.batch.manifest import Entry
from moss_demo.batch.measures import failed_row, finished_row
from moss_demo.batch.rows import ClipRow, Status, arrow_table, csv_cell
from moss_demo.batch.summary import summarize
from moss_demo.batch.takes import best_of, rank_takes, truncated_shares
from moss_demo.domain.events import Finished, Run, Started, StopReason
from moss_demo.domain.parser import parse
from moss_demo.domain.references import read_reference
from moss_demo.errors import ManifestError
from moss_demo.scoring.bootstrap import MIN_CLIPS, rate_intervals
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.normalize import Level

SAID = "[0.50][S01]good morning everyone[2.10][2.60][S02]shall we begin[4.20]"
RTTM = "SPEAKER a 1 0.5 1.6 <NA> <NA> A <NA> <NA>\n"


def _row(heard: str, reference: str | None, stop: StopReason = StopReason.END_OF_TEXT,
         *, line: int = 1, group: str = "", tokens: int = 30) -> ClipRow:  # fmt: skip
    started = Started(0.1, 5.0, 10, 5, 200, None)
    ended = Finished(1.0, heard, (7,) * tokens, stop)
    transcript = parse(heard, 5.0)
    run = Run("clip", "d", 5.0, transcript.segments, raw=heard, token_ids=(7,) * tokens,
              started=started, finished=ended)  # fmt: skip
    truth = None if reference is None else read_reference(reference)
    entry = Entry(line, f"{line}.wav", reference, group)
    return finished_row(entry, run, truth, Level.RELAXED, ())


def _columns(rows: list[ClipRow]) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = arrow_table(ClipRow, rows).to_pydict()
    return columns


def test_a_perfect_transcript_has_no_errors() -> None:
    """Every figure is there and zero."""
    row = _row(SAID, SAID)
    assert (row.wer, row.cer, row.cpwer, row.cpcer, row.der, row.der_250ms, row.jer) == (0,) * 7
    assert (row.words, row.speaker_count_error, row.stamp_median_ms) == (6, 0, 0)
    assert row.status is Status.DONE


def test_a_reference_says_what_it_can_and_no_more() -> None:
    """Words alone give no speakers and no times; times alone give no words."""
    words = _row(SAID, "good morning all")
    assert words.wer is not None
    assert (words.cpwer, words.der, words.speaker_count_error) == (None, None, None)
    times = _row(SAID, RTTM)
    assert (times.wer, times.words, times.rules) == (None, None, "")
    assert times.der is not None
    nothing = _row(SAID, None)
    assert (nothing.wer, nothing.der, nothing.reference_digest) == (None, None, "")


def test_words_where_nothing_is_said_count_against_the_corpus() -> None:
    """A clip without speech has no rate of its own, but its invented words are errors."""
    rows = [_row(SAID, ""), _row(SAID, SAID)]
    assert rows[0].wer is None
    assert rows[0].insertions == 6
    rate = summarize(_columns(rows))[0].rates["wer"]
    assert rate is not None
    assert rate.value == 6 / 6


def test_a_corpus_rate_is_the_ratio_of_sums() -> None:
    """By language and group as well; clips that lack what a rate needs stay out of it."""
    heard = SAID.replace("morning", "warning")
    rows = [
        _row(heard, SAID, line=1, group="a"),
        _row(SAID, "good morning everyone shall we start", line=2, group="b"),
        failed_row(Entry(3, "c.wav", group="b"), ManifestError("It is gone.")),
    ]
    by_name = {(s.scope, s.name): s for s in summarize(_columns(rows))}
    everything = by_name["all", ""]
    assert (everything.clips, everything.done, everything.failed) == (3, 2, 1)
    wer, cpwer = everything.rates["wer"], everything.rates["cpwer"]
    assert wer is not None
    assert wer.value == pytest.approx(2 / 12)
    assert cpwer is not None
    assert cpwer.value == pytest.approx(1 / 6)
    assert everything.rates["delta_cp_wer"] is not None
    assert everything.rates["delta_cp_wer"].value == 0
    assert by_name["group", "b"].failed == 1
    assert by_name["group", "a"].rates["wer"] == type(wer)(1 / 6, None)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 30)), min_size=MIN_CLIPS, max_size=40))
def test_intervals_hold_the_rate_of_the_sample_and_are_repeatable(pairs) -> None:
    """The bootstrap is around what was measured, within what clips allow."""
    errors = np.array([[wrong] for wrong, _ in pairs], np.float64)
    lengths = np.array([[length] for _, length in pairs], np.float64)
    (interval,) = rate_intervals(errors, lengths)
    assert interval is not None
    assert rate_intervals(errors, lengths) == [interval]
    rates = [wrong / length for wrong, length in pairs]
    assert min(rates) - 1e-9 <= interval[0] <= interval[1] <= max(rates) + 1e-9
    pooled = sum((ErrorCounts(w, 0, 0, n) for w, n in pairs), ErrorCounts()).rate
    assert pooled is not None
    assert interval[0] - 1e-9 <= pooled <= interval[1] + 1e-9


def test_few_clips_have_no_interval() -> None:
    """Four clips say nothing of a fifth."""
    ones = np.ones((MIN_CLIPS - 1, 2))
    assert rate_intervals(ones, ones) == [None, None]


def test_takes_rank_by_errors_then_by_doubts() -> None:
    """The cleanest take first; a cut one stands behind a whole one with the same words."""
    heard = SAID.replace("morning", "warning")
    rows = [
        _row(SAID, SAID, StopReason.LENGTH, line=1, group="t"),
        _row(heard, SAID, line=2, group="t"),
        _row(SAID, SAID, line=3, group="t"),
        _row(SAID, SAID, line=4, group="alone"),
        _row(SAID, SAID, line=5, group="mixed"),
        _row(SAID, "something else", line=6, group="mixed"),
    ]
    takes = rank_takes(_columns(rows))
    assert [(t.group, t.rank, t.line) for t in takes] == [("t", 1, 3), ("t", 2, 1), ("t", 3, 2)]
    assert [take.truncated for take in takes] == [False, True, False]


def test_more_takes_never_make_the_best_worse() -> None:
    """The expected best of n is the mean for one take and the minimum for all of them."""
    heard = ["good morning everyone shall we begin", "good morning every one", "warning", "good"]
    rows = [_row(f"[0.0][S01]{text}[1.0]", SAID, line=n, group="t") for n, text in enumerate(heard)]
    takes = rank_takes(_columns(rows))
    table = best_of(takes)
    wers = [take.wer for take in takes]
    assert [row.takes for row in table] == [1, 2, 4]
    assert table[0].wer == pytest.approx(sum(wers) / len(wers))
    assert table[-1].wer == pytest.approx(min(wers))
    assert table[0].wer >= table[1].wer >= table[2].wer


def test_a_larger_budget_cuts_off_fewer_takes() -> None:
    """Two takes of 30 and 60 tokens for six words need 5 and 10 tokens a word."""
    rows = [_row(SAID, SAID, line=n, group="t", tokens=30 * n) for n in (1, 2)]
    shares = dict(truncated_shares(rank_takes(_columns(rows))))
    assert (shares[4], shares[5], shares[8], shares[10]) == (1.0, 0.5, 0.5, 0.0)
    assert truncated_shares([]) == []


def test_rows_survive_arrow_as_they_are() -> None:
    """What is written to Parquet is what was measured."""
    row = _row(SAID, SAID)
    (back,) = arrow_table(ClipRow, [row]).to_pylist()
    expected = asdict(row) | {"stamp_errors_ms": list(row.stamp_errors_ms)}
    assert back == expected


@pytest.mark.parametrize(
    ("value", "cell"),
    [("=1+1", "'=1+1"), ("-5 dB", "'-5 dB"), ("plain", "plain"), ([10, 0], "10 0"), (None, None)],
)
def test_no_cell_is_a_formula(value: object, cell: object) -> None:
    """A spreadsheet calculates nothing of what a model wrote."""
    assert csv_cell(value) == cell


def test_a_transcript_without_words_is_measured() -> None:
    """An empty transcript of a spoken clip is all deletions."""
    row = _row("", SAID)
    assert (row.deletions, row.wer, row.segments) == (6, 1.0, 0)
