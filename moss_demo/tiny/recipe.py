"""The whole recipe on one machine: speak, cut, train, save.

Everything that makes sound runs beside the training, so the GPU never waits for more than the first
shards. Knows the order of things; each thing itself lives in its own module.
"""

import copy
import json
import multiprocessing as mp
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import soundfile as sf  # type: ignore[import-untyped]  # the package ships no type information
import torch
from tokenizers import Tokenizer

from moss_demo.domain.audio import SAMPLE_RATE_HZ
from moss_demo.errors import MossDemoError
from moss_demo.tiny.batches import Feed, Planner, Workers
from moss_demo.tiny.classic import resampled
from moss_demo.tiny.construct import TOWER, build_model, load_model
from moss_demo.tiny.corpus import TEST_LINES, Corpus
from moss_demo.tiny.human import held_out_person, pieces, spliced
from moss_demo.tiny.kokoro import Kokoro
from moss_demo.tiny.layout import Layout
from moss_demo.tiny.lines import read_scripts
from moss_demo.tiny.losses import Objective
from moss_demo.tiny.schedule import TRAINING, Schedule, Stage
from moss_demo.tiny.speaking import ClassicJob, speak_classic, speak_scripts
from moss_demo.tiny.training import Pool, Trainer, save_checkpoint
from moss_demo.tiny.utterances import Samples, Spoken, write_shard
from moss_demo.tiny.vocabulary import build_processor
from moss_demo.tiny.voices import speaker_classes
from moss_demo.tiny.windows import sizes

SAVE_FROM = 0.5
"""Share of a run after which the checkpoint is saved now and then: a machine may be taken away."""

SAVE_EVERY_S = 100.0

SPLICED = 12
"""New utterances made of each recording's words."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How one run of the recipe is cut to its machine.

    Attributes:
        corpus: the prepared data folder.
        shards: folder of utterances; what is there already is used.
        out: gets the checkpoint and the log.
        plan: training time and the part of the whole it covers.
        stage: which of the recipe's stages this is.
        start: the trained checkpoint that the stage goes on from; None to begin.
        state: file to go on from if it exists, and to write at the end; None for neither.
        speak_s: time for natural voices, when the folder holds none yet.
        classic_s: time for classic voices, beside the natural ones.
        classic_processes: processes that speak with classic voices.
        planners: processes that plan windows.
        pool_hours: room for utterances on the device.
        stop_after_s: no step starts later than this, counted from the start of the run.
        step_minutes: sound of one optimizer step.
        compiled: compile the model; off on a CPU.
    """

    corpus: Corpus
    shards: Path
    out: Path
    plan: Schedule
    stage: Stage = TRAINING
    start: Path | None = None
    state: Path | None = None
    speak_s: float = 150.0
    classic_s: float = 100.0
    classic_processes: int = 8
    planners: int = 6
    pool_hours: float = 180.0
    stop_after_s: float = 1e9
    step_minutes: int = 32
    compiled: bool = True

    @property
    def tokenizer(self) -> Path:
        """Return the tokenizer: a trained checkpoint keeps its own."""
        return self.corpus.tokenizer if self.start is None else self.start / "tokenizer.json"


def speak(corpus: Corpus, shards: Path, seconds: float, device: torch.device) -> float:
    """Let the natural voices fill the folder; held-out sentences go first, into its `test` folder.

    Returns:
        Hours of training speech made.
    """
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    kokoro = Kokoro(corpus.kokoro_package, corpus.kokoro_weights).to(device)
    styles = corpus.styles()
    (shards / "test").mkdir(parents=True, exist_ok=True)
    for name in TEST_LINES:
        scripts = read_scripts(corpus.folder / f"{name}.npz")
        speak_scripts(kokoro, styles, scripts, shards / "test", name=name)
    return speak_scripts(kokoro, styles, read_scripts(corpus.lines), shards, seconds=seconds)


def cut_recordings(corpus: Corpus, shards: Path) -> float:
    """Cut the recordings of people into one shard, held-out ones into another; return hours.

    Returns:
        Hours of the pieces to train on.
    """
    cut: dict[Path, list[tuple[Samples, Spoken]]] = {shards: [], shards / "test": []}
    for path, speaker, words in corpus.recordings():
        sound, rate_hz = sf.read(path, dtype="float32")
        samples = (resampled(sound, rate_hz) * 32767).clip(-32768, 32767).astype(np.int16)
        if held_out_person(speaker):
            cut[shards / "test"].extend(pieces(speaker, samples, words))
        else:
            cut[shards].extend(pieces(speaker, samples, words))
            cut[shards].extend(spliced(speaker, samples, words, SPLICED, Random(speaker)))
    for folder, some in cut.items():
        folder.mkdir(parents=True, exist_ok=True)
        if some:
            write_shard(folder / "human", [sound for sound, _ in some], [row for _, row in some])
    return sum(row.samples for _, row in cut[shards]) / SAMPLE_RATE_HZ / 3600


def train(settings: Settings, device: torch.device) -> None:
    """Run one stage from what the folders hold already to a saved checkpoint.

    Raises:
        MossDemoError: a later stage has no checkpoint to go on from.
    """
    if settings.start is None and settings.stage is not TRAINING:
        raise MossDemoError(
            "Only the first stage begins with nothing; name a checkpoint (--start)."
        )
    begun = time.monotonic()
    settings.out.mkdir(parents=True, exist_ok=True)
    settings.shards.mkdir(parents=True, exist_ok=True)
    report = _log(settings.out / "train.log", begun)
    speakers = _start_classic(settings, int(begun))
    if not any(settings.shards.glob("natural-*.json")):
        hours = speak(settings.corpus, settings.shards, settings.speak_s, device)
        report(f"natural voices spoke {hours:.1f} h")
    if not (settings.shards / "human.json").exists():
        report(f"recordings cut: {cut_recordings(settings.corpus, settings.shards):.2f} h")
    pool = Pool(settings.shards, settings.pool_hours, device)
    feed = _feed(settings, pool.manifest)
    workers = Workers(feed, settings.planners, int(begun) % 10_000)
    try:
        _train(settings, device, pool, workers, feed, begun, report)
    finally:
        workers.stop()
        for process in speakers:
            process.terminate()


def _train(
    settings: Settings,
    device: torch.device,
    pool: Pool,
    workers: Workers,
    feed: Feed,
    begun: float,
    report: Callable[[str], None],
) -> None:
    """Build or resume the model, run the loop, save."""
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.backends.cudnn.allow_tf32 = True
    torch.manual_seed(0)
    tokenizer = Tokenizer.from_file(str(settings.tokenizer))
    processor = build_processor(tokenizer)
    encoder, stage = settings.corpus.encoder(), settings.stage
    origin = {f"{TOWER}{name}": value for name, value in encoder.items()}
    if settings.start is None:
        model, before = build_model(processor, encoder), {}
    else:
        model = load_model(settings.start)
        before = {name: value.clone() for name, value in model.state_dict().items()}
    if stage.afresh:
        model.model.audio_tower.load_state_dict(encoder)
    mixed_in = ((before, stage.kept), (origin, stage.whispered))
    whisper = None
    if stage.likeness > 0:
        whisper = copy.deepcopy(model.model.audio_tower)
        whisper.load_state_dict(encoder)
    classes, noise = max(1, 3 * len(feed.speakers)), stage.word_noise
    objective = Objective(model, Layout(tokenizer), classes, noise, whisper).train()
    trainer = Trainer(objective, device, stage, encoder if stage.bridge else None)
    state = settings.state
    if state is not None and state.exists():
        trainer.resume(torch.load(state, map_location=device, weights_only=True))
        report(f"resumed at step {trainer.progress.step}, {trainer.done:.3f} done")
    if settings.compiled:
        objective.compile()
    pool.scan(10_000)
    report(f"pool {pool.hours:.1f} h, {len(feed.speakers)} voices")
    checks = _Checks(settings, feed, device)
    saved = time.monotonic()

    def every(done: float) -> None:
        nonlocal saved
        checks.look(trainer, report)
        if done > SAVE_FROM and time.monotonic() - saved > SAVE_EVERY_S:
            saved = time.monotonic()
            save_checkpoint(objective, processor, settings.out, *mixed_in)

    stop_at = begun + settings.stop_after_s
    trainer.run(pool, workers, settings.plan, stop_at_s=stop_at, every=every, report=report)
    save_checkpoint(objective, processor, settings.out, *mixed_in)
    if state is not None:
        torch.save(trainer.state(), state)
    report(f"saved after step {trainer.progress.step}")


class _Checks:
    """Teacher-forced accuracies on held-out utterances, now and then."""

    EVERY_S = 60.0

    def __init__(self, settings: Settings, feed: Feed, device: torch.device) -> None:
        folder = settings.shards / "test"
        self._last = 0.0
        self._batches = []
        self._size = feed.sizes[0]
        if folder.exists():
            self._pool = Pool(folder, 3.0, device)
            self._pool.scan(10_000)
            for kind in ("natural", "unheard", "human"):
                weights = {kind: 1.0}
                test = Feed(
                    self._pool.manifest, feed.tokenizer, feed.speakers, feed.known_words, weights
                )
                planner = Planner(test, 1, vary=False)
                planner.poll()
                if planner.talk.can_cast(kind):
                    self._batches.append((kind, planner.batch(self._size)))

    def look(self, trainer: Trainer, report: Callable[[str], None]) -> None:
        """Report on every kind when it is time to."""
        if self._batches and time.monotonic() - self._last > self.EVERY_S:
            self._last = time.monotonic()
            for kind, batch in self._batches:
                report(f"{kind}: {trainer.check(self._pool.samples, batch, self._size)}")


def _start_classic(settings: Settings, seed: int) -> list[mp.Process]:
    """Start the processes that speak with flite and espeak-ng."""
    context = mp.get_context("spawn")
    classic = settings.corpus.folder / "classic"
    processes = []
    for number in range(settings.classic_processes if settings.classic_s > 0 else 0):
        job = ClassicJob(
            classic / "lib",
            classic / "data",
            settings.corpus.text,
            settings.shards,
            seed + number,
            settings.classic_s,
        )
        process = context.Process(target=speak_classic, args=(job,), daemon=True)
        process.start()
        processes.append(process)
    return processes  # type: ignore[return-value]  # a spawn process is a Process in all but name


def _feed(settings: Settings, manifest: Path) -> Feed:
    corpus = settings.corpus
    people = {speaker for _, speaker, _ in corpus.recordings()}
    speakers = speaker_classes(corpus.styles().names, people)
    (settings.out / "speakers.json").write_text(json.dumps(speakers), encoding="utf-8")
    return Feed(
        manifest,
        settings.tokenizer,
        speakers,
        corpus.known_words(),
        settings.stage.kinds,
        sizes(settings.step_minutes),
    )


def _log(path: Path, begun: float) -> Callable[[str], None]:
    """Return a reporter that prints with seconds since the start and keeps a copy."""

    def report(line: str) -> None:
        stamped = f"{time.monotonic() - begun:6.1f} {line}"
        print(stamped, flush=True)
        with path.open("a", encoding="utf-8") as stream:
            stream.write(stamped + "\n")

    return report
