"""The same turns in another order, as happens where speakers overlap. Knows nothing of times lost.

Two transcripts hold the same turns when every speaker says the same words in the same order and
each turn of one side has its twin on the other.
"""

from collections import defaultdict
from collections.abc import Sequence

from moss_demo.domain.transcript import Segment
from moss_demo.scoring.normalize import TextRules
from moss_demo.scoring.speaker_errors import Speaker, cp_errors, tokens_by_speaker
from moss_demo.scoring.streams import time_order

Turn = tuple[Speaker, tuple[str, ...]]
"""A speaker, as the reference calls them, and the tokens of one segment."""


def reference_order(
    reference: Sequence[Segment], candidate: Sequence[Segment], rules: TextRules
) -> tuple[int, ...] | None:
    """Return the candidate's segments in the order of their twins, None if they are other turns.

    Speakers may be relabelled. Equal turns of one speaker are paired in time order. Segments
    without words follow at the end.
    """
    left = [rules.words(segment.text) for segment in reference]
    right = [rules.words(segment.text) for segment in candidate]
    if sorted(filter(None, left)) != sorted(filter(None, right)):
        return None
    by_speaker = cp_errors(tokens_by_speaker(reference, left), tokens_by_speaker(candidate, right))
    names = {other: name for name, other in by_speaker.assignment}
    if by_speaker.counts.errors or any((name is None) != (o is None) for o, name in names.items()):
        return None
    twins = defaultdict[Turn, list[int]](list)
    for index in time_order(candidate):
        if right[index]:
            twins[names[candidate[index].speaker], tuple(right[index])].append(index)
    order = _pair_up(reference, left, twins)
    if order is None:
        return None
    return (*order, *(index for index, words in enumerate(right) if not words))


def _pair_up(
    reference: Sequence[Segment],
    words: Sequence[Sequence[str]],
    twins: dict[Turn, list[int]],
) -> list[int] | None:
    """Give every spoken reference segment its twin, in reference order."""
    waiting = {turn: iter(indices) for turn, indices in twins.items()}
    answers: dict[int, int] = {}
    for index in time_order(reference):
        if not words[index]:
            continue
        turn = (reference[index].speaker, tuple(words[index]))
        twin = next(waiting.get(turn, iter(())), None)
        if twin is None:
            return None
        answers[index] = twin
    return [answers[index] for index in sorted(answers)]
