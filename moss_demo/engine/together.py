"""Many recordings in one go, as finished runs. Knows nothing of how an engine decodes."""

from collections.abc import Sequence

from moss_demo.domain.events import Event, Run, advance
from moss_demo.domain.request import Request
from moss_demo.engine.engine import Engine
from moss_demo.engine.worker import IsStopped


def transcribe_together(
    engine: Engine, requests: Sequence[Request], is_stopped: IsStopped = lambda: False
) -> tuple[Run, ...]:
    """Transcribe requests as one batch and return their runs in the same order.

    Once `is_stopped` says so, decoding ends and the runs come back unfinished.

    Raises:
        RequestError: a recording or a budget does not fit the checkpoint.
        DeviceMemoryError: the device ran out of memory.
    """
    runs = [Run(r.clip.name, r.clip.digest, r.clip.duration_s) for r in requests]

    def fold(number: int, event: Event) -> None:
        runs[number] = advance(runs[number], event)

    engine.transcribe_batch(requests, fold, is_stopped)
    return tuple(runs)
