"""Turns the outcome of one recording into its row: the transcript's figures and its errors."""

import hashlib
from typing import Any

from moss_demo.batch.manifest import Entry
from moss_demo.batch.rows import ClipRow, Status, TimingRow
from moss_demo.domain.diagnostics import diagnose
from moss_demo.domain.encodable import encodable
from moss_demo.domain.events import PhaseTimes, Run
from moss_demo.domain.transcript import Transcript
from moss_demo.errors import MossDemoError
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.normalize import Level, TextRules
from moss_demo.scoring.score import Score, TextScore, score
from moss_demo.scoring.speaker_errors import SpeakerErrors


def failed_row(entry: Entry, error: MossDemoError) -> ClipRow:
    """Return the row of a recording without a transcript."""
    return ClipRow(
        line=entry.line,
        audio=encodable(entry.audio),
        group=encodable(entry.group),
        language=entry.language or "",
        status=Status.FAILED,
        reason=encodable(str(error)),
    )


def finished_row(
    entry: Entry, run: Run, reference: Transcript | None, level: Level, notes: tuple[str, ...]
) -> ClipRow:
    """Return the row of a finished run.

    Args:
        entry: what was asked.
        run: finished.
        reference: the truth, or None where there is none.
        level: what counts as the same word.
        notes: what the decoder had to say about the sound.
    """
    started, finished, transcript = run.started, run.finished, run.transcript
    measured = None if reference is None else score(
        reference, transcript, language=entry.language, levels=(level,)
    )  # fmt: skip
    return ClipRow(
        line=entry.line,
        audio=encodable(entry.audio),
        group=encodable(entry.group),
        language=(measured.language if measured else entry.language) or "",
        status=Status.DONE,
        reason=" ".join(notes),
        digest=run.clip_digest,
        duration_s=run.duration_s,
        stop=finished.stop.value if finished else "",
        complete=transcript.complete,
        tokens=len(run.token_ids) if run.token_ids or started else None,
        token_budget=started.max_new_tokens if started else None,
        segments=len(transcript.segments),
        warnings=" ".join(dict.fromkeys(d.kind.value for d in diagnose(run))),
        text=run.raw,
        **({} if measured is None or reference is None else _errors(measured, reference)),
    )


def timing_row(
    entry: Entry,
    run: Run,
    *,
    batch_rows: int,
    batch_s: float,
    part: int,
    worker: int,
    engine: str,
) -> TimingRow:
    """Return how long a run took, as a share of its batch."""
    finished = run.finished
    phases = finished.phases if finished else PhaseTimes()
    return TimingRow(
        line=entry.line,
        audio=encodable(entry.audio),
        seconds=batch_s / batch_rows,
        rtf=batch_s / batch_rows / run.duration_s,
        latency_s=finished.at if finished else None,
        first_token_s=run.first_token_at,
        batch_rows=batch_rows,
        batch_s=batch_s,
        features_s=phases.features_s,
        encoder_s=phases.encoder_s,
        prefill_s=phases.prefill_s,
        decode_s=phases.decode_s,
        peak_memory_bytes=finished.peak_memory_bytes if finished else None,
        memory_source=finished.memory_source if finished else "",
        part=part,
        worker=worker,
        engine=engine,
    )


def _errors(measured: Score, reference: Transcript) -> dict[str, Any]:
    (text,) = measured.texts
    count, stamps = measured.speakers, measured.stamps
    # A reference of times alone, such as RTTM, says nothing of words.
    wordless = bool(reference.segments) and not reference.text.strip()
    return {
        "reference_digest": _digest(text.rules, reference),
        **({} if wordless else _text_errors(text)),
        **_diarization_errors(measured),
        "reference_speakers": count.reference if count else None,
        "speaker_count_error": count.error if count else None,
        "stamp_errors_ms": stamps.errors_ms,
        "stamp_median_ms": stamps.median_ms,
        "stamp_p95_ms": stamps.p95_ms,
    }


def _text_errors(text: TextScore) -> dict[str, Any]:
    words, characters = text.words, text.characters
    cp_words, cp_characters = _counts(text.cp_words), _counts(text.cp_characters)
    return {
        "rules": text.rules.label,
        "words": words.reference_length,
        "substitutions": words.substitutions,
        "deletions": words.deletions,
        "insertions": words.insertions,
        "wer": words.rate,
        "characters": characters.reference_length,
        "character_errors": characters.errors,
        "cer": characters.rate,
        "cp_word_errors": cp_words.errors if cp_words else None,
        "cpwer": cp_words.rate if cp_words else None,
        "cp_character_errors": cp_characters.errors if cp_characters else None,
        "cpcer": cp_characters.rate if cp_characters else None,
        "delta_cp_wer": text.delta_cp_words,
        "delta_cp_cer": text.delta_cp_characters,
    }


def _diarization_errors(measured: Score) -> dict[str, Any]:
    if not measured.diarization:
        return {}
    exact, collared = (entry.errors for _, entry in measured.diarization)
    wrong_ms = collared.missed_ms + collared.false_alarm_ms + collared.confusion_ms
    return {
        "speech_ms": exact.reference_ms,
        "missed_ms": exact.missed_ms,
        "false_alarm_ms": exact.false_alarm_ms,
        "confusion_ms": exact.confusion_ms,
        "der": exact.der,
        "collar_speech_ms": collared.reference_ms,
        "collar_wrong_ms": wrong_ms,
        "der_250ms": collared.der,
        "jaccard_speakers": exact.reference_speakers,
        "jaccard_sum": exact.jaccard_sum,
        "jer": exact.jer,
    }


def _digest(rules: TextRules, reference: Transcript) -> str:
    words = (word for segment in reference.segments for word in rules.words(segment.text))
    return hashlib.sha256(" ".join(words).encode()).hexdigest()[:16]


def _counts(speakers: SpeakerErrors | None) -> ErrorCounts | None:
    return None if speakers is None else speakers.counts
