"""Finds loops: a decoder that writes the same again and again. Knows nothing of why."""

import re
import zlib
from collections import defaultdict
from collections.abc import Iterator
from itertools import groupby

from moss_demo.domain.diagnostics.kinds import Diagnostic, DiagnosticKind
from moss_demo.domain.diagnostics.wording import count, excerpt, places
from moss_demo.domain.transcript import Segment

SAME_SEGMENTS = 5
"""As many equal segments in a row count as a loop."""

SAME_STAMPS = 3
"""As many segments with equal start and end count as a loop."""

RATIO_LIMIT = 2.4
"""Text that shrinks more than this repeats itself (Whisper's compression ratio threshold)."""

MIN_RATIO_CHARACTERS = 60
WINDOW_CHARACTERS = 1000
"""Natural text shrinks more the longer it is; conversation of 1,000 characters stays below 2.1."""

SAME_CHARACTERS = 20
"""As many equal characters in a row are noise of the arithmetic and no speech."""


_SAME_CHARACTER = re.compile(rf"(.)\1{{{SAME_CHARACTERS - 1},}}", re.DOTALL)
_ADVICE = "The model may have been caught in a loop: listen there, and run again with sampling."


def repeated(segments: tuple[Segment, ...]) -> Iterator[Diagnostic]:
    """Find loops; what one sign has shown is not shown again by the next."""
    looped: set[int] = set()
    for indices in _equal_runs(segments):
        looped.update(indices)
        yield Diagnostic(
            DiagnosticKind.LOOP,
            f"“{excerpt(segments[indices[0]].text)}” comes {len(indices):,} times in a row"
            f"{places(segments, indices)}. {_ADVICE}",
            indices,
        )
    for indices in _frozen_stamps(segments):
        if not looped.issuperset(indices):
            looped.update(indices)
            yield Diagnostic(
                DiagnosticKind.LOOP,
                f"{count(indices, 'segment has', 'segments have')} the same start and the same end"
                f"{places(segments, indices[:1])}. {_ADVICE}",
                indices,
            )
    single, character = _single_character(segments)
    if single:
        looped.update(single)
        yield Diagnostic(
            DiagnosticKind.SINGLE_CHARACTER,
            f"The text repeats the single character “{character}”{places(segments, single)}. "
            "Numbers that overflow at the chosen precision are the usual cause: run again at fp32 "
            "or bf16.",
            single,
        )
    compressed, ratio = _compressible(segments, looped)
    if compressed:
        yield Diagnostic(
            DiagnosticKind.LOOP,
            f"The words repeat themselves{places(segments, compressed)}: they compress "
            f"{ratio:.1f} times, where speech stays near 2. {_ADVICE}",
            compressed,
        )


def _equal_runs(segments: tuple[Segment, ...]) -> list[tuple[int, ...]]:
    """Return the indices of each run of segments with the same words and speaker."""
    runs = []
    for _, group in groupby(enumerate(segments), lambda item: (item[1].speaker, item[1].text)):
        indices = tuple(index for index, _ in group)
        if len(indices) >= SAME_SEGMENTS:
            runs.append(indices)
    return runs


def _frozen_stamps(segments: tuple[Segment, ...]) -> list[tuple[int, ...]]:
    """Return the indices of each group of segments that share both stamps."""
    groups: defaultdict[tuple[float, float], list[int]] = defaultdict(list)
    for index, segment in enumerate(segments):
        if segment.start is not None and segment.end is not None:
            groups[segment.start, segment.end].append(index)
    return [tuple(group) for group in groups.values() if len(group) >= SAME_STAMPS]


def _compressible(segments: tuple[Segment, ...], known: set[int]) -> tuple[tuple[int, ...], float]:
    """Return the segments whose text repeats itself, and the largest ratio seen.

    Each segment is measured alone, and windows of half-overlapping text across segments; windows
    with a segment that is known to loop are left out.
    """
    found: set[int] = set()
    largest = 0.0
    for indices, text in [*_alone(segments), *_across(segments)]:
        if len(text) < MIN_RATIO_CHARACTERS or not known.isdisjoint(indices):
            continue
        ratio = compression_ratio(text)
        if ratio > RATIO_LIMIT:
            found.update(indices)
            largest = max(largest, ratio)
    return tuple(sorted(found)), largest


def compression_ratio(text: str) -> float:
    """Return how many times smaller zlib makes the text, 0 for an empty one.

    Beyond ASCII, characters are numbered first, one byte each: in UTF-8 an Arabic or Hindi sentence
    would shrink like a loop because most of its bytes only say which script it is.
    """
    if text.isascii():
        data = text.encode()
    else:
        numbers = {character: number % 256 for number, character in enumerate(dict.fromkeys(text))}
        data = bytes(map(numbers.__getitem__, text))
    return len(data) / len(zlib.compress(data)) if data else 0.0


def _single_character(segments: tuple[Segment, ...]) -> tuple[tuple[int, ...], str]:
    """Return the segments with one character over and over, and that character."""
    found = {}
    for index, segment in enumerate(segments):
        if run := _SAME_CHARACTER.search("".join(segment.text.split())):
            found[index] = run.group(1)
    return tuple(found), next(iter(found.values()), "")


def _alone(segments: tuple[Segment, ...]) -> list[tuple[tuple[int, ...], str]]:
    return [
        ((index,), segment.text[at : at + WINDOW_CHARACTERS])
        for index, segment in enumerate(segments)
        for at in range(0, len(segment.text), WINDOW_CHARACTERS)
    ]


def _across(segments: tuple[Segment, ...]) -> list[tuple[tuple[int, ...], str]]:
    owners = [index for index, segment in enumerate(segments) for _ in f"{segment.text}\n"]
    text = "".join(f"{segment.text}\n" for segment in segments)
    windows = []
    for at in range(0, len(text), WINDOW_CHARACTERS // 2):
        end = min(at + WINDOW_CHARACTERS, len(text))
        windows.append((tuple(range(owners[at], owners[end - 1] + 1)), text[at:end]))
    return windows
