"""The rows of the result tables, and how they become Arrow columns and CSV cells.

A `ClipRow` is a function of the recording, its reference and the transcript only, so that the same
input gives the same bytes; whatever a clock or a device has to say stands in a `TimingRow`.
"""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields
from enum import StrEnum
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]  # ships no types

from moss_demo.domain.exports.cleaning import table_cell


class Status(StrEnum):
    """Whether a row has a transcript."""

    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClipRow:
    """What is known of one recording; None where a figure makes no sense for it.

    Attributes:
        line: line of the manifest.
        audio: recording as the manifest names it.
        group: group of the manifest.
        language: given or guessed, empty when unknown.
        status: whether there is a transcript.
        reason: why there is none, or what to know about it, in words.
        digest: of the samples.
        duration_s: length of the recording.
        stop: why the text ended.
        complete: the text ends after an end stamp with nothing pending.
        tokens: tokens generated, None for an engine that does not say.
        token_budget: tokens that were allowed.
        segments: turns of the transcript.
        warnings: kinds of doubt, see `DiagnosticKind`, separated by blanks.
        text: the model's text as generated.
        reference_digest: of the reference's words; takes of one text share it.
        rules: what counts as the same word.
        words: words of the reference.
        substitutions: words replaced.
        deletions: words missing.
        insertions: words too many.
        wer: word error rate.
        characters: characters of the reference.
        character_errors: characters replaced, missing and too many.
        cer: character error rate.
        cp_word_errors: word errors speaker by speaker, under the best assignment.
        cpwer: their rate.
        cp_character_errors: the same between characters.
        cpcer: their rate.
        delta_cp_wer: cpWER less WER.
        delta_cp_cer: cpCER less CER.
        speech_ms: speech of the reference, by speaker.
        missed_ms: of it, given to nobody.
        false_alarm_ms: speech given where nobody spoke.
        confusion_ms: speech given to the wrong speaker.
        der: diarization error rate without a collar.
        collar_speech_ms: speech of the reference outside ±250 ms around its boundaries.
        collar_wrong_ms: wrong time there.
        der_250ms: diarization error rate with that collar.
        reference_speakers: labelled speakers of the reference.
        jaccard_speakers: of these, speakers with scored speech.
        jaccard_sum: their Jaccard errors, summed.
        jer: their mean.
        speaker_count_error: speakers found less speakers there are.
        stamp_errors_ms: how far each comparable stamp lies from the reference.
        stamp_median_ms: their median.
        stamp_p95_ms: their 95th percentile, from 20 stamps on.
    """

    line: int
    audio: str
    group: str = ""
    language: str = ""
    status: Status
    reason: str = ""
    digest: str = ""
    duration_s: float | None = None
    stop: str = ""
    complete: bool | None = None
    tokens: int | None = None
    token_budget: int | None = None
    segments: int | None = None
    warnings: str = ""
    text: str = ""
    reference_digest: str = ""
    rules: str = ""
    words: int | None = None
    substitutions: int | None = None
    deletions: int | None = None
    insertions: int | None = None
    wer: float | None = None
    characters: int | None = None
    character_errors: int | None = None
    cer: float | None = None
    cp_word_errors: int | None = None
    cpwer: float | None = None
    cp_character_errors: int | None = None
    cpcer: float | None = None
    delta_cp_wer: float | None = None
    delta_cp_cer: float | None = None
    speech_ms: int | None = None
    missed_ms: int | None = None
    false_alarm_ms: int | None = None
    confusion_ms: int | None = None
    der: float | None = None
    collar_speech_ms: int | None = None
    collar_wrong_ms: int | None = None
    der_250ms: float | None = None
    reference_speakers: int | None = None
    jaccard_speakers: int | None = None
    jaccard_sum: float | None = None
    jer: float | None = None
    speaker_count_error: int | None = None
    stamp_errors_ms: tuple[int, ...] = ()
    stamp_median_ms: float | None = None
    stamp_p95_ms: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TimingRow:
    """How long one recording took, where and beside how many others.

    Attributes:
        line: line of the manifest.
        audio: recording as the manifest names it.
        seconds: share of its batch: wall clock of the batch by its rows.
        rtf: that share by the length of the recording.
        latency_s: from the request to the end of its transcript.
        first_token_s: from the request to the first token.
        batch_rows: recordings that were transcribed together.
        batch_s: wall clock of the batch.
        features_s: spectrograms of the batch.
        encoder_s: encoder and projector of the batch.
        prefill_s: prompts of the batch.
        decode_s: tokens of the batch.
        peak_memory_bytes: of the batch, by `memory_source`.
        memory_source: what measured it.
        part: part of the run.
        worker: rank of the process.
        engine: what transcribed.
    """

    line: int
    audio: str
    seconds: float
    rtf: float
    latency_s: float | None
    first_token_s: float | None
    batch_rows: int
    batch_s: float
    features_s: float
    encoder_s: float
    prefill_s: float
    decode_s: float
    peak_memory_bytes: int | None
    memory_source: str
    part: int
    worker: int
    engine: str


Row = ClipRow | TimingRow

_TYPES = {"int": pa.int64(), "float": pa.float64(), "str": pa.string(), "bool": pa.bool_()}


def schema_of(kind: type[Row]) -> pa.Schema:
    """Return the Arrow schema of a kind of row: one column a field, in their order."""
    return pa.schema([(field.name, _arrow_type(field.type)) for field in fields(kind)])


def arrow_table(kind: type[Row], rows: Sequence[Row]) -> pa.Table:
    """Return rows as an Arrow table."""
    columns = list(zip(*(astuple(row) for row in rows), strict=True)) or [()] * len(fields(kind))
    schema = schema_of(kind)
    arrays = [pa.array(c, field.type) for c, field in zip(columns, schema, strict=True)]
    return pa.Table.from_arrays(arrays, schema=schema)


def csv_cell(value: object) -> object:
    """Return what stands in a CSV cell."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return table_cell(value) if isinstance(value, str) else value


def _arrow_type(annotation: Any) -> pa.DataType:
    """Return the column type of a field, such as `int | None`."""
    if annotation == tuple[int, ...]:
        return pa.list_(pa.int64())
    if annotation is Status:
        return pa.string()
    named = str(getattr(annotation, "__name__", annotation))
    return _TYPES[named.removesuffix(" | None")]
