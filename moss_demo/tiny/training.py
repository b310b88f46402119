"""The training loop: takes batches and shards as they come, steps, reports, saves.

Knows the objective, the mixer and the clock; knows no data source and no command line.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import torch
from torch import Tensor
from transformers import MossTranscribeDiarizeProcessor

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.tiny import schedule
from moss_demo.tiny.batches import Arrays, Workers
from moss_demo.tiny.losses import Losses, Objective
from moss_demo.tiny.mixing import Mixer
from moss_demo.tiny.schedule import Schedule, Stage
from moss_demo.tiny.windows import Size

WEIGHT_DECAY = 0.05
LONGEST_STEP = 1.0
SHARD_BYTES = "9MB"

_TIED = "lm_head.weight"
_STEPS_BEFORE_CLOCK = 10
_REPORT_EVERY_S = 20.0
_SCAN_EVERY_S = 2.0


class Pool:
    """All utterances of the run, back to back in the memory of the training device."""

    def __init__(self, folder: Path, hours: float, device: torch.device) -> None:
        """Reserve room and start an empty manifest in the folder of the shards."""
        self.samples = torch.zeros(
            int(hours * 3600 * SAMPLE_RATE_HZ), dtype=torch.int16, device=device
        )
        self.manifest = folder / "manifest.txt"
        self.manifest.write_text("", encoding="utf-8")
        self.used = 0
        self._folder, self._taken = folder, set[Path]()

    @property
    def hours(self) -> float:
        """Speech taken in so far."""
        return self.used / SAMPLE_RATE_HZ / 3600

    def scan(self, most: int = 4) -> None:
        """Take in up to `most` shards that were finished since the last call."""
        new = [p for p in sorted(self._folder.glob("*.json")) if p not in self._taken]
        for rows in new[:most]:
            self._taken.add(rows)
            sound = torch.from_numpy(np.load(rows.with_suffix(".npy")))
            # One sample stays free: interpolation reads the one after the last.
            if self.used + len(sound) < len(self.samples) - 1:
                self.samples[self.used : self.used + len(sound)].copy_(sound)
                with self.manifest.open("a", encoding="utf-8") as stream:
                    stream.write(f"{rows}\t{self.used}\n")
                self.used += len(sound)


@dataclass(slots=True)
class Progress:
    """Sums between two lines of the log."""

    step: int = 0
    since: int = 0
    sums: Tensor | None = None

    def add(self, losses: Losses, norm: Tensor) -> None:
        """Count one step without waiting for the device."""
        row = (
            *(losses.text, losses.ctc, losses.frame_speaker, losses.segment_speaker),
            *(losses.likeness, norm),
        )
        values = torch.stack([value.detach().float() for value in row])
        self.sums = values if self.sums is None else self.sums + values
        self.step += 1
        self.since += 1

    def line(self) -> str:
        """Return the means since the last line."""
        if self.sums is None:
            return "no step"
        text, ctc, frames, segments, unlike, norm = (self.sums / self.since).tolist()
        self.sums, self.since = None, 0
        speaker = f"speaker {frames:.3f}/{segments:.3f}"
        return f"text {text:.3f} ctc {ctc:.3f} {speaker} unlike {unlike:.3f} norm {norm:.2f}"


class Trainer:
    """Owns the optimizer and the loop."""

    def __init__(
        self,
        objective: Objective,
        device: torch.device,
        stage: Stage,
        origin: Mapping[str, Tensor] | None = None,
    ) -> None:
        """Put encoder, matrices and vectors into groups with their own rates and decay.

        Args:
            objective: the model with its losses.
            device: where to train.
            stage: rates and losses.
            origin: Whisper's encoder, for a stage that goes between it and the trained one.
        """
        self.objective = objective.to(device)
        self.stage, self.device = stage, device
        self.mixer = Mixer(device, seed=0)
        self.progress = Progress()
        self.done = 0.0  # share of the whole training
        self._draw = Random(0)
        tower = dict(objective.model.model.audio_tower.named_parameters())
        encoder = list(tower.values())
        self._tower = [value.data for value in encoder]
        self._origin = [origin[name].to(device) for name in tower] if origin else []
        known = {id(parameter) for parameter in encoder}
        rest = [p for p in objective.parameters() if id(p) not in known and p.requires_grad]
        matrices = [p for p in rest if p.ndim >= 2]
        vectors = [p for p in rest if p.ndim < 2]
        moving = [p for p in encoder if p.requires_grad]
        self._optimizer = torch.optim.AdamW(
            [
                {"params": matrices, "weight_decay": WEIGHT_DECAY},
                {"params": vectors, "weight_decay": 0.0},
                {"params": moving, "weight_decay": 0.0},
            ],
            betas=(0.9, 0.98),
            fused=device.type == "cuda",
        )

    def losses(
        self, pool: Tensor, batch: dict[str, Tensor], size: Size, voices: float | None = None
    ) -> tuple[Losses, Tensor]:
        """Mix a batch and return its losses and predicted ids; checks have no share of voices."""
        train = voices is not None
        samples = size.seconds * SAMPLE_RATE_HZ
        whole = self.mixer.features(self.mixer.waves(pool, batch, samples, train))
        mel = self.mixer.masked(whole) if train else whole
        with torch.autocast(self.device.type, torch.bfloat16, self.device.type == "cuda"):
            share = 1.0 if voices is None else voices
            losses, predicted = self.objective(mel, batch, size, train, whole, share)
        return losses, predicted

    @contextmanager
    def towards_whisper(self, share: float) -> Iterator[None]:
        """Let the encoder's weights be that much Whisper's own while the block runs."""
        if share == 0 or not self._origin:
            yield
            return
        kept = [value.clone() for value in self._tower]
        for value, theirs in zip(self._tower, self._origin, strict=True):
            value.lerp_(theirs, share)
        try:
            yield
        finally:
            for value, own in zip(self._tower, kept, strict=True):
                value.copy_(own)

    def step(self, pool: Tensor, batch: dict[str, Tensor], size: Size, progress: float) -> None:
        """Take one optimizer step."""
        stage, number = self.stage, self.progress.step
        rate = stage.decoder_rate * schedule.rate_factor(stage, progress, number)
        heard = stage.encoder_rate * schedule.encoder_factor(stage, progress, number)
        matrices, vectors, encoder = self._optimizer.param_groups
        matrices["lr"], vectors["lr"], encoder["lr"] = rate, rate, heard
        share = stage.bridge * self._draw.random() ** 2
        with self.towards_whisper(share):
            losses, _ = self.losses(pool, batch, size, 1 - share)
            total = losses.total(schedule.ctc_share(progress), stage.likeness, 1 - share)
            torch.autograd.backward(total)
        for value in encoder["params"] if share else ():
            value.grad.mul_(1 - share)  # of the encoder that was heard, its own part
        norm = torch.nn.utils.clip_grad_norm_(self.objective.parameters(), LONGEST_STEP)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self.progress.add(losses, norm)

    def run(
        self,
        pool: Pool,
        workers: Workers,
        plan: Schedule,
        *,
        stop_at_s: float,
        every: Callable[[float], None],
        report: Callable[[str], None] = print,
    ) -> None:
        """Train until the plan is done or the hard stop.

        Args:
            pool: grows while training.
            workers: plan the batches.
            plan: how long, and which part of the training this is.
            stop_at_s: `time.monotonic()` after which no step starts.
            every: called with the share of this run done, after every line of the log; saves and
                checks as it likes.
            report: takes a line of the log.
        """
        begun = spent_waiting = 0.0
        last_scan = last_report = time.monotonic()
        first_step, first = self.progress.step, self.done
        while True:
            now = time.monotonic()
            if begun == 0.0 and self.progress.step - first_step >= _STEPS_BEFORE_CLOCK:
                begun = now  # compilation is over
            elapsed_s = now - begun if begun else 0.0
            self.done = progress = plan.progress(first, elapsed_s)
            if elapsed_s >= plan.seconds or now >= stop_at_s:
                return
            workers.long_too.value = int(progress >= self.stage.short_only_until)
            if now - last_scan > _SCAN_EVERY_S:
                pool.scan()
                last_scan = now
            which, arrays = workers.queue.get()
            spent_waiting += time.monotonic() - now
            self.step(pool.samples, to_device(arrays, self.device), workers.sizes[which], progress)
            done = self.progress.step - first_step
            if now - last_report > _REPORT_EVERY_S or done in (1, _STEPS_BEFORE_CLOCK):
                last_report = now
                speed = (done - _STEPS_BEFORE_CLOCK) / elapsed_s if elapsed_s else 0.0
                report(
                    f"step {self.progress.step} {elapsed_s:.0f} s {progress:.3f} "
                    f"{self.progress.line()} {speed:.1f}/s waited {spent_waiting:.0f} s "
                    f"pool {pool.hours:.1f} h"
                )
                every(elapsed_s / plan.seconds)

    def state(self) -> dict[str, Any]:
        """Return everything a later run needs to go on."""
        return {
            "objective": self.objective.state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "step": self.progress.step,
            "done": self.done,
        }

    def resume(self, state: dict[str, Any]) -> None:
        """Go on from `state`."""
        self.objective.load_state_dict(state["objective"])
        self._optimizer.load_state_dict(state["optimizer"])
        self.progress.step, self.done = state["step"], state["done"]

    def check(self, pool: Tensor, arrays: Arrays, size: Size) -> str:
        """Return teacher-forced accuracies on a batch: words, speakers, stamps.

        Gradients stay on, or every compiled layer would be compiled again without them.
        """
        batch = to_device(arrays, self.device)
        with self.towards_whisper(self.stage.whispered):
            losses, predicted = self.losses(pool, batch, size)
        labels = batch["labels"].long()
        right = predicted == labels
        words, speakers = self.objective.words(labels), self.objective.speaker_digits(labels)
        stamps = torch.isin(labels, self.objective.digits) & ~speakers
        parts = (right[mask].float().mean().item() for mask in (words, speakers, stamps))
        return f"loss {losses.text.item():.3f} right " + " ".join(f"{part:.4f}" for part in parts)


def to_device(arrays: Arrays, device: torch.device) -> dict[str, Tensor]:
    """Move a batch; the transfer overlaps with the step before it."""
    return {
        name: torch.from_numpy(value).to(device, non_blocking=True)
        for name, value in arrays.items()
    }


def save_checkpoint(
    objective: Objective,
    processor: MossTranscribeDiarizeProcessor,
    folder: Path,
    *mixed_in: tuple[Mapping[str, Tensor], float],
) -> None:
    """Write the model in bfloat16 (shards under 10 MB) and its processor; the heads stay behind.

    Args:
        objective: holds the model.
        processor: written beside it.
        folder: made if missing.
        mixed_in: weights by the model's names and how much of them, one after the other.
    """
    folder.mkdir(parents=True, exist_ok=True)
    state: dict[str, Tensor] = {}
    for name, value in objective.model.state_dict().items():
        for weights, share in mixed_in:
            if name in weights:
                value = torch.lerp(value.float(), weights[name].to(value.device).float(), share)
        if name != _TIED:  # the same matrix as the embeddings
            state[name] = value.to(torch.bfloat16)
    objective.model.save_pretrained(folder, state_dict=state, max_shard_size=SHARD_BYTES)
    processor.save_pretrained(folder)
