"""The parity gate in a few words, for tables that have no room for a whole verdict."""

from moss_demo.domain.events import Run
from moss_demo.scoring.parity import parity
from moss_demo.scoring.sides import side_of
from moss_demo.scoring.verdict import Gate


def judge(reference: Run, candidate: Run) -> str:
    """Judge the transcript of a run by that of another one on the same recording."""
    first, second = side_of(reference), side_of(candidate)
    verdict = parity(
        first.transcript,
        second.transcript,
        reference_meta=first.meta,
        candidate_meta=second.meta,
    )
    if verdict.gate is Gate.PASS:
        drift = verdict.max_drift_ms
        return "pass" if not drift else f"pass, drift {drift} ms"
    reasons = ", ".join(reason.value for reason in verdict.reasons)
    words = "words safe" if verdict.words_safe else "words differ"
    return f"{verdict.gate.value}: {reasons} ({words})"
