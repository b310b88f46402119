"""Says what is doubtful about a transcript, in sentences for the person who reads it.

Nothing is changed in the transcript or left out of it. Knows no more of the model and the audio
than the run says.
"""

from moss_demo.domain.diagnostics import endings
from moss_demo.domain.diagnostics.kinds import Diagnostic, DiagnosticKind
from moss_demo.domain.diagnostics.markup import unmarked
from moss_demo.domain.diagnostics.placement import misplaced
from moss_demo.domain.diagnostics.repetition import repeated
from moss_demo.domain.events import Run, Span, StopReason
from moss_demo.domain.transcript import Transcript

__all__ = ["Diagnostic", "DiagnosticKind", "diagnose", "diagnose_transcript"]

_KNOWN_WHEN_STOPPED = (DiagnosticKind.OPEN_END, DiagnosticKind.EARLY_END, DiagnosticKind.EMPTY)


def diagnose(run: Run) -> tuple[Diagnostic, ...]:
    """Return what is doubtful about a finished or stopped run.

    A run that was stopped or ran out of tokens ends early; that is said once. The indices are
    those of `run.transcript.segments`.
    """
    if run.finished is not None and run.finished.stop is StopReason.NO_SPEECH:
        return (endings.no_speech(run),)
    speech = None if run.started is None else run.started.speech
    found = diagnose_transcript(run.transcript, run.duration_s, speech)
    if run.finished is None:
        rest = (one for one in found if one.kind not in _KNOWN_WHEN_STOPPED)
        return (endings.stopped(run), *rest)
    if run.finished.stop is StopReason.LENGTH:
        rest = (one for one in found if one.kind is not DiagnosticKind.EARLY_END)
        return (endings.length_stop(run), *rest)
    return found


def diagnose_transcript(
    transcript: Transcript,
    duration_s: float | None = None,
    speech: tuple[Span, ...] | None = None,
) -> tuple[Diagnostic, ...]:
    """Return what is doubtful about a transcript by itself.

    Args:
        transcript: what the parser read.
        duration_s: length of the recording, or None when it is not known.
        speech: where speech was found, or None when nobody looked for it.
    """
    segments = transcript.segments
    if not segments:
        return (endings.empty(transcript, speech),)
    return (
        *endings.unfinished(transcript, duration_s, speech),
        *repeated(segments),
        *misplaced(segments, duration_s, speech),
        *unmarked(segments),
    )
