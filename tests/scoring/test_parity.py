"""The parity gate: the published vectors, laws, and each thing a verdict tells."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moss_demo.domain.parser import parse
from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.parity import parity
from moss_demo.scoring.report import verdict_dict
from moss_demo.scoring.run_meta import RunMeta
from moss_demo.scoring.text_errors import Edit
from moss_demo.scoring.verdict import Closeness, Gate, ParityVerdict, Reason
from tests.scoring.builders import timed, transcripts

VECTOR_FILE = Path(__file__).parents[1] / "data" / "parity.jsonl"
VECTORS = [json.loads(line) for line in VECTOR_FILE.read_text(encoding="utf-8").splitlines()]

MEETING = timed(
    (0.48, 2.1, "S01", "good morning everyone"),
    (2.6, 5.2, "S02", "we should begin with the budget"),
    (5.4, 7.9, "S01", "I have the numbers here"),
    (8.1, 10.0, "S03", "go ahead please"),
)


def meta(values: Mapping[str, Any]) -> RunMeta:
    """Return what a vector says of a run."""
    return RunMeta(
        values.get("finish_reason"), tuple(values.get("repeats", ())), values.get("speech_end")
    )


def changed(index: int, **fields: Any) -> Transcript:
    """Return the meeting with one segment changed."""
    values = [(s.start, s.end, s.speaker, s.text) for s in MEETING.segments]
    names = ("start", "end", "speaker", "text")
    old = dict(zip(names, values[index], strict=True))
    values[index] = tuple({**old, **fields}[name] for name in names)
    return timed(*values)


def judged(candidate: Transcript, **arguments: Any) -> ParityVerdict:
    """Return the verdict on a candidate for the meeting."""
    return parity(MEETING, candidate, **arguments)


@pytest.mark.parametrize("vector", VECTORS, ids=[vector["id"] for vector in VECTORS])
def test_published_vectors(vector: dict[str, Any]) -> None:
    """Every field of every vector has the expected value."""
    verdict = parity(
        parse(vector["reference"]),
        parse(vector["candidate"]),
        reference_meta=meta(vector.get("ref_meta", {})),
        candidate_meta=meta(vector.get("cand_meta", {})),
    )
    found = verdict_dict(verdict)
    assert {name: found[name] for name in vector["expected"]} == vector["expected"]


def test_overlapping_turns_in_another_order_pass() -> None:
    """Nothing is lost when two overlapping speakers come the other way round."""
    first, second = (0.0, 2.0, "S01", "first voice here"), (1.0, 3.0, "S02", "second voice")
    verdict = parity(timed(first, second), timed(second, first))
    assert (verdict.gate, verdict.order_changed) == (Gate.PASS, True)
    assert (verdict.matched, verdict.max_drift_ms, verdict.word_errors.errors) == (2, 0, 0)
    assert [token.candidate_segment for token in verdict.tokens] == [1, 1, 1, 0, 0]


def test_overlapping_turns_of_the_same_words_in_another_order_pass() -> None:
    """Order is told by speakers and times where the words are the same."""
    first, second = (0.0, 2.0, "S01", "okay"), (1.0, 3.0, "S02", "okay")
    rest = (4.0, 5.0, "S01", "so we begin")
    verdict = parity(timed(first, second, rest), timed(second, first, rest))
    assert (verdict.gate, verdict.order_changed, verdict.relabel) == (Gate.PASS, True, ())


def test_turns_in_another_order_may_be_relabelled_too() -> None:
    """Both differences together change nothing that was said."""
    reference = timed((0.0, 2.0, "S01", "first voice here"), (1.0, 3.0, "S02", "second voice"))
    candidate = timed((1.0, 3.0, "S01", "second voice"), (0.0, 2.0, "S02", "first voice here"))
    verdict = parity(reference, candidate)
    assert verdict.gate is Gate.PASS
    assert dict(verdict.relabel) == {"S01": "S02", "S02": "S01"}


def test_turns_that_changed_their_times_with_their_order_fail() -> None:
    """The same words at other times are another recording of them."""
    reference = timed((0.0, 2.0, "S01", "first voice here"), (2.0, 4.0, "S02", "second voice"))
    candidate = timed((0.0, 2.0, "S02", "second voice"), (2.0, 4.0, "S01", "first voice here"))
    assert parity(reference, candidate).reasons == (Reason.DRIFT,)


def test_one_speaker_cannot_change_the_order_of_their_own_words() -> None:
    """Sentences of one speaker swapped are word errors."""
    reference = timed((0.0, 2.0, "S01", "one two"), (2.0, 4.0, "S01", "three four"))
    candidate = timed((0.0, 2.0, "S01", "three four"), (2.0, 4.0, "S01", "one two"))
    verdict = parity(reference, candidate)
    assert (verdict.order_changed, Reason.WORDS in verdict.reasons) == (False, True)


def test_strict_labels_refuse_a_relabelling() -> None:
    """The same model on the same sound may be asked for the same labels."""
    swapped = MEETING.renamed({"S01": "S02", "S02": "S01"})
    assert judged(swapped).gate is Gate.PASS
    assert judged(swapped, strict_labels=True).reasons == (Reason.LABELS,)


def test_a_speaker_split_in_two_fails() -> None:
    """A label that covers two speakers' share explains only one of them."""
    verdict = judged(changed(2, speaker="S04"))
    assert (verdict.reasons, verdict.speaker_token_errors) == ((Reason.SPEAKERS,), 3)


def test_words_and_timing_are_reported_apart() -> None:
    """A drift leaves the words safe, and a wrong word leaves the timing safe."""
    drifted, misheard = (
        judged(changed(2, end=8.58)),
        judged(changed(2, text="I have a numbers here")),
    )
    assert (drifted.words_safe, drifted.timing_safe) == (True, False)
    assert (misheard.words_safe, misheard.timing_safe) == (False, True)
    assert (drifted.max_drift_ms, drifted.reasons) == (680, (Reason.DRIFT,))


def test_nothing_is_called_safe_by_an_invalid_comparison() -> None:
    """A cut-off reference proves nothing, in no respect."""
    verdict = judged(MEETING, reference_meta=RunMeta(finish_reason="length"))
    assert (verdict.gate, verdict.reasons) == (Gate.INVALID, (Reason.REFERENCE_TRUNCATED,))
    assert (verdict.words_safe, verdict.timing_safe, verdict.closeness) == (None, None, None)


def test_a_candidate_that_ran_out_of_budget_fails() -> None:
    """Equal so far is not equal."""
    verdict = judged(MEETING, candidate_meta=RunMeta(finish_reason="length"))
    assert (verdict.gate, verdict.reasons) == (Gate.FAIL, (Reason.CANDIDATE_TRUNCATED,))


@pytest.mark.parametrize(("speech_end_s", "gate"), [(15.0, Gate.PASS), (15.01, Gate.INVALID)])
def test_a_reference_may_end_five_seconds_before_the_speech(
    speech_end_s: float, gate: Gate
) -> None:
    """A reference that stops earlier missed something."""
    assert judged(MEETING, reference_meta=RunMeta(speech_end_s=speech_end_s)).gate is gate


def test_a_run_that_does_not_repeat_its_own_text_is_invalid() -> None:
    """A repeat is compared with the transcript itself, too."""
    reference = Transcript(MEETING.segments, "[0.48][S01]good")
    verdict = parity(reference, reference, reference_meta=RunMeta(repeats=("[0.5][S01]good",)))
    assert verdict.reasons == (Reason.REFERENCE_REPEATS,)


def test_unknown_times_on_both_sides_are_equal() -> None:
    """A transcript equals itself even where the model wrote no stamp."""
    bare = timed((0.0, None, "S01", "alpha"), (None, 3.0, "S02", "beta"))
    assert parity(bare, bare).gate is Gate.PASS
    timeless = timed((None, None, "S01", "alpha"))
    assert parity(timeless, timeless).timing_safe is None


def test_a_time_that_only_one_side_knows_fails() -> None:
    """A lost stamp is a difference though no drift can be measured."""
    verdict = judged(changed(1, end=None))
    assert (verdict.reasons, verdict.timing_safe) == ((Reason.UNKNOWN_TIME,), False)


def test_a_reference_without_words_is_empty() -> None:
    """An annotation of speakers alone cannot be a reference for words."""
    silent = timed((0.0, 1.0, "S01", ""))
    assert parity(silent, MEETING).reasons == (Reason.EMPTY_REFERENCE, Reason.WORDS)


@pytest.mark.parametrize(
    ("candidate", "closeness"),
    [
        (MEETING, Closeness.IDENTICAL),
        (changed(0, end=2.11), Closeness.GATE),
        (changed(0, text="Good morning, everyone."), Closeness.RELAXED_WORDS),
        (changed(0, end=2.4), Closeness.WORDS_ONLY),
        (changed(0, text="good evening everyone"), Closeness.NEAR),
        (changed(1, text="who knows"), Closeness.DIFFERENT),
    ],
)
def test_the_ladder_of_closeness(candidate: Transcript, closeness: Closeness) -> None:
    """Each rung is named by the closest thing that still holds."""
    assert judged(candidate).closeness is closeness


@pytest.mark.parametrize(
    ("candidate", "first"),
    [
        (changed(3, end=10.06), (Reason.DRIFT, 3, 3)),
        (changed(0, speaker="S09"), (Reason.SPEAKERS, 0, 0)),
        (changed(1, text="we should begin with a budget"), (Reason.WORDS, 1, 1)),
        (changed(1, end=None), (Reason.UNKNOWN_TIME, 1, 1)),
        (changed(0, end=2.11), None),
    ],
)
def test_the_first_difference_is_found(candidate: Transcript, first: Any) -> None:
    """A failed comparison says where to look."""
    assert judged(candidate).first_difference == first


def test_a_moved_boundary_counts_once() -> None:
    """A word that changes its segment is one moved boundary; a split adds one."""
    shifted = timed(
        (0.48, 2.1, "S01", "good morning"),
        (2.6, 5.2, "S02", "everyone we should begin with the budget"),
        *((s.start, s.end, s.speaker, s.text) for s in MEETING.segments[2:]),
    )
    verdict = judged(shifted)
    assert (verdict.boundaries_lost, verdict.boundaries_added, verdict.boundaries_moved) == (
        1,
        1,
        1,
    )
    assert (verdict.reasons, verdict.matched) == ((Reason.SPEAKERS, Reason.REFLOW), 2)


def test_drifts_are_counted_by_size() -> None:
    """Every stamp of a matched segment stands in one bar."""
    drift = dict(judged(changed(3, start=8.15, end=12.0)).drift)
    assert (drift[0], drift[50], drift[None]) == (6, 1, 1)
    assert sum(drift.values()) == 8


def test_the_side_by_side_view_holds_both_transcripts() -> None:
    """Rows are marked with what happened and with the segments they come from."""
    rows = judged(changed(1, text="we really should start with the budget", speaker="S05")).tokens
    marked = [(r.edit, r.reference, r.candidate) for r in rows if r.edit is not Edit.EQUAL]
    assert marked == [(Edit.INSERT, None, "really"), (Edit.SUBSTITUTE, "begin", "start")]
    assert [r.reference for r in rows if r.reference] == MEETING.text.split()
    assert not any(row.speaker_differs for row in rows)
    again = judged(changed(0, speaker="S09")).tokens
    assert [r.reference for r in again if r.speaker_differs] == ["good", "morning", "everyone"]


@given(transcripts(min_turns=1))
def test_a_transcript_equals_itself(transcript: Transcript) -> None:
    """Identity passes, whatever is said."""
    verdict = parity(transcript, transcript)
    assert (verdict.gate, verdict.closeness) == (Gate.PASS, Closeness.IDENTICAL)
    assert verdict.matched == verdict.n_ref
    assert verdict.first_difference is None


@given(transcripts(min_turns=1), st.permutations(["S01", "S02", "S03"]))
def test_a_renamed_transcript_passes(transcript: Transcript, names: list[str]) -> None:
    """A one-to-one renaming never fails the gate."""
    renamed = transcript.renamed(dict(zip(["S01", "S02", "S03"], names, strict=True)))
    assert parity(transcript, renamed).gate is Gate.PASS


@given(transcripts(), transcripts())
def test_a_verdict_is_consistent(reference: Transcript, candidate: Transcript) -> None:
    """Counts add up, reasons follow from fields, and both transcripts are shown whole."""
    verdict = parity(reference, candidate)
    rows = verdict.tokens
    assert verdict.words_ok == (Reason.WORDS not in verdict.reasons)
    assert verdict.reflow in (None, Reason.REFLOW in verdict.reasons)
    assert (verdict.gate is Gate.PASS) == (not verdict.reasons)
    assert verdict.matched + verdict.segments_missing <= verdict.n_ref
    assert verdict.matched + verdict.segments_extra <= verdict.n_cand
    assert sum(r.edit is Edit.DELETE for r in rows) == verdict.word_errors.deletions
    assert sum(r.edit is Edit.INSERT for r in rows) == verdict.word_errors.insertions
    assert sum(r.speaker_differs for r in rows) == verdict.speaker_token_errors
    assert (verdict.first_difference is None) == (
        not set(verdict.reasons) - {Reason.EMPTY_REFERENCE}
    )


@settings(max_examples=50)
@given(transcripts(min_turns=1), transcripts(min_turns=1))
def test_gates_agree_on_the_way_back(one: Transcript, two: Transcript) -> None:
    """Exchanging the sides never turns a pass into a failure."""
    assert parity(one, two).gate is parity(two, one).gate
