"""One loaded checkpoint that turns requests into streams of events.

It knows the model and the device; it does not know who asks, nor whether somebody else runs at the
same time: `pool.py` keeps one run a device.
"""

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

import torch

from moss_demo.domain.events import Event, PhaseTimes, Span
from moss_demo.domain.request import Request
from moss_demo.engine import memory
from moss_demo.engine.budget import plan_budget
from moss_demo.engine.checkpoints import Checkpoint
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.decoding import embed_prompt, end_token_ids, generate_tokens
from moss_demo.engine.detokenizer import Detokenizer
from moss_demo.engine.encoding import EncodedAudio, encode_batches, synchronize
from moss_demo.engine.loading import Loaded
from moss_demo.engine.prompting import build_prompt_ids, count_audio_tokens
from moss_demo.engine.recorder import Recorder
from moss_demo.engine.speech import SpeechGate
from moss_demo.engine.worker import Emit, IsStopped, stream_from_worker
from moss_demo.errors import DeviceError


@dataclass(frozen=True, slots=True)
class EngineInfo:
    """What the page and the command line say about an engine.

    Attributes:
        checkpoint: name of the checkpoint in use.
        revision: commit of published weights, else "local".
        layout: how its tensors are named.
        parameters: number of weights.
        context_tokens: positions that prompt and transcript share.
        device: torch device.
        precision: number format.
        attention: attention that was resolved.
        load_s: seconds from the first file to weights on the device.
    """

    checkpoint: str
    revision: str
    layout: str
    parameters: int
    context_tokens: int
    device: str
    precision: str
    attention: str
    load_s: float


class Engine:
    """A checkpoint on a device; it transcribes one request at a time."""

    def __init__(
        self, config: EngineConfig, checkpoint: Checkpoint, loaded: Loaded, load_s: float
    ) -> None:
        """Take over a loaded model."""
        self.config = config
        self._checkpoint = checkpoint
        self._loaded = loaded
        self._gate = SpeechGate()
        text_config: Any = loaded.model.config.text_config
        self.info = EngineInfo(
            checkpoint=checkpoint.name,
            revision=checkpoint.revision,
            layout=checkpoint.layout,
            parameters=sum(weight.numel() for weight in loaded.model.parameters()),
            context_tokens=text_config.max_position_embeddings,
            device=config.device,
            precision=config.precision,
            attention=str(text_config._attn_implementation),
            load_s=load_s,
        )

    def stream(self, request: Request) -> Generator[Event, None, None]:
        """Transcribe; closing the iterator stops the decoding after the step in flight.

        Raises:
            RequestError: the recording or the budget does not fit the checkpoint.
            DeviceError: the device ran out of memory.
        """
        return stream_from_worker(lambda emit, stopped: self.transcribe(request, emit, stopped))

    def transcribe(self, request: Request, emit: Emit[Event], is_stopped: IsStopped) -> None:
        """Do the work of `stream` on the calling thread, pushing events.

        Raises:
            RequestError: the recording or the budget does not fit the checkpoint.
            DeviceError: the device ran out of memory.
        """
        device = self.config.device
        memory.reset_peak(device)
        try:
            self._run(request, emit, is_stopped)
        except torch.OutOfMemoryError as error:
            raise DeviceError(
                f"{device} ran out of memory on {request.clip.duration_s:.0f} s of audio; free the "
                "device, choose bf16 or cut the recording. The next run is not affected."
            ) from error
        finally:
            memory.release(device)

    def _run(self, request: Request, emit: Emit[Event], is_stopped: IsStopped) -> None:
        processor = self._loaded.processor
        ends = end_token_ids(self._loaded)
        recorder = Recorder(
            emit, Detokenizer(processor.tokenizer, ends), ends, request.clip.duration_s
        )
        prompt_ids = build_prompt_ids(processor, self._checkpoint.layout, request)
        budget = plan_budget(
            request,
            prompt_tokens=len(prompt_ids),
            context_tokens=self.info.context_tokens,
            checkpoint=self._checkpoint.name,
        )
        gate_at = recorder.at()
        speech = self._find_speech(request)
        speech_s = recorder.at() - gate_at
        recorder.start(
            prompt_tokens=len(prompt_ids),
            audio_tokens=count_audio_tokens(request.clip.samples.size, processor.audio_merge_size),
            max_new_tokens=budget,
            speech=speech,
        )
        if speech == ():
            recorder.finish_without_speech(speech_s)
            return
        audio = self._encode(request, is_stopped)
        if audio is None:
            return
        recorder.decoding_begins()
        prompt = embed_prompt(self._loaded, prompt_ids, audio.embeddings())
        generate_tokens(self._loaded, prompt, request.options, budget, recorder.push, is_stopped)
        synchronize(prompt.device)
        if not is_stopped():
            phases = PhaseTimes(speech_s, audio.features_s, audio.encoder_s)
            recorder.finish(phases, *memory.peak(self.config.device))

    def _find_speech(self, request: Request) -> tuple[Span, ...] | None:
        return self._gate.find_speech(request.clip) if request.speech_gate else None

    def _encode(self, request: Request, is_stopped: IsStopped) -> EncodedAudio | None:
        """Encode the clip, or return None when stopped between micro-batches."""
        whole = None
        for encoded in encode_batches(self._loaded, request.clip):
            if is_stopped():
                return None
            whole = encoded
        return whole
