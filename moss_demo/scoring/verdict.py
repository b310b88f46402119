"""What a parity comparison found: the values, with no rule of how they are found."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.text_errors import Edit


class Gate(StrEnum):
    """Outcome of a comparison; an invalid one proves nothing either way."""

    PASS = "pass"
    FAIL = "fail"
    INVALID = "invalid"


class Reason(StrEnum):
    """Why a comparison did not pass, in the order in which reasons are listed."""

    EMPTY_REFERENCE = "empty reference"
    REFERENCE_TRUNCATED = "reference truncated"
    REFERENCE_STOPS_EARLY = "reference stops before the speech ends"
    REFERENCE_REPEATS = "reference repeats differ"
    EMPTY_CANDIDATE = "empty candidate"
    CANDIDATE_TRUNCATED = "candidate truncated"
    CANDIDATE_STOPS_EARLY = "candidate stops before the speech ends"
    CANDIDATE_REPEATS = "candidate repeats differ"
    UNKNOWN_TIME = "unknown time"
    WORDS = "words"
    SPEAKERS = "speakers"
    LABELS = "labels"
    REFLOW = "reflow"
    DRIFT = "drift"


class Closeness(StrEnum):
    """How close two transcripts are, from the closest rung down."""

    IDENTICAL = "identical"
    GATE = "gate passed"
    RELAXED_WORDS = "gate passed with relaxed words"
    WORDS_ONLY = "words only"
    NEAR = "cpWER small"
    DIFFERENT = "different"


class AlignedToken(NamedTuple):
    """One row of the side-by-side view.

    Attributes:
        edit: what became of the token.
        reference: reference token as written, or None where one was inserted.
        candidate: candidate token as written, or None where one was deleted.
        reference_segment: index of the reference segment, or None.
        candidate_segment: index of the candidate segment as emitted, or None.
        speaker_differs: the speakers of the two sides do not answer each other.
    """

    edit: Edit
    reference: str | None
    candidate: str | None
    reference_segment: int | None
    candidate_segment: int | None
    speaker_differs: bool


class DriftBin(NamedTuple):
    """A bar of the drift histogram: stamps above the last bar's limit and up to this one's."""

    up_to_ms: int | None
    stamps: int


class FirstDifference(NamedTuple):
    """Where two transcripts part: the kind and the segments it is first seen in."""

    reason: Reason
    reference_segment: int | None
    candidate_segment: int | None


@dataclass(frozen=True, slots=True)
class ParityVerdict:
    """The verdict on a candidate that ought to equal a reference.

    Attributes:
        gate: the outcome with words as written.
        gate_relaxed_words: the outcome with case, width and punctuation forgiven.
        reasons: what kept the gate from passing, in the order of `Reason`.
        n_ref: segments of the reference.
        n_cand: segments of the candidate.
        words_ok: the words are equal as written.
        word_errors: edits between the words as written.
        order_changed: the same turns came in another order and were put back for the comparison.
        words_ok_relaxed: the words are equal with case, width and punctuation forgiven.
        speakers_ok: speakers are equal up to a one-to-one relabelling; None for an empty side.
        speaker_token_errors: aligned tokens whose speakers do not answer each other.
        relabel: candidate label by reference label where they answer but differ.
        labels_exact: aligned tokens have the very same labels; None for an empty side.
        reflow: segment boundaries lie between other words; None for an empty side.
        segments_missing: reference segments without any aligned token.
        segments_extra: candidate segments without any aligned token.
        matched: segments that answer each other one to one.
        max_drift_ms: largest drift of a stamp of matched segments, None where there is none.
        identical: text (or, where no text was kept, every segment) is the same byte for byte.
        timing_safe: boundaries and stamps hold; None when the gate is invalid or no stamp tells.
        closeness: the highest rung reached, None when the gate is invalid.
        cp_errors: edits by speaker under the best relabelling.
        boundaries_lost: reference boundaries that the candidate does not have.
        boundaries_added: candidate boundaries that the reference does not have.
        drift: stamps of matched segments by drift.
        first_difference: where the transcripts part first, None where they do not.
        tokens: both transcripts side by side.
    """

    gate: Gate
    gate_relaxed_words: Gate
    reasons: tuple[Reason, ...]
    n_ref: int
    n_cand: int
    words_ok: bool
    word_errors: ErrorCounts
    order_changed: bool
    words_ok_relaxed: bool
    speakers_ok: bool | None
    speaker_token_errors: int
    relabel: tuple[tuple[str, str], ...]
    labels_exact: bool | None
    reflow: bool | None
    segments_missing: int
    segments_extra: int
    matched: int
    max_drift_ms: int | None
    identical: bool
    timing_safe: bool | None
    closeness: Closeness | None
    cp_errors: ErrorCounts
    boundaries_lost: int
    boundaries_added: int
    drift: tuple[DriftBin, ...]
    first_difference: FirstDifference | None
    tokens: tuple[AlignedToken, ...]

    @property
    def words_safe(self) -> bool | None:
        """Whether words and speakers hold, whatever the times; None when the gate is invalid."""
        if self.gate is Gate.INVALID:
            return None
        return self.words_ok and self.speakers_ok is True

    @property
    def boundaries_moved(self) -> int:
        """Boundaries that differ, a shifted one counted once."""
        return max(self.boundaries_lost, self.boundaries_added)
