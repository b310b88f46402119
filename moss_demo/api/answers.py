"""What a program gets: finished transcripts, and the text while it grows. Pure."""

import json
from typing import Any

from moss_demo.api.form import AnswerFormat, Ask
from moss_demo.domain.events import Event, Run, SegmentDone, TextDelta
from moss_demo.domain.exports import ExportFormat, export
from moss_demo.domain.exports.cleaning import UNKNOWN_SPEAKER
from moss_demo.domain.transcript import Segment

MEDIA_TYPES = {
    AnswerFormat.TEXT: "text/plain",
    AnswerFormat.SRT: "text/plain",
    AnswerFormat.VTT: "text/vtt",
}
"""Types of the answers that are no JSON."""

_EXPORTS = {
    AnswerFormat.SRT: ExportFormat.SRT,
    AnswerFormat.VTT: ExportFormat.VTT,
    AnswerFormat.VERBOSE_JSON: ExportFormat.VERBOSE_JSON,
    AnswerFormat.DIARIZED_JSON: ExportFormat.DIARIZED_JSON,
}


def answer(run: Run, ask: Ask) -> str:
    """Write a finished run in the form that was asked for."""
    match ask.answer:
        case AnswerFormat.JSON:
            return json.dumps({"text": words(run), "usage": usage(run)}, ensure_ascii=False)
        case AnswerFormat.TEXT:
            return f"{words(run)}\n"
    written = export(
        run.transcript, _EXPORTS[ask.answer], name=run.clip_name, duration_s=run.duration_s
    )
    if ask.answer is AnswerFormat.VERBOSE_JSON and ask.language:
        return json.dumps(json.loads(written) | {"language": ask.language}, ensure_ascii=False)
    return written


def words(run: Run) -> str:
    """Return all spoken words, without speakers and times."""
    return " ".join(segment.text for segment in run.transcript.segments)


def usage(run: Run) -> dict[str, Any]:
    """Count tokens as OpenAI does."""
    asked = 0 if run.started is None else run.started.prompt_tokens
    audio = 0 if run.started is None else run.started.audio_tokens
    written = len(run.token_ids)
    return {
        "type": "tokens",
        "input_tokens": asked,
        "input_token_details": {"audio_tokens": audio, "text_tokens": asked - audio},
        "output_tokens": written,
        "total_tokens": asked + written,
    }


class Stream:
    """Turns the events of a run into those of OpenAI's transcription stream.

    The deltas, one after the other, are the text at the end: words are sent once and never taken
    back, because the text of an open segment only grows.
    """

    def __init__(self, ask: Ask) -> None:
        """Start before the first word."""
        self._with_segments = ask.answer is AnswerFormat.DIARIZED_JSON
        self._deltas: list[str] = []
        self._sent_characters = 0  # of the segment in work
        self._segments = 0
        self._ended_s = 0.0

    def events(self, event: Event) -> list[dict[str, Any]]:
        """Return what an event adds."""
        match event:
            case TextDelta(open_segment=Segment() as segment):
                return self._grown(segment)
            case SegmentDone():
                grown = self._grown(event.segment)
                self._sent_characters = 0
                self._segments += 1
                return grown + ([self._segment(event.segment)] if self._with_segments else [])
        return []

    def end(self, run: Run) -> dict[str, Any]:
        """Return the last event."""
        text = "".join(self._deltas)
        return {"type": "transcript.text.done", "text": text, "usage": usage(run)}

    def _grown(self, segment: Segment) -> list[dict[str, Any]]:
        delta = segment.text[self._sent_characters :]
        if not delta:
            return []
        if self._deltas and not self._sent_characters:
            delta = f" {delta}"
        self._sent_characters = len(segment.text)
        self._deltas.append(delta)
        return [{"type": "transcript.text.delta", "delta": delta}]

    def _segment(self, segment: Segment) -> dict[str, Any]:
        start = self._ended_s if segment.start is None else segment.start
        self._ended_s = start if segment.end is None else segment.end
        return {
            "type": "transcript.text.segment",
            "id": f"seg_{self._segments - 1}",
            "start": start,
            "end": self._ended_s,
            "speaker": segment.speaker or UNKNOWN_SPEAKER,
            "text": segment.text,
        }
