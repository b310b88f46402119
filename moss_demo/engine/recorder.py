"""Turns the tokens of a run into its events. Every decode path feeds one of these.

Knows nothing of the model: tokens come in, text goes through the parser, events go out with the
seconds since the request.
"""

from time import perf_counter

from moss_demo.domain.events import (
    Event,
    Finished,
    PhaseTimes,
    SegmentDone,
    Span,
    Started,
    StopReason,
    TextDelta,
)
from moss_demo.domain.parser import TranscriptParser
from moss_demo.engine.detokenizer import Detokenizer
from moss_demo.engine.worker import Emit


class Recorder:
    """Collects a run's tokens and emits its events in order."""

    def __init__(
        self,
        emit: Emit[Event],
        detokenizer: Detokenizer,
        end_ids: frozenset[int],
        duration_s: float,
    ) -> None:
        """Start the clock of the run."""
        self._started_at = perf_counter()
        self._emit = emit
        self._detokenizer = detokenizer
        self._end_ids = end_ids
        self._duration_s = duration_s
        self._parser = TranscriptParser(duration_s)
        self._token_ids: list[int] = []
        self._pieces: list[str] = []
        self._decoding_at = 0.0
        self._first_token_at: float | None = None

    def at(self) -> float:
        """Return the seconds since the request."""
        return perf_counter() - self._started_at

    def start(
        self,
        *,
        prompt_tokens: int,
        audio_tokens: int,
        max_new_tokens: int,
        speech: tuple[Span, ...] | None,
    ) -> None:
        """Emit `Started`."""
        self._emit(
            Started(
                self.at(), self._duration_s, prompt_tokens, audio_tokens, max_new_tokens, speech
            )
        )

    def decoding_begins(self) -> None:
        """Mark the end of encoding: prefill is counted from here to the first token."""
        self._decoding_at = self.at()

    def push(self, token_id: int) -> None:
        """Take one token as it was chosen, the end token included."""
        self._token_ids.append(token_id)
        if self._first_token_at is None:
            self._first_token_at = self.at()
        self._emit_text(self._detokenizer.push(token_id), (token_id,))

    def finish(self, phases: PhaseTimes, peak_memory_bytes: int | None, source: str) -> None:
        """Emit what was held back, then `Finished`.

        Args:
            phases: times before decoding; prefill and decode are filled in here.
            peak_memory_bytes: largest memory seen, or None.
            source: what measured it.
        """
        decoded_at = self.at()
        first_at = self._first_token_at or decoded_at
        self._emit_text(self._detokenizer.flush(), ())
        for segment in self._parser.close():
            self._emit(SegmentDone(self.at(), segment))
        ended = bool(self._token_ids) and self._token_ids[-1] in self._end_ids
        self._emit(
            Finished(
                at=self.at(),
                text="".join(self._pieces),
                token_ids=tuple(self._token_ids),
                stop=StopReason.END_OF_TEXT if ended else StopReason.LENGTH,
                complete=self._parser.complete,
                phases=PhaseTimes(
                    speech_s=phases.speech_s,
                    features_s=phases.features_s,
                    encoder_s=phases.encoder_s,
                    prefill_s=first_at - self._decoding_at,
                    decode_s=decoded_at - first_at,
                ),
                peak_memory_bytes=peak_memory_bytes,
                memory_source=source,
            )
        )

    def finish_without_speech(self, speech_s: float) -> None:
        """Emit `Finished` for a recording without speech: nothing was decoded."""
        self._emit(
            Finished(self.at(), "", (), StopReason.NO_SPEECH, True, PhaseTimes(speech_s=speech_s))
        )

    def _emit_text(self, text: str, token_ids: tuple[int, ...]) -> None:
        if not text and not token_ids:
            return
        self._pieces.append(text)
        done = self._parser.feed(text)
        for segment in done:
            self._emit(SegmentDone(self.at(), segment))
        self._emit(TextDelta(self.at(), text, token_ids, self._parser.open_segment))
