"""Comparisons of 2,000 segments that a careless rule would take minutes over."""

from moss_demo.domain.transcript import Transcript
from moss_demo.scoring.diarization_errors import diarization_errors
from moss_demo.scoring.parity import parity
from moss_demo.scoring.verdict import Gate
from tests.scoring.builders import timed

SEGMENTS = 2000


def loop(words: str, speakers: int = 1) -> Transcript:
    """Return a long transcript that says the same thing over and over."""
    return timed(*((i, i + 0.5, f"S{i % speakers:04d}", words) for i in range(SEGMENTS)))


def test_one_word_repeated_for_ever() -> None:
    """A loop of 24,000 equal words with words lost throughout is compared."""
    lost = timed(*((i, i + 0.5, "S0000", "ha " * (11 if i % 3 else 12)) for i in range(SEGMENTS)))
    verdict = parity(loop("ha " * 12), lost)
    assert verdict.word_errors.deletions == verdict.word_errors.errors == 1333


def test_as_many_speakers_as_segments() -> None:
    """Four million pairs of speakers are weighed."""
    many = loop("we should begin", speakers=SEGMENTS)
    assert parity(many, many).gate is Gate.PASS


def test_everybody_speaks_at_once() -> None:
    """Two thousand overlapping speakers are scored."""
    chorus = timed(*((i / 100, 3000.0, f"S{i:04d}", "a") for i in range(SEGMENTS)))
    assert diarization_errors(chorus, chorus, collar_ms=250).errors.der == 0.0


def test_every_pair_of_turns_swapped() -> None:
    """A thousand exchanges of neighbours are recognised as a change of order."""
    turns = [(float(i), i + 1.5, f"S{i % 4:04d}", f"this is turn {i}") for i in range(SEGMENTS)]
    swapped = [turn for i in range(0, SEGMENTS, 2) for turn in (turns[i + 1], turns[i])]
    verdict = parity(timed(*turns), timed(*swapped))
    assert (verdict.gate, verdict.order_changed) == (Gate.PASS, True)
