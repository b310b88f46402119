"""Words given to the wrong speaker: cpWER and cpCER, and attribution of aligned tokens.

A label is only a name here: figures hold up to the best one-to-one renaming of speakers. Unlabelled
speech is a speaker of its own. Knows nothing of the times of words.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz import process
from rapidfuzz.distance import Levenshtein

from moss_demo.domain.transcript import Segment
from moss_demo.scoring.assignment import assign
from moss_demo.scoring.counts import ErrorCounts
from moss_demo.scoring.streams import time_order
from moss_demo.scoring.text_errors import count_errors

Speaker = str | None
"""Label of a speaker; None is speech without a label."""

SpeakerPairs = tuple[tuple[Speaker, Speaker], ...]
"""Reference speaker and the hypothesis speaker assigned to it."""


@dataclass(frozen=True, slots=True)
class SpeakerErrors:
    """Errors of the concatenated minimum-permutation rate (cpWER, Watanabe et al. 2020).

    Attributes:
        counts: edits under the best assignment; unassigned speakers count in full.
        assignment: speakers that answer each other, in reference order.
    """

    counts: ErrorCounts
    assignment: SpeakerPairs


def tokens_by_speaker(
    segments: Sequence[Segment], tokens: Sequence[Sequence[str]]
) -> dict[Speaker, list[str]]:
    """Concatenate each speaker's tokens in time order.

    Args:
        segments: what was said by whom.
        tokens: the tokens of each segment, normalized.
    """
    streams: dict[Speaker, list[str]] = {}
    for index in time_order(segments):
        if tokens[index]:
            streams.setdefault(segments[index].speaker, []).extend(tokens[index])
    return streams


def cp_errors(
    reference: Mapping[Speaker, Sequence[str]], hypothesis: Mapping[Speaker, Sequence[str]]
) -> SpeakerErrors:
    """Count errors speaker by speaker under the assignment of speakers with the fewest edits."""
    names, others = list(reference), list(hypothesis)
    rows, columns = list(reference.values()), list(hypothesis.values())
    pairs = _best_pairs(rows, columns, names, others)
    unheard = set(range(len(rows))) - {row for row, _ in pairs}
    unasked = set(range(len(columns))) - {column for _, column in pairs}
    parts = [
        *(count_errors(rows[row], columns[column]) for row, column in pairs),
        *(count_errors(rows[row], ()) for row in unheard),
        *(count_errors((), columns[column]) for column in unasked),
    ]
    assignment = tuple((names[row], others[column]) for row, column in pairs)
    return SpeakerErrors(sum(parts, ErrorCounts()), assignment)


def _best_pairs(
    rows: Sequence[Sequence[str]],
    columns: Sequence[Sequence[str]],
    names: Sequence[Speaker],
    others: Sequence[Speaker],
) -> list[tuple[int, int]]:
    """Return the bijection with the fewest edits: the one that saves most against no pairing."""
    if not rows or not columns:
        return []
    if len(rows) == len(columns) == 1:
        return [(0, 0)]
    distances = process.cdist(rows, columns, scorer=Levenshtein.distance, dtype=np.int64)
    lengths = np.add.outer([len(row) for row in rows], [len(column) for column in columns])
    return assign(lengths - distances, names, others)


@dataclass(frozen=True, slots=True)
class Attribution:
    """Whether aligned tokens come from the same speakers.

    Attributes:
        token_errors: aligned tokens whose speakers do not answer each other.
        relabel: candidate label by reference label where they answer but differ.
        labels_exact: every aligned token has the very same label on both sides.
        assignment: reference and candidate speakers that answer each other.
    """

    token_errors: int
    relabel: tuple[tuple[str, str], ...]
    labels_exact: bool
    assignment: SpeakerPairs


def attribute(pairs: Counter[tuple[Speaker, Speaker]]) -> Attribution:
    """Find the relabelling that explains most aligned tokens and count the rest.

    Unlabelled speech answers unlabelled speech only: a label that appears or is lost is never a
    relabelling.

    Args:
        pairs: aligned tokens by reference speaker and candidate speaker.
    """
    names = list(dict.fromkeys(name for name, _ in pairs if name is not None))
    others = list(dict.fromkeys(other for _, other in pairs if other is not None))
    gains = np.zeros((len(names), len(others)), dtype=np.int64)
    rows = {name: row for row, name in enumerate(names)}
    columns = {other: column for column, other in enumerate(others)}
    for (name, other), count in pairs.items():
        if name is not None and other is not None:
            gains[rows[name], columns[other]] = count
    found = [(names[row], others[column]) for row, column in assign(gains, names, others)]
    explained = {*found, (None, None)}
    return Attribution(
        token_errors=sum(count for pair, count in pairs.items() if pair not in explained),
        relabel=tuple((name, other) for name, other in found if name != other),
        labels_exact=all(name == other for name, other in pairs),
        assignment=tuple(found),
    )
