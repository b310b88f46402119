"""What a person asks of the model: a clip, a prompt and how to decode."""

from dataclasses import dataclass, field

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Span
from moss_demo.errors import RequestError

MIN_TEMPERATURE = 0.01
"""Scores are divided by it: by far less they overflow, and the sampler fails on the device."""


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """How the next token is chosen and when to stop.

    Attributes:
        max_new_tokens: token budget, or None for one derived from the duration.
        temperature: 0 for greedy search, else the softmax temperature of sampling.
        top_p: nucleus mass kept when sampling.
        seed: seed of the sampler.
    """

    max_new_tokens: int | None = None
    temperature: float = 0.0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse impossible combinations.

        Raises:
            RequestError: a value lies outside its range, or sampling is asked for in part.
        """
        if self.max_new_tokens is not None and self.max_new_tokens < 1:
            raise RequestError(
                f"The token budget must be at least 1, not {self.max_new_tokens}; "
                "leave it empty to derive it from the duration."
            )
        if self.temperature != 0.0 and not MIN_TEMPERATURE <= self.temperature <= 2.0:
            raise RequestError(
                f"The temperature must be 0 or lie in {MIN_TEMPERATURE} to 2, "
                f"not {self.temperature:g}."
            )
        if not 0 <= self.seed < 1 << 63:
            raise RequestError(f"The seed must be 0 or more and below 2^63, not {self.seed}.")
        if not 0.0 < self.top_p <= 1.0:
            raise RequestError(f"top_p must lie above 0 and at most at 1, not {self.top_p:g}.")
        if self.temperature == 0.0 and self.top_p != 1.0:
            raise RequestError("top_p needs sampling; set a temperature above 0 or leave it at 1.")


@dataclass(frozen=True, slots=True)
class Request:
    """One transcription to be done.

    Attributes:
        clip: the decoded recording.
        prompt: instruction text, or None for the checkpoint's own default.
        hotwords: names and terms the transcript is likely to hold.
        options: how to decode.
        speech_gate: look for speech first and answer "no speech found" without model work.
        speech: what an earlier look for speech found, so that it is not done again.
    """

    clip: AudioClip
    prompt: str | None = None
    hotwords: tuple[str, ...] = ()
    options: DecodeOptions = field(default_factory=DecodeOptions)
    speech_gate: bool = True
    speech: tuple[Span, ...] | None = None
