"""Pure presenters of a comparison: the verdict, the words side by side, the figures of both."""

from collections.abc import Callable
from typing import TypedDict

from moss_demo.domain.events import Run
from moss_demo.domain.figures import NOT_AVAILABLE, clock
from moss_demo.domain.transcript import Segment
from moss_demo.scoring.text_errors import Edit
from moss_demo.scoring.verdict import AlignedToken, Gate, ParityVerdict, Reason
from moss_demo.ui.comparison import SideState

GATE_SENTENCES = {
    Gate.PASS: "B equals A: words, speakers, boundaries, and stamps within 50 ms.",
    Gate.FAIL: "B differs from A.",
    Gate.INVALID: "The comparison proves nothing: a side cannot serve.",
}
REASON_SENTENCES = {
    Reason.EMPTY_REFERENCE: "A holds no words, so nothing can be judged by it.",
    Reason.REFERENCE_TRUNCATED: "A breaks off, so it cannot serve as the reference.",
    Reason.REFERENCE_STOPS_EARLY: "A ends before the speech does, so it cannot serve.",
    Reason.REFERENCE_REPEATS: "Repeated runs of A differ, so it cannot serve.",
    Reason.EMPTY_CANDIDATE: "B holds no words.",
    Reason.CANDIDATE_TRUNCATED: "B breaks off.",
    Reason.CANDIDATE_STOPS_EARLY: "B ends before the speech does.",
    Reason.CANDIDATE_REPEATS: "Repeated runs of B differ, so nothing can be said of it.",
    Reason.UNKNOWN_TIME: "A stamp is unknown on one side only.",
    Reason.WORDS: "Words differ as written.",
    Reason.SPEAKERS: "Words are given to other speakers, and no relabelling explains it.",
    Reason.LABELS: "Speakers have other labels.",
    Reason.REFLOW: "Segments begin or end between other words.",
    Reason.DRIFT: "Stamps are more than 50 ms apart.",
}
NO_WORDS = "The words of both sides stand here, with what differs marked."
NO_FIGURES = "Time, speed and memory of both runs stand here."
FIGURE_HEADERS = ("Figure", "A", "B", "B / A")
MAX_ROWS = 400
"""Lines that differ and are shown; the downloaded verdict has them all."""


class DiffRow(TypedDict):
    """One line of the side-by-side view; tokens are (edit, in A, in B, speaker differs)."""

    time: str
    speakers: list[str]
    tokens: list[tuple[str, str, str, bool]]


def verdict_tiles(verdict: ParityVerdict) -> list[tuple[str, str]]:
    """Return the verdict as label and value."""
    errors = verdict.word_errors
    drift = verdict.max_drift_ms
    return [
        ("Gate", verdict.gate.value),
        ("Words safe", _yes(verdict.words_safe)),
        ("Timing safe", _yes(verdict.timing_safe)),
        (
            "Word errors",
            f"{errors.errors} of {errors.reference_length} "
            f"({errors.substitutions} sub, {errors.deletions} del, {errors.insertions} ins)",
        ),
        ("Speaker errors", f"{verdict.speaker_token_errors} (aligned words)"),
        ("Boundaries moved", f"{verdict.boundaries_moved} (of {verdict.n_ref} segments in A)"),
        ("Largest drift", NOT_AVAILABLE if drift is None else f"{drift} ms"),
        ("Closeness", NOT_AVAILABLE if verdict.closeness is None else verdict.closeness.value),
    ]


def verdict_notices(
    verdict: ParityVerdict, sides: tuple[SideState, SideState]
) -> list[dict[str, str]]:
    """Say the outcome, its reasons and where the transcripts part first."""
    rows = [{"kind": verdict.gate.value, "message": GATE_SENTENCES[verdict.gate]}]
    rows += [{"kind": r.value, "message": REASON_SENTENCES[r]} for r in verdict.reasons]
    rows += [
        {"kind": "relabelled", "message": f"{a} in A is {b} in B."} for a, b in verdict.relabel
    ]
    rows += [
        {"kind": "encoder", "message": f"{letter}: {side.engine.compile_problem}"}
        for letter, side in zip("AB", sides, strict=True)
        if side.engine is not None and side.engine.compile_problem is not None
    ]
    first = verdict.first_difference
    if first is not None:
        spots = (first.reference_segment, first.candidate_segment)
        where = [
            f"{letter} at {_start(side.transcript.segments[index])}"
            for letter, side, index in zip("AB", sides, spots, strict=True)
            if index is not None
        ]
        message = f"First difference ({first.reason.value}): {', '.join(where)}."
        rows.append({"kind": "where", "message": message})
    return rows


def diff_rows(verdict: ParityVerdict, sides: tuple[SideState, SideState]) -> list[DiffRow]:
    """Group aligned words by the segments they stand in, at most `MAX_ROWS` lines.

    When there are more, lines without a difference are left out first.
    """
    rows: list[DiffRow] = []
    owners: tuple[int | None, int | None] | None = None
    for token in verdict.tokens:
        if _begins_line(token, owners):
            owners = (token.reference_segment, token.candidate_segment)
            rows.append(_line(owners, sides))
        elif owners is not None:
            owners = (
                token.reference_segment if token.reference_segment is not None else owners[0],
                token.candidate_segment if token.candidate_segment is not None else owners[1],
            )
        rows[-1]["tokens"].append(
            (token.edit.value, token.reference or "", token.candidate or "", token.speaker_differs)
        )
    if len(rows) > MAX_ROWS:
        rows = [row for row in rows if any(t[0] != Edit.EQUAL.value or t[3] for t in row["tokens"])]
    return rows[:MAX_ROWS]


def figure_rows(sides: tuple[SideState, SideState]) -> list[list[str]]:
    """Return the figures of both runs with the ratio B to A; saved sides have none."""
    table: list[tuple[str, Callable[[SideState], float | None], str]] = [
        ("Run, s", lambda side: side.run.finished.at if side.run.finished else None, ".2f"),
        ("RTF", lambda side: side.run.rtf, ".3f"),
        ("Time to first token, s", lambda side: side.run.first_token_at, ".2f"),
        ("Tokens", lambda side: float(len(side.run.token_ids)) or None, ",.0f"),
        ("Tokens/s", lambda side: side.run.tokens_per_s, ".1f"),
        ("Peak memory, MiB", lambda side: _peak_mib(side.run), ",.0f"),
        ("Weights, MiB", _weights_mib, ",.1f"),
    ]
    rows = []
    for label, read, form in table:
        a, b = (read(side) if side.is_measured else None for side in sides)
        ratio = f"{b / a:.2f}" if a and b is not None else NOT_AVAILABLE
        shown = [NOT_AVAILABLE if value is None else format(value, form) for value in (a, b)]
        rows.append([label, *shown, ratio])
    return rows


def _peak_mib(run: Run) -> float | None:
    peak_bytes = run.finished.peak_memory_bytes if run.finished else None
    return None if peak_bytes is None else peak_bytes / 2**20


def _weights_mib(side: SideState) -> float | None:
    return None if side.engine is None else side.engine.weight_bytes / 2**20


def _begins_line(token: AlignedToken, owners: tuple[int | None, int | None] | None) -> bool:
    if owners is None:
        return True
    spots = (token.reference_segment, token.candidate_segment)
    return any(spot is not None and spot != owner for spot, owner in zip(spots, owners, strict=True)
               if owner is not None)  # fmt: skip


def _line(owners: tuple[int | None, int | None], sides: tuple[SideState, SideState]) -> DiffRow:
    segments = [
        side.transcript.segments[index]
        for side, index in zip(sides, owners, strict=True)
        if index is not None
    ]
    speakers = list(dict.fromkeys(segment.speaker or "?" for segment in segments))
    return DiffRow(time=_start(segments[0]) if segments else "", speakers=speakers, tokens=[])


def _start(segment: Segment) -> str:
    return "–" if segment.start is None else clock(segment.start)


def _yes(value: bool | None) -> str:
    return NOT_AVAILABLE if value is None else ("yes" if value else "no")
