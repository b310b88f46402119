"""One loaded checkpoint that turns requests into streams of events.

It knows the model and the device; it does not know who asks, nor whether somebody else runs at the
same time: `pool.py` keeps one run a device.
"""

import copy
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Event, PhaseTimes, Span
from moss_demo.domain.request import Request
from moss_demo.engine import memory
from moss_demo.engine.budget import plan_budget
from moss_demo.engine.checkpoints import Checkpoint
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.decoding import Row, embed_prompt, end_token_ids
from moss_demo.engine.detokenizer import Detokenizer
from moss_demo.engine.encoder import Encoder, synchronize
from moss_demo.engine.encoding import EncodedAudio, batch_sizes, encode_batches
from moss_demo.engine.info import EngineInfo, describe_engine
from moss_demo.engine.loading import Loaded
from moss_demo.engine.paths import open_path
from moss_demo.engine.prompting import build_prompt_ids, count_audio_tokens
from moss_demo.engine.recorder import Recorder
from moss_demo.engine.room import row_bytes
from moss_demo.engine.speech import SpeechGate
from moss_demo.engine.worker import Emit, IsStopped, stream_from_worker
from moss_demo.errors import DeviceMemoryError

EmitOf = Callable[[int, Event], None]
"""Takes the number of a request and an event of its run."""


@dataclass(slots=True, eq=False)
class _Job:
    """A request that is being transcribed, with what is known before any model work."""

    request: Request
    recorder: Recorder
    prompt_ids: list[int]
    audio_tokens: int
    max_new_tokens: int
    speech_s: float


class Engine:
    """A checkpoint on a device; it transcribes one request, or one batch, at a time."""

    def __init__(
        self, config: EngineConfig, checkpoint: Checkpoint, loaded: Loaded, load_s: float
    ) -> None:
        """Take over a loaded model."""
        self.config = config
        self._checkpoint = checkpoint
        self._loaded = loaded
        self._load_s = load_s
        self._path = open_path(config.decode, loaded)
        self._encoder = Encoder(loaded, config.encoder_compile)
        self._gate = SpeechGate()
        self._info = describe_engine(
            config, self._checkpoint, self._loaded, self._path.attention, self._load_s
        )

    @property
    def info(self) -> EngineInfo:
        """What the engine is now."""
        encoder = self._encoder
        return replace(self._info, compile_s=encoder.compile_s, compile_problem=encoder.problem)

    def switch(self, config: EngineConfig) -> None:
        """Change decode path and compilation of the encoder; the weights stay where they are."""
        if config.decode is not self.config.decode:
            self._path = open_path(config.decode, self._loaded)
        if config.encoder_compile is not self.config.encoder_compile:
            self._encoder = Encoder(self._loaded, config.encoder_compile)
        self.config = config
        self._info = describe_engine(
            config, self._checkpoint, self._loaded, self._path.attention, self._load_s
        )

    def compile_for(self, clips: Sequence[AudioClip]) -> Iterator[int]:
        """Compile what is still missing to encode clips together.

        Yields:
            Each batch size, in chunks, before it is compiled; one cannot be interrupted.

        Raises:
            DeviceError: it cannot be compiled here; it goes on eager, and `info` says why.
        """
        for chunks in self._encoder.to_compile(batch_sizes(clips)):
            yield chunks
            self._encoder.compile(chunks)

    @property
    def loaded(self) -> Loaded:
        """The model itself, for measurements of its parts."""
        return self._loaded

    def sibling(self, config: EngineConfig) -> "Engine":
        """Return an engine over the same weights, so that two ways of running can take turns.

        Args:
            config: differs from this engine's in its decode path or its encoder's compilation.
        """
        twin = copy.copy(self)
        twin.switch(config)
        return twin

    def check(self, request: Request) -> None:
        """Refuse what cannot be transcribed, before any work.

        Raises:
            RequestError: the recording or an option does not fit the checkpoint or the decode path.
        """
        self._sizes(request)

    def encode_chunks(self, chunks: Sequence[np.ndarray]) -> tuple[Tensor, Tensor]:
        """Return the encoder's output for pieces of up to 30 s, in one batch, and its embeddings.

        Returns:
            Tensors of shape (chunks, frames, width) and (audio tokens, hidden size).
        """
        return self._encoder.states(*self._path.log_mel(chunks))

    def row_bytes(self, duration_s: float) -> int:
        """Estimate what one recording of a batch takes on the device beyond the weights."""
        return row_bytes(self._loaded, duration_s)

    def stream(self, request: Request) -> Generator[Event, None, None]:
        """Transcribe; closing the iterator stops the decoding after the step in flight.

        Raises:
            RequestError: the recording or the budget does not fit the checkpoint.
            DeviceMemoryError: the device ran out of memory.
        """
        return stream_from_worker(lambda emit, stopped: self.transcribe(request, emit, stopped))

    def transcribe(self, request: Request, emit: Emit[Event], is_stopped: IsStopped) -> None:
        """Do the work of `stream` on the calling thread, pushing events.

        Raises:
            RequestError: the recording or the budget does not fit the checkpoint.
            DeviceMemoryError: the device ran out of memory.
        """
        self.transcribe_batch((request,), lambda _, event: emit(event), is_stopped)

    def transcribe_batch(
        self, requests: Sequence[Request], emit: EmitOf, is_stopped: IsStopped
    ) -> None:
        """Transcribe several requests together; each run's events are those it has alone.

        Chunks of all clips share the encoder's micro-batches, and the fast path decodes all rows
        in one step. Times of phases are those of the whole batch.

        Raises:
            RequestError: a recording or a budget does not fit the checkpoint.
            DeviceMemoryError: the device ran out of memory.
        """
        device = self.config.device
        memory.reset_peak(device)
        try:
            self._run(requests, emit, is_stopped)
        except torch.OutOfMemoryError as error:
            audio_s = sum(request.clip.duration_s for request in requests)
            raise DeviceMemoryError(
                f"{device} ran out of memory on {audio_s:.0f} s of audio; free the "
                "device, choose bf16 or cut the recording. The next run is not affected."
            ) from error
        finally:
            memory.release(device)

    def _run(self, requests: Sequence[Request], emit: EmitOf, is_stopped: IsStopped) -> None:
        prepared = [self._prepare(r, partial(emit, number)) for number, r in enumerate(requests)]
        jobs = [job for job in prepared if job is not None]
        audio = self._encode(jobs, is_stopped) if jobs else None
        if audio is None:
            return
        rows = []
        parts = audio.split([job.audio_tokens for job in jobs])
        for job, embeddings in zip(jobs, parts, strict=True):
            job.recorder.decoding_begins()
            prompt = embed_prompt(self._loaded, job.prompt_ids, embeddings)
            rows.append(Row(prompt, job.request.options, job.max_new_tokens))
        self._path.decode(rows, lambda row, token: jobs[row].recorder.push(token), is_stopped)
        synchronize(self._loaded.model.device)
        if is_stopped():
            return
        for job in jobs:
            phases = PhaseTimes(job.speech_s, audio.features_s, audio.encoder_s)
            job.recorder.finish(phases, *memory.peak(self.config.device))

    def _prepare(self, request: Request, emit: Emit[Event]) -> _Job | None:
        """Do what comes before the model; a recording without speech is finished here."""
        processor = self._loaded.processor
        ends = end_token_ids(self._loaded)
        recorder = Recorder(
            emit, Detokenizer(processor.tokenizer, ends), ends, request.clip.duration_s
        )
        prompt_ids, budget = self._sizes(request)
        audio_tokens = count_audio_tokens(request.clip.samples.size, processor.audio_merge_size)
        gate_at = recorder.at()
        speech = self._find_speech(request)
        speech_s = recorder.at() - gate_at
        recorder.start(
            prompt_tokens=len(prompt_ids),
            audio_tokens=audio_tokens,
            max_new_tokens=budget,
            speech=speech,
        )
        if speech == ():
            recorder.finish_without_speech(speech_s)
            return None
        return _Job(request, recorder, prompt_ids, audio_tokens, budget, speech_s)

    def _sizes(self, request: Request) -> tuple[list[int], int]:
        """Return the prompt's tokens and the token budget."""
        self._path.check(request.options)
        prompt_ids = build_prompt_ids(self._loaded.processor, self._checkpoint.layout, request)
        budget = plan_budget(
            request,
            prompt_tokens=len(prompt_ids),
            context_tokens=self.info.context_tokens,
            checkpoint=self._checkpoint.name,
        )
        return prompt_ids, budget

    def _find_speech(self, request: Request) -> tuple[Span, ...] | None:
        if request.speech is not None or not request.speech_gate:
            return request.speech
        return self._gate.find_speech(request.clip)

    def _encode(self, jobs: Sequence[_Job], is_stopped: IsStopped) -> EncodedAudio | None:
        """Encode the clips, or return None when stopped between micro-batches."""
        whole = None
        clips = [job.request.clip for job in jobs]
        for encoded in encode_batches(self._encoder, self._path.log_mel, clips):
            if is_stopped():
                return None
            whole = encoded
        return whole
