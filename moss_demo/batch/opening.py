"""Opens a run's folder: a plan is made once, and every later process goes by it."""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from time import monotonic, sleep

from moss_demo.batch.manifest import Entry
from moss_demo.batch.plan import Plan, make_plan
from moss_demo.batch.reading import READERS, Task
from moss_demo.batch.sources import Sources
from moss_demo.batch.store import Store
from moss_demo.batch.transcriber import Transcriber
from moss_demo.engine.audio_files import glance_duration_s
from moss_demo.errors import ManifestError, RequestError

POLL_S = 0.1
FIRST_WORKER_S = 1_800.0
"""How long other workers wait for the plan; lengths of many recordings may take a while."""
"""How often a worker looks whether the first one has written the plan."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A run that somebody wants.

    Attributes:
        entries: what is to be transcribed.
        sources: where it lies.
        task: what is asked of every recording.
        folder: where the run is kept.
        batch_rows: most recordings of a batch, None for a number that the device suggests.
        resume: go on with an earlier run in that folder.
        worker: rank of this process among those that share the run.
    """

    entries: Sequence[Entry]
    sources: Sources
    task: Task
    folder: Path
    batch_rows: int | None = None
    resume: bool = False
    worker: int = 0


def open_plan(wanted: Evaluation, transcriber: Transcriber) -> Plan:
    """Record the plan of a new run, or take up the recorded one with its limits.

    Only the first of several workers makes a plan; the others wait for it.

    Raises:
        RequestError: the folder holds something else, or an earlier run that is not to be resumed;
            or no first worker made a plan.
        ManifestError: the recorded plan is damaged.
    """
    store = Store(wanted.folder)
    digest = _fingerprint(wanted, transcriber.identity)
    plan = store.read_plan()
    give_up_at = monotonic() + FIRST_WORKER_S
    while plan is None and wanted.worker > 0:
        if monotonic() > give_up_at:
            raise RequestError(
                "The first worker (RANK 0) made no plan; start all of them together."
            )
        sleep(POLL_S)
        plan = store.read_plan()
    if plan is None:
        return _new_plan(wanted, transcriber, store, digest)
    if not wanted.resume and wanted.worker == 0:
        raise RequestError(
            store.folder,
            " already holds a run; add --resume to go on with it, or choose another folder.",
        )
    if plan.digest != digest:
        raise RequestError(
            store.folder,
            " holds a run of another manifest, other settings or another engine; use the same "
            "ones, or choose another folder.",
        )
    covered = [index for part in plan.parts for index in range(part.first, part.stop)]
    if covered != list(range(len(wanted.entries))):
        raise ManifestError(
            store.folder, " has a damaged batch plan; start again in an empty folder."
        )
    return plan


def _new_plan(wanted: Evaluation, transcriber: Transcriber, store: Store, digest: str) -> Plan:
    if not store.is_empty():
        raise RequestError(store.folder, " is not empty and holds no run; choose a new folder.")
    with ThreadPoolExecutor(READERS) as readers:
        durations = list(readers.map(lambda e: _duration_s(wanted.sources, e), wanted.entries))
    usable = [entry.fault is None for entry in wanted.entries]
    limits = transcriber.limits(wanted.batch_rows)
    plan = make_plan(digest, durations, usable, limits, transcriber.row_bytes)
    store.write_plan(plan)
    return plan


def _fingerprint(wanted: Evaluation, identity: str) -> str:
    """Digest everything the tables depend on: rows, files by size, task and engine."""
    digest = hashlib.sha256(json.dumps([identity, asdict(wanted.task)]).encode())
    for entry in wanted.entries:
        sizes = [_size(wanted.sources, name) for name in (entry.audio, entry.reference)]
        digest.update(json.dumps([asdict(entry), sizes]).encode())
    return digest.hexdigest()


def _duration_s(sources: Sources, entry: Entry) -> float | None:
    if entry.fault is not None:
        return None
    try:
        return glance_duration_s(sources.audio(entry))
    except ManifestError:
        return None


def _size(sources: Sources, name: str | None) -> int | None:
    """Return the size of a file that a row names, None where it names none."""
    try:
        return None if not name else Path(sources.root / name).stat().st_size
    except (OSError, ValueError):
        return None
