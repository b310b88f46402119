"""What a run does when the device is too small, when it is given up, and how much it remembers."""

import gc
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from moss_demo.batch.evaluation import evaluate
from moss_demo.batch.opening import Evaluation
from moss_demo.batch.plan import Limits
from moss_demo.batch.reading import Task
from moss_demo.batch.runner import Answered
from moss_demo.batch.sources import open_manifest
from moss_demo.batch.store import Store
from moss_demo.batch.transcriber import Outcome
from moss_demo.domain.events import Finished, Run, StopReason
from moss_demo.domain.parser import parse
from moss_demo.domain.request import Request
from moss_demo.engine.worker import IsStopped, StoppedError
from moss_demo.errors import DeviceMemoryError
from tests.batch.turns import SAMPLES, write_manifest

HEARD = "[0.00][S01]so it begins[0.50]"


class SmallDevice:
    """Hears the same in everything, and has memory for some rows only."""

    name = identity = "small"

    def __init__(self, room: Callable[[Request], bool] | int) -> None:
        """Take the most rows at once, or what a lone row must be like."""
        self.room = room
        self.batches: list[int] = []

    def limits(self, rows: int | None) -> Limits:
        """Plan what was asked for."""
        return Limits(rows or 4, 1 << 40)

    def row_bytes(self, duration_s: float) -> int:
        """Estimate far too little."""
        return int(duration_s) + 1

    def prepare(self, request: Request) -> Request:
        """Do nothing."""
        return request

    def transcribe(self, requests: Sequence[Request], is_stopped: IsStopped) -> list[Outcome]:
        """Run out of memory when there are too many."""
        del is_stopped
        self.batches.append(len(requests))
        fits = len(requests) <= self.room if isinstance(self.room, int) else (
            len(requests) == 1 and self.room(requests[0])
        )  # fmt: skip
        if not fits:
            raise DeviceMemoryError("too many rows")
        ended = Finished(0.5, HEARD, (1, 2), StopReason.END_OF_TEXT)
        return [
            Run(r.clip.name, r.clip.digest, r.clip.duration_s, parse(HEARD).segments, raw=HEARD,
                token_ids=(1, 2), finished=ended)
            for r in requests
        ]  # fmt: skip


def _wanted(manifest: Path, out: Path, *, rows: int = 4, resume: bool = False) -> Evaluation:
    listed, sources = open_manifest(manifest)
    return Evaluation(listed.entries, sources, Task(), out, rows, resume)


def _rows(manifest: Path, out: Path, device: SmallDevice, **how: Any) -> list[Any]:
    told: list[Any] = []
    evaluate(_wanted(manifest, out, **how), device, told.append, lambda: False)
    return [row for event in told if isinstance(event, Answered) for row in event.clips]


def test_a_batch_that_does_not_fit_is_halved_until_it_does(turns: Path, tmp_path: Path) -> None:
    """Nothing is lost, and what fitted is written down before it is tried."""
    device = SmallDevice(1)
    rows = _rows(turns, tmp_path / "out", device)
    assert {row.status.value for row in rows} == {"done"}
    assert device.batches == [4, 2, 1, 1, 1, 1] * 2 + [1]
    store = Store(tmp_path / "out")
    assert [store.rows_that_fit(0, batch) for batch in range(3)] == [1, 1, None]


def test_a_resumed_run_takes_the_batches_that_fitted(turns: Path, tmp_path: Path) -> None:
    """A larger device later on makes the same batches, hence the same text."""
    store = Store(tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        _rows(turns, store.folder, SmallDevice(_interrupt))
    device = SmallDevice(99)
    _rows(turns, store.folder, device, resume=True)
    assert device.batches == [1, 1, 1, 1, 4, 1]


def _interrupt(_: Request) -> bool:
    raise KeyboardInterrupt


def test_a_recording_that_never_fits_fails_alone(turns: Path, tmp_path: Path) -> None:
    """The row says why; the others have their transcripts."""
    rows = _rows(turns, tmp_path / "out", SmallDevice(lambda r: r.clip.name != "03.flac"))
    failed = {row.audio: row.reason for row in rows if row.status == "failed"}
    assert failed == {"03.flac": "too many rows"}


def test_a_run_that_is_given_up_keeps_finished_parts(turns: Path, tmp_path: Path) -> None:
    """Stopping in the second part loses that part only, and frees it for the next run."""
    out, device = tmp_path / "out", SmallDevice(1)
    told: list[Any] = []

    def has_enough() -> bool:
        return sum(len(event.clips) for event in told if isinstance(event, Answered)) > 4

    with pytest.raises(StoppedError):
        evaluate(_wanted(turns, out, rows=1), device, told.append, has_enough)
    store = Store(out)
    assert (store.is_done(0), store.is_done(2)) == (True, False)
    again = SmallDevice(1)
    assert len(_rows(turns, out, again, rows=1, resume=True)) < 9
    assert store.is_done(2)
    assert not (out / "clips.csv.draft").exists()


def test_memory_does_not_grow_with_the_number_of_recordings(tmp_path: Path) -> None:
    """Eight times as many recordings need little more: their sound does not pile up.

    How many threads hold a recording at once differs from run to run, hence the wide margin.
    """
    listed = [{"audio": str(SAMPLES / "two-speakers.flac"), "reference": HEARD}]
    peaks = []
    for count in (8, 64):
        wanted = _wanted(write_manifest(tmp_path, listed * count), tmp_path / f"out-{count}")
        gc.collect()
        tracemalloc.start()
        evaluate(wanted, SmallDevice(2), lambda _: None, lambda: False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    sound_bytes = 25 * 16_000 * 4
    assert peaks[1] - peaks[0] < (64 - 8) * sound_bytes / 3
