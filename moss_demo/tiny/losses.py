"""The losses of the recipe and why each is there.

Knows the model's parts and a batch on the device; knows no data, no schedule and no optimizer.
"""

from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812  # the name PyTorch's own documentation uses
from torch import Tensor, nn
from transformers import MossTranscribeDiarizeForConditionalGeneration

from moss_demo.tiny.layout import NO_LABEL, Layout
from moss_demo.tiny.windows import Size

SPEAKER_DIGIT_WEIGHT = 6.0
"""Of the one token in twenty that names the speaker. With weight 1 the right speaker came for 79 to
89 % of words, with 6 and the two speaker losses for 97 to 100 %."""

CTC_WEIGHT = 0.4
"""Connectionist temporal classification on the projector's output, read by the tied head, forces
words into the audio embeddings before the decoder can read them: 17 % word errors after 35 s."""

FRAME_SPEAKER_WEIGHT = 0.25
"""Voice of each audio embedding where one voice is heard; keeps voices apart in the embeddings."""

SEGMENT_SPEAKER_WEIGHT = 0.3
"""Voice of each segment on the middle of the decoder: it must compare embeddings to know it."""

SPEAKER_LAYER = 3
STATE_SAMPLES = 320
"""Of sound that one state of the encoder stands for, 0.02 s."""


@dataclass(frozen=True, slots=True)
class Losses:
    """Scalars of one step.

    Attributes:
        text: weighted cross-entropy of the transcript, nats a token.
        ctc: nats a word token.
        frame_speaker: nats an audio embedding.
        segment_speaker: nats a position.
        likeness: share of the variance of Whisper's states that the encoder's do not explain.
    """

    text: Tensor
    ctc: Tensor
    frame_speaker: Tensor
    segment_speaker: Tensor
    likeness: Tensor

    def total(self, ctc_share: float = 1.0, likeness: float = 0.0, voices: float = 1.0) -> Tensor:
        """Return the weighted sum.

        Args:
            ctc_share: fades the CTC loss out.
            likeness: weight of the likeness to Whisper.
            voices: share of the two speaker losses that counts.
        """
        return (
            self.text
            + CTC_WEIGHT * ctc_share * self.ctc
            + FRAME_SPEAKER_WEIGHT * voices * self.frame_speaker
            + SEGMENT_SPEAKER_WEIGHT * voices * self.segment_speaker
            + likeness * self.likeness
        )


class Objective(nn.Module):
    """The model with its auxiliary heads; the heads are dropped after training."""

    digits: Tensor
    is_word: Tensor

    def __init__(
        self,
        model: MossTranscribeDiarizeForConditionalGeneration,
        layout: Layout,
        speakers: int,
        word_noise: float = 0.0,
        whisper: nn.Module | None = None,
    ) -> None:
        """Attach a head for `speakers` classes to the audio embeddings and to the decoder.

        Args:
            model: to be trained.
            layout: of its tokens.
            speakers: classes of the speaker losses.
            word_noise: share of the transcript's word tokens replaced in the decoder's input.
            whisper: the encoder that the model's shall stay like; None to let it go where it will.
        """
        super().__init__()
        self.model = model
        self.word_noise = word_noise
        text_config: Any = model.config.text_config
        width = text_config.hidden_size
        self.frame_head = nn.Linear(width, speakers)
        self.segment_head = nn.Linear(width, speakers)
        audio_config: Any = model.config.audio_config
        heard = audio_config.hidden_size
        self.likeness_head = nn.Linear(heard, heard)
        nn.init.eye_(self.likeness_head.weight)
        nn.init.zeros_(self.likeness_head.bias)
        self.whisper = None if whisper is None else whisper.requires_grad_(False)
        vocabulary = text_config.vocab_size
        digits = torch.tensor(layout.digit_ids)
        words = torch.ones(vocabulary, dtype=torch.bool)
        words[[*layout.markup_ids, *range(6)]] = False
        self.register_buffer("digits", digits, persistent=False)
        self.register_buffer("is_word", words, persistent=False)
        self._border, self._blank = layout.speaker_border_id, layout.audio_id

    def compile(self) -> None:
        """Compile one layer of encoder and decoder for all: whole graphs took 110 s, this 30."""
        core = self.model.model
        kept: Any = () if self.whisper is None else self.whisper.layers
        for layer in (*core.audio_tower.layers, *core.language_model.layers, *kept):
            layer.compile(dynamic=False)

    def _decode(self, embeddings: Tensor) -> tuple[Tensor, Tensor]:
        """Return the last hidden states and those of `SPEAKER_LAYER`.

        Windows are padded on the right and attention is causal: no mask is needed.
        """
        decoder = self.model.model.language_model
        place = torch.arange(embeddings.shape[1], device=embeddings.device)[None]
        rotation = decoder.rotary_emb(embeddings, place)
        hidden = middle = embeddings
        for number, layer in enumerate(decoder.layers):
            if number == SPEAKER_LAYER:
                middle = hidden
            hidden = layer(
                hidden, attention_mask=None, position_ids=place, position_embeddings=rotation
            )
        return decoder.norm(hidden), middle

    def forward(
        self,
        mel: Tensor,
        batch: dict[str, Tensor],
        size: Size,
        train: bool = True,
        unmasked: Tensor | None = None,
        voices: float = 1.0,
    ) -> tuple[Losses, Tensor]:
        """Return the losses and the predicted ids, shape (batch, positions).

        Training adds word noise; a check leaves the transcript as it is.

        Args:
            mel: features, (chunks, 80, 3000).
            batch: plan arrays on the device.
            size: shape of the windows.
            train: add noise.
            unmasked: features that Whisper hears, when some of `mel` is hidden.
            voices: share of the speaker digits' weight that counts.
        """
        core = self.model.model
        rows = len(batch["ids"])
        states = core.audio_tower(mel).last_hidden_state
        likeness = self._likeness(states, mel if unmasked is None else unmasked, batch)
        frames = states.reshape(rows, size.chunks * 375, -1)
        audio = core.multi_modal_projector(frames)  # (batch, audio positions, width)
        table = core.language_model.embed_tokens.weight
        ids = batch["ids"].long()
        index = batch["audio_index"].long()
        text = F.embedding(self._noised(ids, index) if train else ids, table)
        placed = audio.gather(1, index.clamp(min=0)[..., None].expand(-1, -1, audio.shape[-1]))
        last, middle = self._decode(
            torch.where((index >= 0)[..., None], placed.to(text.dtype), text)
        )
        logits = F.linear(last, table)
        labels = batch["labels"].long()
        losses = Losses(
            self._text_loss(logits, labels, voices),
            self._ctc_loss(F.linear(audio, table), batch),
            _class_loss(self.frame_head, audio, batch["frame_speaker"]),
            _class_loss(self.segment_head, middle, batch["position_speaker"]),
            likeness,
        )
        return losses, logits.detach().argmax(-1)

    def _likeness(self, states: Tensor, mel: Tensor, batch: dict[str, Tensor]) -> Tensor:
        """Compare with Whisper where there is sound; what follows a window's end is padding."""
        if self.whisper is None:
            return states.new_zeros(())
        with torch.no_grad():
            theirs = self.whisper(mel).last_hidden_state.float()
        chunks, places = states.shape[0] // len(batch["ids"]), states.shape[1]
        place = torch.arange(chunks * places, device=mel.device)[None]
        inside = place * STATE_SAMPLES < batch["samples"][:, None]
        inside = inside.reshape(-1, places, 1)
        count = inside.sum().clamp(min=1) * states.shape[2]
        error = ((self.likeness_head(states).float() - theirs) ** 2 * inside).sum() / count
        mean = (theirs * inside).sum((0, 1)) / inside.sum().clamp(min=1)
        variance = ((theirs - mean) ** 2 * inside).sum() / count
        unlike: Tensor = error / variance
        return unlike

    def speaker_digits(self, labels: Tensor) -> Tensor:
        """Mark the labels that name a speaker: the second digit after `][S`."""
        border = torch.roll(labels, 2, 1) == self._border
        return border & torch.isin(labels, self.digits)

    def words(self, labels: Tensor) -> Tensor:
        """Mark the labels that are words."""
        return (labels >= 0) & self.is_word[labels.clamp(min=0)]

    def _noised(self, ids: Tensor, index: Tensor) -> Tensor:
        """Replace some word tokens of the transcript by random ones."""
        hit = (torch.rand(ids.shape, device=ids.device) < self.word_noise) & self.is_word[ids]
        after_prompt = torch.arange(ids.shape[1], device=ids.device)[None] > (
            torch.where(index >= 0, torch.arange(ids.shape[1], device=ids.device)[None], 0).amax(
                1, keepdim=True
            )
            + 20
        )
        return torch.where(hit & after_prompt, torch.randint_like(ids, 262, len(self.is_word)), ids)

    def _text_loss(self, logits: Tensor, labels: Tensor, voices: float) -> Tensor:
        each = F.cross_entropy(
            logits.float().flatten(0, 1), labels.flatten(), ignore_index=NO_LABEL, reduction="none"
        )
        weight, digit = (labels >= 0).float(), SPEAKER_DIGIT_WEIGHT * voices
        weight = torch.where(self.speaker_digits(labels), digit * weight, weight)
        return (each * weight.flatten()).sum() / weight.sum().clamp(min=1)

    def _ctc_loss(self, logits: Tensor, batch: dict[str, Tensor]) -> Tensor:
        each = F.ctc_loss(
            logits.float().log_softmax(-1).transpose(0, 1),
            batch["words"].long(),
            batch["audio_count"].long(),
            batch["word_count"].long(),
            blank=self._blank,
            zero_infinity=True,
            reduction="sum",
        )
        return each / batch["word_count"].sum().clamp(min=1)


def _class_loss(head: nn.Linear, hidden: Tensor, classes: Tensor) -> Tensor:
    """Classify only where a class is known: thousands of voices times all positions is too much."""
    labels = classes.flatten()
    known = (labels >= 0).nonzero()[:, 0]
    logits = head(hidden.flatten(0, 1)[known])
    total = F.cross_entropy(logits.float(), labels[known].long(), reduction="sum")
    return total / max(1, len(known))
