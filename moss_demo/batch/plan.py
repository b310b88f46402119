"""Which recordings are decoded together: parts of a run, and the batches of each part.

Pure. A part is what a crash can lose: consecutive rows of the manifest. Its batches go from long to
short, so that rows of a batch end at about the same step. The plan is written down once and used
by every worker and every later run, since how rows are batched can change the last bits of bf16.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from moss_demo.errors import ManifestError

SCHEMA = 1

PART_BATCHES = 4
"""Full batches of a part: enough to sort by length, few enough to lose."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much goes into one batch.

    Attributes:
        rows: most recordings.
        memory_bytes: most memory by the engine's own estimate.
    """

    rows: int
    memory_bytes: int


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive entries that are written together.

    Attributes:
        first: index of the first entry.
        stop: index after the last entry.
        batches: indices of the entries of each batch; entries with a fault are in none.
    """

    first: int
    stop: int
    batches: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """How a run is divided.

    Attributes:
        digest: fingerprint of manifest and settings; a run is resumed with the same ones only.
        limits: what the batches were made for.
        parts: in the order of the manifest.
    """

    digest: str
    limits: Limits
    parts: tuple[Part, ...]


def make_plan(
    digest: str,
    durations_s: Sequence[float | None],
    usable: Sequence[bool],
    limits: Limits,
    row_bytes: Callable[[float], int],
) -> Plan:
    """Divide entries into parts and batches.

    Args:
        digest: fingerprint of manifest and settings.
        durations_s: length of each entry's recording, None where it is not known beforehand; such
            a recording is a batch of its own.
        usable: whether an entry is worth a try.
        limits: how much goes into one batch.
        row_bytes: what a recording of some length takes in a batch.
    """
    size = limits.rows * PART_BATCHES
    parts = []
    for first in range(0, len(durations_s), size):
        stop = min(first + size, len(durations_s))
        tried = [index for index in range(first, stop) if usable[index]]
        known = [(-length, n) for n in tried if (length := durations_s[n]) is not None]
        batches = _cut([(-length, n) for length, n in sorted(known)], limits, row_bytes)
        batches += [(n,) for n in tried if durations_s[n] is None]
        parts.append(Part(first, stop, tuple(batches)))
    return Plan(digest, limits, tuple(parts))


def _cut(
    by_length: Sequence[tuple[float, int]], limits: Limits, row_bytes: Callable[[float], int]
) -> list[tuple[int, ...]]:
    """Fill batches from the longest recording on; each costs what its longest row costs."""
    batches: list[tuple[int, ...]] = []
    most = 0
    for length_s, number in by_length:
        if batches and len(batches[-1]) < most:
            batches[-1] += (number,)
        else:
            most = min(limits.rows, max(1, limits.memory_bytes // row_bytes(length_s)))
            batches.append((number,))
    return batches


def write_plan(plan: Plan) -> str:
    """Return the plan as JSON."""
    return json.dumps({"schema": SCHEMA, **asdict(plan)})


def read_plan(text: str | bytes) -> Plan:
    """Read what `write_plan` wrote.

    Raises:
        ManifestError: it is damaged or of another version.
    """
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError("another schema")
        parts = tuple(
            Part(part["first"], part["stop"], tuple(map(tuple, part["batches"])))
            for part in data["parts"]
        )
        return Plan(data["digest"], Limits(**data["limits"]), parts)
    except (ValueError, KeyError, TypeError) as error:
        raise ManifestError(
            f"The recorded batch plan is damaged ({error}); start again in an empty folder."
        ) from error
