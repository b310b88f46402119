"""When to change what: learning rates and losses as functions of the share of training done.

Training is bounded by time, not by steps, because a machine is lent by the minute; a run may cover
only a part of the way from 0 to 1 and a later one the rest. Pure arithmetic.
"""

from collections.abc import Mapping
from dataclasses import dataclass

LAST_FACTOR = 0.01
CTC_FADES_AT = 0.75


@dataclass(frozen=True, slots=True)
class Stage:
    """What tells the stages of the recipe apart.

    Attributes:
        decoder_rate: highest learning rate of projector, decoder and heads.
        encoder_rate: highest learning rate of the encoder.
        warm_up_steps: until the rates are reached; the encoder keeps still as long.
        held_until: share of the training after which the rates fall.
        short_only_until: share of the training that sees only windows of 30 s: stamps and turns
            come first, memory later.
        word_noise: share of word tokens replaced in the decoder's input, so that it trusts the
            sound more than its last words. Its price: on unclear speech some pieces come twice
            ("subjectject").
        kinds: how often each kind of voice is cast. Natural voices carry the open vocabulary,
            classic ones the number of speakers, people the sound of rooms and breath that no
            synthesizer has.
        afresh: begin with Whisper's own encoder once more, under the decoder that there is.
        kept: share, in what is saved, of the checkpoint that the stage went on from.
        whispered: share, in the encoder that is saved, of Whisper's own weights. Both pull back a
            little what was tuned (WiSE-FT, Wortsman et al. 2022).
        likeness: weight of the loss that keeps what Whisper's own encoder says of the same sound
            readable from the trained one by a linear map. Whisper heard people for 680,000 hours,
            the recipe has one; it lacks the voices, which the trained encoder may add.
        bridge: the largest share of Whisper's weights in the encoder of a step; the share is
            drawn anew for each, its square root evenly. Words must then be told from what Whisper
            hears as well, and so from what it hears in people; the losses of voices count the less
            the more of Whisper there is, for it lacks them.
    """

    decoder_rate: float
    encoder_rate: float
    warm_up_steps: int
    held_until: float
    short_only_until: float
    word_noise: float
    kinds: Mapping[str, float]
    afresh: bool = False
    kept: float = 0.0
    whispered: float = 0.0
    likeness: float = 0.0
    bridge: float = 0.0


TRAINING = Stage(
    decoder_rate=1e-3,
    encoder_rate=1.2e-4,
    warm_up_steps=300,
    held_until=0.2,
    short_only_until=0.06,
    word_noise=0.06,
    kinds={"natural": 0.56, "flite": 0.11, "espeak": 0.15, "human": 0.18},
    whispered=0.15,
)
"""From Whisper's encoder and a random decoder.

`whispered`: on 20 clips a row 0.15 took word errors from 53.7 to 45.6 % (people reading), 15.2 to
10.2 % (their digits) and 4.6 to 3.2 % (natural voices), and cost 0.3 points where voices or
sentences were new."""

HEARING = Stage(
    decoder_rate=5e-4,
    encoder_rate=1.2e-4,
    warm_up_steps=100,
    held_until=0.3,
    short_only_until=0.0,
    word_noise=0.0,
    kinds={"natural": 0.48, "flite": 0.14, "espeak": 0.16, "human": 0.22},
    afresh=True,
    kept=0.5,
    likeness=3.0,
)
"""Whisper's encoder once more, held near to what it was, and books besides meetings to read.

It hears people whom it never heard, and loses a little on the voices it trained with. Word errors
on 20 clips a row, people reading / flite and espeak-ng / natural voices: before 47.1 / 4.9 / 2.0,
after 40.5 / 4.9 / 3.0, with `kept` 39.6 / 4.3 / 1.7.
"""

BRIDGING = Stage(
    decoder_rate=5e-4,
    encoder_rate=8e-5,
    warm_up_steps=100,
    held_until=0.3,
    short_only_until=0.0,
    word_noise=0.0,
    kinds={"natural": 0.42, "flite": 0.13, "espeak": 0.23, "human": 0.22},
    kept=0.6,
    whispered=0.45,
    bridge=1.0,
)
"""Every step hears with other weights between the trained encoder's and Whisper's own.

Alone it makes the best of the voices it trains with and forgets people: with `whispered` 0.3 words
wrong were 52.9 % (people reading), 2.8 (flite and espeak-ng) and 3.1 (natural voices) on 100 clips
a row. But what it leaves stands well between others: with `kept` 0.6 the same were, at `whispered`
0.45, 32.8, 4.6 and 2.3, where neither it nor what it began with came under 36 for people. Read by
Whisper's encoder itself, which nothing else here can do: 31.0 for people, with 83 % right speakers.
"""

STAGES = {"training": TRAINING, "hearing": HEARING, "bridging": BRIDGING}
"""By name, in their order; what ships is the last one's."""


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


def rate_factor(stage: Stage, progress: float, step: int) -> float:
    """Return the factor on learning rates: warm up, hold, fall in a line nearly to zero."""
    warm = min(1.0, (step + 1) / stage.warm_up_steps)
    falling = (1 - progress) / (1 - stage.held_until)
    return warm * max(LAST_FACTOR, min(1.0, falling))


def encoder_factor(stage: Stage, progress: float, step: int) -> float:
    """Return the same for the encoder; 0 while the new decoder is still random noise to it."""
    return rate_factor(stage, progress, step) if step >= stage.warm_up_steps else 0.0


def ctc_share(progress: float) -> float:
    """Halve the CTC loss for the last quarter: it helps to find words, less to choose them."""
    return 1.0 if progress < CTC_FADES_AT else 0.5
