"""Every measure of a hypothesis against a reference, each at its named level of rules.

Knows which measures make sense for which reference: without speaker labels there is nothing to say
of speakers, without times nothing of stamps.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.diarization_errors import Diarization, diarization_errors, speech_by_speaker
from moss_demo.scoring.normalize import Level, TextRules, guess_language
from moss_demo.scoring.speaker_errors import SpeakerErrors, cp_errors, tokens_by_speaker
from moss_demo.scoring.stamp_errors import StampErrors, stamp_errors
from moss_demo.scoring.streams import time_order
from moss_demo.scoring.text_errors import count_errors

COLLARS_MS = (0, 250)
"""Half widths of the unscored time around reference boundaries: none, and NIST's habit."""


@dataclass(frozen=True, slots=True)
class TextScore:
    """Text errors at one level of rules.

    Attributes:
        rules: what was forgiven.
        words: edits between words of the time-ordered texts, whoever spoke.
        characters: the same between characters.
        cp_words: edits between words speaker by speaker, None for an unlabelled reference.
        cp_characters: the same between characters.
    """

    rules: TextRules
    words: ErrorCounts
    characters: ErrorCounts
    cp_words: SpeakerErrors | None
    cp_characters: SpeakerErrors | None

    @property
    def delta_cp_words(self) -> float | None:
        """What speakers add to the word error rate."""
        return _difference(self.cp_words, self.words)

    @property
    def delta_cp_characters(self) -> float | None:
        """What speakers add to the character error rate.

        It can be negative: how overlapping turns interleave costs the plain rate and not this one.
        """
        return _difference(self.cp_characters, self.characters)


@dataclass(frozen=True, slots=True)
class SpeakerCount:
    """Labelled speakers on both sides; `error` is positive for speakers too many."""

    reference: int
    hypothesis: int

    @property
    def error(self) -> int:
        """Speakers found less speakers there are."""
        return self.hypothesis - self.reference


@dataclass(frozen=True, slots=True)
class Score:
    """All measures of one clip; the parts of several clips add up.

    Attributes:
        language: language of the `language` level, given or guessed; None where unknown.
        texts: text errors from the strictest level to the most lenient.
        diarization: who spoke when by collar in milliseconds; empty without labels and times.
        speakers: number of speakers, None for an unlabelled reference.
        stamps: errors of time stamps.
    """

    language: str | None
    texts: tuple[TextScore, ...]
    diarization: tuple[tuple[int, Diarization], ...]
    speakers: SpeakerCount | None
    stamps: StampErrors


def score(
    reference: Transcript,
    hypothesis: Transcript,
    *,
    language: str | None = None,
    levels: Sequence[Level] = tuple(Level),
) -> Score:
    """Measure a hypothesis in every way that the reference allows.

    Args:
        reference: the truth.
        hypothesis: what is judged.
        language: code such as `en`, or None to guess it from the reference.
        levels: what to forgive, from the strictest level to the most lenient.
    """
    spoken = language or guess_language(segment.text for segment in reference.segments)
    named = any(speaker is not None for speaker in reference.speakers)
    timed = bool(speech_by_speaker(reference))
    collars = COLLARS_MS if named and timed else ()
    return Score(
        language=spoken,
        texts=tuple(
            _text_score(reference, hypothesis, TextRules(level, spoken), named) for level in levels
        ),
        diarization=tuple(
            (collar, diarization_errors(reference, hypothesis, collar_ms=collar))
            for collar in collars
        ),
        speakers=SpeakerCount(_labelled(reference), _labelled(hypothesis)) if named else None,
        stamps=stamp_errors(reference, hypothesis),
    )


def _text_score(
    reference: Transcript, hypothesis: Transcript, rules: TextRules, named: bool
) -> TextScore:
    left = [rules.words(segment.text) for segment in reference.segments]
    right = [rules.words(segment.text) for segment in hypothesis.segments]
    letters = [list("".join(words)) for words in left]
    typed = [list("".join(words)) for words in right]
    return TextScore(
        rules=rules,
        words=count_errors(_joined(reference, left), _joined(hypothesis, right)),
        characters=count_errors(_joined(reference, letters), _joined(hypothesis, typed)),
        cp_words=_cp(reference, hypothesis, left, right) if named else None,
        cp_characters=_cp(reference, hypothesis, letters, typed) if named else None,
    )


def _joined(transcript: Transcript, tokens: Sequence[Sequence[str]]) -> list[str]:
    """Concatenate the segments' tokens in time order."""
    return [token for index in time_order(transcript.segments) for token in tokens[index]]


def _cp(
    reference: Transcript,
    hypothesis: Transcript,
    left: Sequence[Sequence[str]],
    right: Sequence[Sequence[str]],
) -> SpeakerErrors:
    return cp_errors(
        tokens_by_speaker(reference.segments, left), tokens_by_speaker(hypothesis.segments, right)
    )


def _difference(cp: SpeakerErrors | None, plain: ErrorCounts) -> float | None:
    if cp is None or cp.counts.rate is None or plain.rate is None:
        return None
    return cp.counts.rate - plain.rate


def _labelled(transcript: Transcript) -> int:
    return sum(speaker is not None for speaker in transcript.speakers)
