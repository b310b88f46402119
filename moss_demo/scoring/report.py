"""Verdicts and scores as plain dictionaries, ready for JSON.

Field names of a verdict are those of the published comparison vectors. Every figure of a score
stands beside the rules it was made with. Knows nothing of files or of the command line.
"""

from typing import Any

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.diarization_errors import Diarization
from moss_demo.scoring.score import Score, TextScore, score
from moss_demo.scoring.speaker_errors import SpeakerErrors, SpeakerPairs
from moss_demo.scoring.verdict import FirstDifference, Gate, ParityVerdict

EXIT_STATUS = {Gate.PASS: 0, Gate.FAIL: 1, Gate.INVALID: 3}
"""Exit status of the command line for each outcome."""


def verdict_dict(verdict: ParityVerdict) -> dict[str, Any]:
    """Return a verdict as JSON values, without the token rows."""
    return {
        "gate": verdict.gate.value,
        "reasons": [reason.value for reason in verdict.reasons],
        "gate_relaxed_words": verdict.gate_relaxed_words.value,
        "words_safe": verdict.words_safe,
        "timing_safe": verdict.timing_safe,
        "closeness": verdict.closeness.value if verdict.closeness else None,
        "identical": verdict.identical,
        "n_ref": verdict.n_ref,
        "n_cand": verdict.n_cand,
        "words_ok": verdict.words_ok,
        "word_errors": _edits_dict(verdict.word_errors),
        "words_ok_relaxed": verdict.words_ok_relaxed,
        "order_changed": verdict.order_changed,
        "speakers_ok": verdict.speakers_ok,
        "speaker_token_errors": verdict.speaker_token_errors,
        "relabel": dict(verdict.relabel),
        "labels_exact": verdict.labels_exact,
        "reflow": verdict.reflow,
        "segments_missing": verdict.segments_missing,
        "segments_extra": verdict.segments_extra,
        "matched": verdict.matched,
        "boundaries_moved": verdict.boundaries_moved,
        "boundaries_lost": verdict.boundaries_lost,
        "boundaries_added": verdict.boundaries_added,
        "max_drift_ms": verdict.max_drift_ms,
        "drift_histogram": [
            {"up_to_ms": limit, "stamps": stamps} for limit, stamps in verdict.drift
        ],
        "first_difference": _first_dict(verdict.first_difference),
        "cp_errors": _counts_dict(verdict.cp_errors),
    }


def score_dict(
    reference: Transcript, hypothesis: Transcript, *, language: str | None = None
) -> dict[str, Any]:
    """Measure a hypothesis and return every figure as JSON values; None stands for "n/a".

    Args:
        reference: the truth.
        hypothesis: what is judged.
        language: code such as `en`, or None to guess it from the reference.
    """
    return score_values(score(reference, hypothesis, language=language))


def score_values(measured: Score) -> dict[str, Any]:
    """Return a score at hand as JSON values."""
    count, stamps = measured.speakers, measured.stamps
    return {
        "language": measured.language,
        "text": {text.rules.level.value: _text_dict(text) for text in measured.texts},
        "diarization": [_diarization_dict(*entry) for entry in measured.diarization],
        "speaker_count": None
        if count is None
        else {"reference": count.reference, "hypothesis": count.hypothesis, "error": count.error},
        "stamp_error": {
            "normalization": "relaxed words aligned",
            "median_ms": stamps.median_ms,
            "p95_ms": stamps.p95_ms,
            "max_ms": stamps.max_ms,
            "stamps": len(stamps.errors_ms),
            "reference_stamps": stamps.reference_stamps,
        },
    }


def _text_dict(text: TextScore) -> dict[str, Any]:
    return {
        "normalization": text.rules.label,
        "wer": _counts_dict(text.words),
        "cer": _counts_dict(text.characters),
        "cpwer": _speakers_dict(text.cp_words),
        "cpcer": _speakers_dict(text.cp_characters),
        "delta_cp_wer": text.delta_cp_words,
        "delta_cp_cer": text.delta_cp_characters,
    }


def _diarization_dict(collar_ms: int, diarization: Diarization) -> dict[str, Any]:
    errors = diarization.errors
    return {
        "collar_ms": collar_ms,
        "overlap": "scored",
        "region": "union of both extents",
        "der": errors.der,
        "jer": errors.jer,
        "missed_s": errors.missed_ms / 1000,
        "false_alarm_s": errors.false_alarm_ms / 1000,
        "confusion_s": errors.confusion_ms / 1000,
        "reference_s": errors.reference_ms / 1000,
        "assignment": _pairs_list(diarization.assignment),
    }


def _speakers_dict(speakers: SpeakerErrors | None) -> dict[str, Any] | None:
    if speakers is None:
        return None
    return {**_counts_dict(speakers.counts), "assignment": _pairs_list(speakers.assignment)}


def _pairs_list(pairs: SpeakerPairs) -> list[dict[str, str | None]]:
    return [{"reference": name, "hypothesis": other} for name, other in pairs]


def _counts_dict(counts: ErrorCounts) -> dict[str, Any]:
    return {"rate": counts.rate, **_edits_dict(counts), "length": counts.reference_length}


def _edits_dict(counts: ErrorCounts) -> dict[str, int]:
    return {"sub": counts.substitutions, "del": counts.deletions, "ins": counts.insertions}


def _first_dict(first: FirstDifference | None) -> dict[str, Any] | None:
    if first is None:
        return None
    return {
        "reason": first.reason.value,
        "reference_segment": first.reference_segment,
        "candidate_segment": first.candidate_segment,
    }
