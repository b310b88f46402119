"""The closed set of what can be doubtful about a transcript. Knows nothing of how it is found."""

from dataclasses import dataclass
from enum import StrEnum


class DiagnosticKind(StrEnum):
    """What can be doubtful about a transcript."""

    NO_SPEECH = "no_speech"
    STOPPED = "stopped"
    LENGTH_STOP = "length_stop"
    EMPTY = "empty"
    OPEN_END = "open_end"
    EARLY_END = "early_end"
    LOOP = "loop"
    SINGLE_CHARACTER = "single_character"
    BEYOND_AUDIO = "beyond_audio"
    END_BEFORE_START = "end_before_start"
    NEGATIVE_START = "negative_start"
    TEXT_ON_SILENCE = "text_on_silence"
    NO_MARKUP = "no_markup"
    NO_TIMES = "no_times"
    MISSING_TIMES = "missing_times"
    MISSING_LABELS = "missing_labels"
    LABEL_REPLACED = "label_replaced"
    PREAMBLE = "preamble"

    @property
    def is_information(self) -> bool:
        """Whether nothing is wrong: the person asked for it, or there was nothing to hear."""
        return self in (DiagnosticKind.NO_SPEECH, DiagnosticKind.STOPPED)


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to know before trusting the transcript.

    Attributes:
        kind: what it is about.
        message: plain sentences with figures: what was seen, what it may mean, what to do.
        segments: indices of the segments it is about; empty when it is about the whole.
    """

    kind: DiagnosticKind
    message: str
    segments: tuple[int, ...] = ()
