"""Real speech through the embedded checkpoint: what a user of the engine relies on."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import jiwer
import numpy as np
import pytest
import torch

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import (
    Event,
    Finished,
    Run,
    SegmentDone,
    Started,
    StopReason,
    TextDelta,
    advance,
)
from moss_demo.domain.parser import parse
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.audio_files import read_audio
from moss_demo.engine.config import EngineConfig
from moss_demo.engine.loading import Loaded
from moss_demo.engine.pool import EnginePool, Loading, PoolEvent, Ready, Working
from moss_demo.errors import RequestError
from tests.engine.conftest import SAMPLES

SAMPLE_FILES = sorted(SAMPLES.glob("*.flac"))
SHORTEST = min(SAMPLE_FILES, key=lambda path: path.stat().st_size)


def _events(pool: EnginePool, config: EngineConfig, request: Request) -> list[Event]:
    return [e for e in pool.stream(config, request) if not isinstance(e, Loading | Ready | Working)]


def _fold(clip: AudioClip, events: list[Event]) -> Run:
    run = Run(clip.name, clip.digest, clip.duration_s)
    for event in events:
        run = advance(run, event)
    return run


@pytest.fixture(scope="module")
def clip() -> AudioClip:
    """The shortest sample."""
    return read_audio(SHORTEST)


@pytest.fixture(scope="module")
def events(pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip) -> list[Event]:
    """Its whole stream of events."""
    return _events(pool, tiny_config, Request(clip))


@pytest.mark.parametrize("path", SAMPLE_FILES, ids=lambda path: path.stem)
def test_samples_become_their_transcripts(
    pool: EnginePool, tiny_config: EngineConfig, path: Path
) -> None:
    """Every sample: few word errors, the right number of speakers, stamps close to the truth."""
    run = _fold(clip := read_audio(path), _events(pool, tiny_config, Request(clip)))
    reference = parse(path.with_suffix(".txt").read_text(encoding="utf-8"))
    assert run.finished is not None
    assert run.finished.stop is StopReason.END_OF_TEXT
    assert run.transcript.complete
    words = (reference.text.split(), run.transcript.text.split())
    assert jiwer.wer(*(" ".join(w) for w in words)) <= 0.06
    assert len(run.transcript.speakers) == len(reference.speakers)
    assert abs(len(run.transcript.segments) - len(reference.segments)) <= 1


def test_the_stream_begins_and_ends_as_promised(events: list[Event]) -> None:
    """First Started, last Finished, and times never run backwards."""
    assert isinstance(events[0], Started)
    assert isinstance(events[-1], Finished)
    assert all(isinstance(e, TextDelta | SegmentDone) for e in events[1:-1])
    times = [event.at for event in events]
    assert times == sorted(times)


def test_text_arrives_while_the_model_writes(events: list[Event]) -> None:
    """Segments are handed out before the end, and the pieces add up to the whole text."""
    deltas = [e for e in events if isinstance(e, TextDelta)]
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert "".join(delta.text for delta in deltas) == finished.text
    assert tuple(i for delta in deltas for i in delta.token_ids) == finished.token_ids
    first_segment = next(n for n, e in enumerate(events) if isinstance(e, SegmentDone))
    assert first_segment < len(events) // 2


def test_streamed_segments_equal_the_parsed_text(events: list[Event], clip: AudioClip) -> None:
    """What was shown while streaming is what parsing the raw text gives."""
    run = _fold(clip, events)
    assert run.transcript == parse(run.raw, clip.duration_s)


def test_tokens_equal_those_of_plain_generate(
    tiny: Loaded, events: list[Event], clip: AudioClip
) -> None:
    """The engine's own encoding and prompt change nothing against the library's one call."""
    inputs = tiny.processor.apply_transcription_request(
        clip.samples, processor_kwargs={"return_tensors": "pt", "sampling_rate": 16_000}
    )
    with torch.inference_mode():
        plain = tiny.model.generate(**inputs, do_sample=False, max_new_tokens=1_000)
    finished = events[-1]
    assert isinstance(finished, Finished)
    assert list(finished.token_ids) == plain[0, inputs["input_ids"].shape[1] :].tolist()


def test_a_second_run_is_the_same(
    pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip, events: list[Event]
) -> None:
    """Greedy search repeats itself on a warm engine."""
    again = _events(pool, tiny_config, Request(clip))[-1]
    first = events[-1]
    assert isinstance(first, Finished)
    assert isinstance(again, Finished)
    assert again.token_ids == first.token_ids


def test_the_budget_ends_a_run_and_says_so(
    pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip
) -> None:
    """A length stop is named, keeps what was written and is not complete."""
    options = DecodeOptions(max_new_tokens=25)
    run = _fold(clip, _events(pool, tiny_config, Request(clip, options=options)))
    assert run.finished is not None
    assert run.finished.stop is StopReason.LENGTH
    assert len(run.finished.token_ids) == 25
    assert run.transcript.segments
    assert not run.transcript.complete


def test_sampling_with_a_seed_repeats_itself(
    pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip
) -> None:
    """The same seed gives the same tokens, another seed other ones."""

    def sample(seed: int) -> tuple[int, ...]:
        options = DecodeOptions(60, temperature=1.5, top_p=0.95, seed=seed)
        finished = _events(pool, tiny_config, Request(clip, options=options))[-1]
        assert isinstance(finished, Finished)
        return finished.token_ids

    assert sample(1) == sample(1) != sample(2)


def test_closing_stops_and_the_next_run_works(
    pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip, events: list[Event]
) -> None:
    """A run given up in the middle frees the device for the next one."""
    stream: Iterator[PoolEvent] = pool.stream(tiny_config, Request(clip))
    with closing(stream):
        next(e for e in stream if isinstance(e, SegmentDone))
    assert _events(pool, tiny_config, Request(clip))[-1].token_ids == events[-1].token_ids


@pytest.mark.parametrize("kind", ["silence", "tone", "noise"])
def test_recordings_without_speech_end_at_once(
    pool: EnginePool, tiny_config: EngineConfig, kind: str
) -> None:
    """Silence, a tone and noise give an empty transcript without a single token."""
    time_s = np.arange(5 * 16_000) / 16_000
    samples = {
        "silence": np.zeros_like(time_s),
        "tone": 0.3 * np.sin(2 * np.pi * 1_000 * time_s),
        "noise": np.random.default_rng(1).normal(0, 0.1, time_s.size),
    }[kind].astype(np.float32)
    events = _events(pool, tiny_config, Request(AudioClip(kind, samples)))
    finished = events[-1]
    assert [type(e) for e in events] == [Started, Finished]
    assert isinstance(finished, Finished)
    assert (finished.stop, finished.text, finished.token_ids) == (StopReason.NO_SPEECH, "", ())


def test_the_speech_gate_can_be_switched_off(pool: EnginePool, tiny_config: EngineConfig) -> None:
    """Without the gate the model itself decides, also on silence."""
    clip = AudioClip("silence", np.zeros(16_000, dtype=np.float32))
    options = DecodeOptions(max_new_tokens=5)
    events = _events(pool, tiny_config, Request(clip, options=options, speech_gate=False))
    assert isinstance(events[-1], Finished)
    assert events[-1].stop is not StopReason.NO_SPEECH


def test_a_recording_beyond_the_context_is_refused_before_any_work(
    pool: EnginePool, tiny_config: EngineConfig
) -> None:
    """Fifteen minutes do not fit tiny; the message says what does."""
    clip = AudioClip("long", np.zeros(900 * 16_000, dtype=np.float32))
    with pytest.raises(RequestError, match=r"15\.0 minutes; tiny holds about 9 minutes"):
        _events(pool, tiny_config, Request(clip))


def test_silence_between_chunks_costs_no_word(
    pool: EnginePool, tiny_config: EngineConfig, clip: AudioClip, events: list[Event]
) -> None:
    """Chunks are encoded in micro-batches; a recording of two chunks keeps the words of both."""
    pause = np.zeros(int(16_000 * (31 - clip.duration_s % 30)), dtype=np.float32)
    longer = AudioClip("twice", np.concatenate([clip.samples, pause, clip.samples]))
    run = _fold(longer, _events(pool, tiny_config, Request(longer)))
    once = _fold(clip, events).transcript.text.split()
    twice = run.transcript.text.split()
    assert jiwer.wer(" ".join(once + once), " ".join(twice)) <= 0.25
