"""The parity gate: does a candidate transcript equal a reference of the same recording?

Words must be equal as written, speakers up to a one-to-one relabelling, segment boundaries must lie
between the same words, and no stamp of a matched segment may move by more than 50 ms. A reference
that is cut off, and runs that do not repeat, prove nothing: the gate is then invalid. Knows nothing
of how either transcript was made.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.comparison import Comparison, compare_segments
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.normalize import Level, TextRules
from moss_demo.scoring.run_meta import CANDIDATE, REFERENCE, RunMeta, side_reasons
from moss_demo.scoring.side_by_side import aligned_tokens, first_difference
from moss_demo.scoring.speaker_errors import cp_errors, tokens_by_speaker
from moss_demo.scoring.turn_order import reference_order
from moss_demo.scoring.verdict import Closeness, DriftBin, Gate, ParityVerdict, Reason

MAX_DRIFT_MS = 50
"""Stamps come in steps of 10 ms: five steps pass, the sixth fails."""

NEAR_CP_RATE = 0.1
"""Up to this cpWER two transcripts that fail the gate are called near."""

_DRIFT_BINS_MS = (0, 10, 20, 50, 100, 200, 500, 1000)
_VERBATIM = TextRules(Level.VERBATIM)
_RELAXED = TextRules(Level.RELAXED)
_INVALIDATING = frozenset([*REFERENCE, Reason.CANDIDATE_REPEATS])


def parity(
    reference: Transcript,
    candidate: Transcript,
    *,
    reference_meta: RunMeta | None = None,
    candidate_meta: RunMeta | None = None,
    strict_labels: bool = False,
    max_drift_ms: int = MAX_DRIFT_MS,
) -> ParityVerdict:
    """Judge a candidate transcript by a reference transcript.

    Args:
        reference: what the candidate should equal.
        candidate: what is judged.
        reference_meta: what is known of the reference's run.
        candidate_meta: what is known of the candidate's run.
        strict_labels: fail a candidate whose speakers are relabelled.
        max_drift_ms: largest drift of a stamp that passes.
    """
    on_reference = side_reasons(reference, reference_meta or RunMeta(), REFERENCE)
    on_candidate = side_reasons(candidate, candidate_meta or RunMeta(), CANDIDATE)
    if Reason.EMPTY_REFERENCE in on_reference and Reason.EMPTY_CANDIDATE in on_candidate:
        on_candidate.remove(Reason.EMPTY_CANDIDATE)
    gate = _GateRules((*on_reference, *on_candidate), strict_labels, max_drift_ms)
    exact = gate.judge(reference, candidate, _VERBATIM)
    relaxed = exact
    if not exact.comparison.words_equal and _share_words(reference, candidate, _RELAXED):
        relaxed = gate.judge(reference, candidate, _RELAXED)
    return _verdict(reference, candidate, exact, relaxed, max_drift_ms)


@dataclass(frozen=True, slots=True)
class _Judged:
    """A comparison at one level, the order it was made in and the reasons it gives.

    Attributes:
        comparison: the facts.
        order: index of each compared candidate segment as it was emitted.
        reasons: everything that keeps the gate from passing.
    """

    comparison: Comparison
    order: tuple[int, ...]
    reasons: tuple[Reason, ...]

    @property
    def gate(self) -> Gate:
        if not _INVALIDATING.isdisjoint(self.reasons):
            return Gate.INVALID
        return Gate.FAIL if self.reasons else Gate.PASS


@dataclass(frozen=True, slots=True)
class _GateRules:
    """What the gate demands of a comparison beside what it holds against either side alone."""

    shared: tuple[Reason, ...]
    strict_labels: bool
    max_drift_ms: int

    def judge(self, reference: Transcript, candidate: Transcript, rules: TextRules) -> _Judged:
        """Compare as emitted or, where that explains more, with the turns put back in order."""
        emitted = self._judge(reference, candidate, rules, range(len(candidate.segments)))
        if emitted.reasons == self.shared:
            return emitted
        order = reference_order(reference.segments, candidate.segments, rules)
        if order is None or order == emitted.order:
            return emitted
        ordered = self._judge(reference, candidate, rules, order)
        return min(emitted, ordered, key=_explained)

    def _judge(
        self, reference: Transcript, candidate: Transcript, rules: TextRules, order: Sequence[int]
    ) -> _Judged:
        segments = [candidate.segments[index] for index in order]
        comparison = compare_segments(reference.segments, segments, rules)
        return _Judged(comparison, tuple(order), (*self.shared, *self._reasons(comparison)))

    def _reasons(self, comparison: Comparison) -> list[Reason]:
        both, drift_ms = comparison.both_speak, comparison.max_drift_ms or 0
        found = {
            Reason.UNKNOWN_TIME: both and comparison.time_unknown,
            Reason.WORDS: not comparison.words_equal,
            Reason.SPEAKERS: both and comparison.speakers.token_errors > 0,
            Reason.LABELS: both and self.strict_labels and not comparison.speakers.labels_exact,
            Reason.REFLOW: both and comparison.reflow,
            # Short equal texts pair wrongly once a word is lost: drift then says nothing.
            Reason.DRIFT: comparison.words_equal and drift_ms > self.max_drift_ms,
        }
        return [reason for reason, holds in found.items() if holds]


def _explained(judged: _Judged) -> tuple[bool, int]:
    """Rank comparisons of the same transcripts: equal words first, then the fewest reasons."""
    return not judged.comparison.words_equal, len(judged.reasons)


def _verdict(
    reference: Transcript,
    candidate: Transcript,
    exact: _Judged,
    relaxed: _Judged,
    max_drift_ms: int,
) -> ParityVerdict:
    comparison, segments = exact.comparison, exact.comparison.segments
    both, speakers = comparison.both_speak, comparison.speakers
    tokens = aligned_tokens(comparison, exact.order)
    identical, cp = _identical(reference, candidate), _cp_errors(reference, candidate)
    return ParityVerdict(
        gate=exact.gate,
        gate_relaxed_words=relaxed.gate,
        reasons=exact.reasons,
        n_ref=len(reference.segments),
        n_cand=len(candidate.segments),
        words_ok=comparison.words_equal,
        word_errors=comparison.errors,
        order_changed=exact.order != tuple(range(len(candidate.segments))),
        words_ok_relaxed=relaxed.comparison.words_equal,
        speakers_ok=speakers.token_errors == 0 if both else None,
        speaker_token_errors=speakers.token_errors,
        relabel=speakers.relabel,
        labels_exact=speakers.labels_exact if both else None,
        reflow=comparison.reflow if both else None,
        segments_missing=len(segments.missing),
        segments_extra=len(segments.extra),
        matched=len(segments.matched),
        max_drift_ms=comparison.max_drift_ms,
        identical=identical,
        timing_safe=_timing_safe(exact, max_drift_ms),
        closeness=_closeness(exact, relaxed, identical, cp),
        cp_errors=cp,
        boundaries_lost=len(segments.lost),
        boundaries_added=len(segments.added),
        drift=_histogram([drift for _, drift in comparison.drifts]),
        first_difference=first_difference(comparison, exact.order, tokens, max_drift_ms),
        tokens=tokens,
    )


def _share_words(reference: Transcript, candidate: Transcript, rules: TextRules) -> bool:
    """Say whether both hold the same words in any order: without that no alignment is equal."""
    left, right = (
        Counter(word for segment in side.segments for word in rules.words(segment.text))
        for side in (reference, candidate)
    )
    return left == right


def _identical(reference: Transcript, candidate: Transcript) -> bool:
    """Say whether nothing differs: neither the text as written nor what a person made of it."""
    return reference.raw == candidate.raw and reference.segments == candidate.segments


def _cp_errors(reference: Transcript, candidate: Transcript) -> ErrorCounts:
    left, right = (
        tokens_by_speaker(side.segments, [_VERBATIM.words(s.text) for s in side.segments])
        for side in (reference, candidate)
    )
    return cp_errors(left, right).counts


def _timing_safe(exact: _Judged, max_drift_ms: int) -> bool | None:
    """Say whether boundaries and stamps hold, None when the gate is invalid or no stamp tells."""
    comparison, segments = exact.comparison, exact.comparison.segments
    if exact.gate is Gate.INVALID:
        return None
    if comparison.reflow or segments.missing or segments.extra or comparison.time_unknown:
        return False
    drift_ms = comparison.max_drift_ms
    return None if drift_ms is None else drift_ms <= max_drift_ms


def _closeness(
    exact: _Judged, relaxed: _Judged, identical: bool, cp: ErrorCounts
) -> Closeness | None:
    if exact.gate is Gate.INVALID:
        return None
    if exact.gate is Gate.PASS:
        return Closeness.IDENTICAL if identical else Closeness.GATE
    if relaxed.gate is Gate.PASS:
        return Closeness.RELAXED_WORDS
    if relaxed.comparison.words_equal:
        return Closeness.WORDS_ONLY
    return Closeness.NEAR if (cp.rate or 0.0) <= NEAR_CP_RATE else Closeness.DIFFERENT


def _histogram(drifts_ms: Sequence[int]) -> tuple[DriftBin, ...]:
    limits = (*_DRIFT_BINS_MS, None)
    counts = Counter(
        next((limit for limit in _DRIFT_BINS_MS if drift <= limit), None) for drift in drifts_ms
    )
    return tuple(DriftBin(limit, counts[limit]) for limit in limits)
