"""Finds transcripts that end before the speech does. Never guesses what is missing."""

from collections.abc import Iterator

from moss_demo.domain.diagnostics.kinds import Diagnostic, DiagnosticKind
from moss_demo.domain.diagnostics.wording import clock
from moss_demo.domain.events import Run, Span
from moss_demo.domain.transcript import Transcript

EARLY_END_S = 5.0
"""Speech this long after the last stamp is more than a pause before the end."""

BEYOND_S = 0.5
"""A stamp at most this far after the end of the audio is rounding."""


def no_speech(run: Run) -> Diagnostic:
    """Tell that the speech gate ended the run."""
    return Diagnostic(
        DiagnosticKind.NO_SPEECH,
        f"No speech was found in {clock(run.duration_s)} of audio, so the model was not asked. "
        "If somebody does speak, switch the speech gate off and run again.",
    )


def stopped(run: Run) -> Diagnostic:
    """Tell how far a run came before the person stopped it."""
    return Diagnostic(
        DiagnosticKind.STOPPED,
        f"The run was stopped at {clock(run.covered_s)} of {clock(run.duration_s)}; "
        "what comes after is not transcribed. Run again for the rest.",
    )


def length_stop(run: Run) -> Diagnostic:
    """Tell how far the token budget reached."""
    return Diagnostic(
        DiagnosticKind.LENGTH_STOP,
        f"The model used up its {len(run.token_ids):,} tokens at {clock(run.covered_s)} of "
        f"{clock(run.duration_s)}; what comes after is missing. Raise the token budget, or "
        "transcribe the rest as a file of its own.",
    )


def empty(transcript: Transcript, speech: tuple[Span, ...] | None) -> Diagnostic:
    """Tell that there is no text at all."""
    heard = f", although speech was found until {clock(_end_of(speech))}" if speech else ""
    seen = "stamps or labels without words" if transcript.raw.strip() else "nothing"
    return Diagnostic(
        DiagnosticKind.EMPTY,
        f"The model wrote {seen}{heard}. Listen whether somebody speaks, and try another prompt "
        "or precision.",
    )


def unfinished(
    transcript: Transcript, duration_s: float | None, speech: tuple[Span, ...] | None
) -> Iterator[Diagnostic]:
    """Find an open end, and speech or audio that goes on after the last stamp.

    A transcript without any stamp says nothing here: what it lacks is markup.
    """
    stamps = [
        time
        for segment in transcript.segments
        for time in (segment.start, segment.end)
        if time is not None
    ]
    if not stamps:
        return
    if not transcript.complete:
        yield _open_end(transcript)
    limit_s = float("inf") if duration_s is None else duration_s + BEYOND_S
    reached_s = max((time for time in stamps if time <= limit_s), default=0.0)
    if speech:
        yield from _speech_after(reached_s, _end_of(speech))
    elif speech is None and duration_s is not None:
        yield from _audio_after(reached_s, duration_s)


def _open_end(transcript: Transcript) -> Diagnostic:
    last = transcript.segments[-1]
    if last.end is not None:
        seen = f"The text breaks off after {clock(last.end)}, where another segment had begun"
    elif last.start is not None:
        seen = f"The text breaks off inside the last segment, which starts at {clock(last.start)}"
    else:
        seen = "The text breaks off inside the last segment"
    return Diagnostic(
        DiagnosticKind.OPEN_END,
        f"{seen}; words may be missing. Compare with the raw text, and run again with a larger "
        "token budget.",
        (len(transcript.segments) - 1,),
    )


def _speech_after(reached_s: float, speech_end_s: float) -> Iterator[Diagnostic]:
    missing_s = speech_end_s - reached_s
    if missing_s > EARLY_END_S:
        yield Diagnostic(
            DiagnosticKind.EARLY_END,
            f"The last stamp is {clock(reached_s)}, but speech was found until "
            f"{clock(speech_end_s)}: up to {clock(missing_s)} of it may be missing. A larger token "
            "budget rarely helps here; transcribe the rest as a file of its own.",
        )


def _audio_after(reached_s: float, duration_s: float) -> Iterator[Diagnostic]:
    rest_s = duration_s - reached_s
    if rest_s > EARLY_END_S:
        yield Diagnostic(
            DiagnosticKind.EARLY_END,
            f"The last stamp is {clock(reached_s)} and the recording ends at {clock(duration_s)}; "
            f"whether its last {clock(rest_s)} hold speech was not checked. Listen to the end, or "
            "run again with the speech gate on.",
        )


def _end_of(speech: tuple[Span, ...]) -> float:
    return max(end for _, end in speech)
