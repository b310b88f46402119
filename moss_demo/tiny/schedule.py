"""When to change what: learning rates and losses as functions of the share of training done.

Training is bounded by time, not by steps, because a machine is lent by the minute; a run may cover
only a part of the way from 0 to 1 and a later one the rest. Pure arithmetic.
"""

from dataclasses import dataclass

DECODER_RATE = 1e-3
ENCODER_RATE = 1.2e-4
"""Small: the encoder already hears; larger rates made it forget human speech."""

WARM_UP_STEPS = 300
HELD_UNTIL = 0.2
LAST_FACTOR = 0.01
CTC_FADES_AT = 0.75
SHORT_ONLY_UNTIL = 0.06
"""The first minute sees only windows of 30 s: stamps and turns come first, memory later."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """One run's part of the training.

    Attributes:
        seconds: of optimizer steps, compilation not counted.
        last: share of the whole training done after this run.
    """

    seconds: float
    last: float = 1.0

    def progress(self, first: float, elapsed_s: float) -> float:
        """Return the share done after that many seconds of a run that began with `first` done."""
        return first + (self.last - first) * min(1.0, elapsed_s / self.seconds)


def rate_factor(progress: float, step: int) -> float:
    """Return the factor on learning rates: warm up, hold, fall in a line nearly to zero."""
    warm = min(1.0, (step + 1) / WARM_UP_STEPS)
    falling = (1 - progress) / (1 - HELD_UNTIL)
    return warm * max(LAST_FACTOR, min(1.0, falling))


def encoder_moves(step: int) -> bool:
    """Keep the encoder still while the new decoder is still random noise to it."""
    return step >= WARM_UP_STEPS


def ctc_share(progress: float) -> float:
    """Halve the CTC loss for the last quarter: it helps to find words, less to choose them."""
    return 1.0 if progress < CTC_FADES_AT else 0.5
