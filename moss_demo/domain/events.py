"""The stream of a run and the pure fold that turns it into a result.

An engine yields `Started`, then any number of `TextDelta` and `SegmentDone`, then `Finished`. The
page, the command line and every measurement read this one stream. A stream that ends without
`Finished` was stopped: what the fold holds by then is the partial result.
"""

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TypeAlias

from moss_demo.domain.transcript import Segment, Transcript

Span: TypeAlias = tuple[float, float]
"""Start and end in seconds."""


class StopReason(StrEnum):
    """Why a finished run ended."""

    END_OF_TEXT = "end_of_text"
    LENGTH = "length"
    NO_SPEECH = "no_speech"


@dataclass(frozen=True, slots=True)
class Started:
    """The audio is encoded and the prompt is known; decoding begins.

    Attributes:
        at: seconds since the request.
        duration_s: length of the recording.
        prompt_tokens: length of the prompt, audio tokens included.
        audio_tokens: audio positions within the prompt.
        max_new_tokens: token budget after clamping to the context that is left.
        speech: where speech was found, or None when the gate was switched off.
    """

    at: float
    duration_s: float
    prompt_tokens: int
    audio_tokens: int
    max_new_tokens: int
    speech: tuple[Span, ...] | None


@dataclass(frozen=True, slots=True)
class TextDelta:
    """New text of the model, exactly as generated.

    Attributes:
        at: seconds since the request.
        text: characters added to the raw text; may be empty inside a multi-byte character.
        token_ids: tokens behind it.
        open_segment: the segment being written, or None between segments.
    """

    at: float
    text: str
    token_ids: tuple[int, ...]
    open_segment: Segment | None


@dataclass(frozen=True, slots=True)
class SegmentDone:
    """A segment that later text cannot change any more."""

    at: float
    segment: Segment


@dataclass(frozen=True, slots=True)
class PhaseTimes:
    """Device-synchronized seconds by phase; they add up to slightly less than the run.

    Attributes:
        speech_s: speech gate.
        features_s: log-mel spectrogram.
        encoder_s: audio encoder and projector.
        prefill_s: prompt pass up to the first token.
        decode_s: every further token.
    """

    speech_s: float = 0.0
    features_s: float = 0.0
    encoder_s: float = 0.0
    prefill_s: float = 0.0
    decode_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Finished:
    """The model ended by itself, ran out of budget, or had nothing to hear.

    Attributes:
        at: seconds since the request.
        text: raw text of the whole run.
        token_ids: every generated token, the final end token included.
        stop: why it ended.
        complete: the text ends after an end stamp with nothing pending.
        phases: where the time went.
        peak_memory_bytes: largest memory seen, or None where nothing can tell.
        memory_source: what was asked, for the label beside the figure.
    """

    at: float
    text: str
    token_ids: tuple[int, ...]
    stop: StopReason
    complete: bool = True
    phases: PhaseTimes = field(default_factory=PhaseTimes)
    peak_memory_bytes: int | None = None
    memory_source: str = "n/a"


Event: TypeAlias = Started | TextDelta | SegmentDone | Finished


@dataclass(frozen=True, slots=True)
class Run:
    """Everything known of a run so far; `advance` makes the next value.

    Attributes:
        clip_name: what the person calls the recording.
        clip_digest: `AudioClip.digest` of the sound that was transcribed.
        duration_s: length of the recording.
        segments: finished segments in emission order.
        open_segment: the segment being written.
        raw: text generated so far.
        token_ids: tokens generated so far.
        started: the first event, once seen.
        first_token_at: seconds from the request to the first token.
        last_token_at: seconds from the request to the newest token.
        finished: the last event, or None while running and after a stop.
    """

    clip_name: str
    clip_digest: str
    duration_s: float
    segments: tuple[Segment, ...] = ()
    open_segment: Segment | None = None
    raw: str = ""
    token_ids: tuple[int, ...] = ()
    started: Started | None = None
    first_token_at: float | None = None
    last_token_at: float | None = None
    finished: Finished | None = None

    @property
    def transcript(self) -> Transcript:
        """The segments so far; the one being written counts and makes it incomplete."""
        open_segments = () if self.open_segment is None else (self.open_segment,)
        complete = self.finished is not None and self.finished.complete
        return Transcript(self.segments + open_segments, self.raw, complete)

    @property
    def covered_s(self) -> float:
        """Latest time stamp written so far, bounded by the recording: what progress shows."""
        stamps = [t for s in self.transcript.segments for t in (s.start, s.end) if t is not None]
        return min(self.duration_s, max(stamps, default=0.0))

    @property
    def tokens_per_s(self) -> float | None:
        """Decode speed after the first token: (n - 1) / (last - first)."""
        if self.first_token_at is None or self.last_token_at is None:
            return None
        elapsed_s = self.last_token_at - self.first_token_at
        return (len(self.token_ids) - 1) / elapsed_s if elapsed_s > 0 else None

    @property
    def rtf(self) -> float | None:
        """Real-time factor: seconds of work by seconds of audio, once finished."""
        return None if self.finished is None else self.finished.at / self.duration_s


def advance(run: Run, event: Event) -> Run:
    """Fold one event into the run."""
    match event:
        case Started():
            return replace(run, started=event)
        case TextDelta():
            first_at = event.at if run.first_token_at is None else run.first_token_at
            return replace(
                run,
                raw=run.raw + event.text,
                token_ids=run.token_ids + event.token_ids,
                open_segment=event.open_segment,
                first_token_at=first_at if event.token_ids else run.first_token_at,
                last_token_at=event.at if event.token_ids else run.last_token_at,
            )
        case SegmentDone():
            return replace(run, segments=(*run.segments, event.segment), open_segment=None)
        case Finished():
            return replace(run, finished=event, raw=event.text, token_ids=event.token_ids)
