"""Figures of the server for Prometheus. Counts runs; knows nothing of what was said in them."""

from collections.abc import Callable, Generator
from enum import StrEnum
from time import perf_counter

import torch
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from moss_demo.domain.events import Finished
from moss_demo.engine.in_turn import Opened, TurnEvent
from moss_demo.errors import BusyError, DeviceError, MossDemoError

_LATENCY_S = (0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900)
_RTF = (0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2)


class Door(StrEnum):
    """Where a request came in."""

    PAGE = "page"
    API = "api"


class Outcome(StrEnum):
    """How a request ended."""

    DONE = "done"
    STOPPED = "stopped"
    BUSY = "busy"
    REFUSED = "refused"
    FAILED = "failed"


class Metrics:
    """One server's figures, in a registry of their own."""

    def __init__(self, in_line: Callable[[], int], device: str) -> None:
        """Start at zero.

        Args:
            in_line: counts those who wait for the device or hold it.
            device: torch device whose memory is shown.
        """
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "moss_demo_requests", "Requests by way in and by how they ended",
            ("door", "outcome"), registry=self._registry,
        )  # fmt: skip
        self._latency = Histogram(
            "moss_demo_latency_seconds", "From the request to its last word, the wait included",
            ("door",), buckets=_LATENCY_S, registry=self._registry,
        )  # fmt: skip
        self._rtf = Histogram(
            "moss_demo_rtf", "Seconds of work by seconds of audio, the wait excluded",
            buckets=_RTF, registry=self._registry,
        )  # fmt: skip
        self._tokens = Counter("moss_demo_tokens", "Tokens written", registry=self._registry)
        self._audio = Counter(
            "moss_demo_audio_seconds", "Audio transcribed", registry=self._registry
        )
        line = Gauge("moss_demo_in_line", "Runs that wait or run", registry=self._registry)
        line.set_function(in_line)
        memory = Gauge(
            "moss_demo_device_memory_bytes", "Tensors on the device; 0 on a CPU",
            registry=self._registry,
        )  # fmt: skip
        memory.set_function(lambda: _device_bytes(device))
        ProcessCollector(registry=self._registry)

    def text(self) -> bytes:
        """Return the figures in Prometheus' text form."""
        return generate_latest(self._registry)

    def watch(
        self, events: Generator[TurnEvent, None, None], door: Door
    ) -> Generator[TurnEvent, None, None]:
        """Hand on the events of a request and count how it ends."""
        asked_at = perf_counter()
        audio_s = 0.0
        outcome = Outcome.STOPPED
        try:
            for event in events:
                if isinstance(event, Opened):
                    audio_s = event.clip.duration_s
                elif isinstance(event, Finished):
                    outcome = Outcome.DONE
                    self._latency.labels(door).observe(perf_counter() - asked_at)
                    self._rtf.observe(event.at / audio_s)
                    self._tokens.inc(len(event.token_ids))
                    self._audio.inc(audio_s)
                yield event
        except MossDemoError as error:
            outcome = _outcome(error)
            raise
        finally:
            events.close()
            self._requests.labels(door, outcome).inc()


def _outcome(error: MossDemoError) -> Outcome:
    if isinstance(error, BusyError):
        return Outcome.BUSY
    return Outcome.FAILED if isinstance(error, DeviceError) else Outcome.REFUSED


def _device_bytes(device: str) -> int:
    return 0 if device == "cpu" else torch.cuda.memory_allocated(device)
