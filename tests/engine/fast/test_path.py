"""The fast path writes what the reference path writes, token by token, in fp32."""

from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from moss_demo.domain.audio import AudioClip
from moss_demo.domain.events import Event, Finished, Run, SegmentDone, StopReason, TextDelta
from moss_demo.domain.request import DecodeOptions, Request
from moss_demo.engine.engine import Engine
from moss_demo.engine.together import transcribe_together
from moss_demo.errors import RequestError


def _limited(request: Request, max_new_tokens: int) -> Request:
    return replace(request, options=DecodeOptions(max_new_tokens))


@pytest.fixture(scope="module")
def events(fast: Engine, requests: list[Request]) -> list[Event]:
    """The stream of the shortest sample on the fast path."""
    return list(fast.stream(requests[0]))


def test_events_are_those_of_the_reference(events: list[Event], oracle: tuple[Run, ...]) -> None:
    """Text arrives in the same pieces, segments are the same and the end is named alike."""
    finished, expected = events[-1], oracle[0].finished
    assert isinstance(finished, Finished)
    assert expected is not None
    assert finished.token_ids == expected.token_ids
    assert (finished.text, finished.stop) == (expected.text, expected.stop)
    segments = tuple(event.segment for event in events if isinstance(event, SegmentDone))
    assert segments == oracle[0].segments
    deltas = [event for event in events if isinstance(event, TextDelta) and event.token_ids]
    assert [len(delta.token_ids) for delta in deltas] == [1] * len(finished.token_ids)


def test_a_batch_of_all_samples_equals_single_runs(
    fast: Engine, requests: list[Request], oracle: tuple[Run, ...]
) -> None:
    """Three recordings of different lengths, decoded to their ends in one batch."""
    runs = transcribe_together(fast, requests)
    assert [run.token_ids for run in runs] == [run.token_ids for run in oracle]
    assert [run.segments for run in runs] == [run.segments for run in oracle]


def test_each_sample_alone_equals_the_reference_on_a_warm_engine(
    fast: Engine, requests: list[Request], oracle: tuple[Run, ...]
) -> None:
    """Request after request, long after short and short after long."""
    for number in (2, 1, 0):
        run = transcribe_together(fast, requests[number : number + 1])[0]
        assert run.token_ids == oracle[number].token_ids


def test_eight_rows_with_budgets_of_their_own(
    fast: Engine, requests: list[Request], oracle: tuple[Run, ...]
) -> None:
    """Rows that end at different steps do not disturb the others."""
    plan = [(0, 1), (2, 2), (0, 7), (0, 19), (1, 20), (0, 21), (0, 33), (0, 40)]
    runs = transcribe_together(fast, [_limited(requests[n], budget) for n, budget in plan])
    expected = [oracle[n].token_ids[:budget] for n, budget in plan]
    assert [run.token_ids for run in runs] == expected
    assert {run.finished.stop for run in runs if run.finished} == {StopReason.LENGTH}


def test_a_recording_without_speech_leaves_the_batch_at_once(
    fast: Engine, requests: list[Request], oracle: tuple[Run, ...]
) -> None:
    """Silence ends without a token and the other row is right."""
    silence = Request(AudioClip("silence", np.zeros(48_000, dtype=np.float32)))
    quiet, spoken = transcribe_together(fast, [silence, _limited(requests[0], 9)])
    assert quiet.finished is not None
    assert quiet.finished.stop is StopReason.NO_SPEECH
    assert spoken.token_ids == oracle[0].token_ids[:9]


def test_closing_stops_and_the_next_run_works(
    fast: Engine, requests: list[Request], oracle: tuple[Run, ...]
) -> None:
    """A run given up in the middle leaves a usable engine."""
    with closing(fast.stream(requests[0])) as stream:
        next(event for event in stream if isinstance(event, SegmentDone))
    run = transcribe_together(fast, [_limited(requests[1], 12)])[0]
    assert run.token_ids == oracle[1].token_ids[:12]


def test_sampling_is_refused_before_any_work(fast: Engine, requests: list[Request]) -> None:
    """The message names the path that can sample."""
    sampling = replace(requests[0], options=DecodeOptions(5, temperature=0.7))
    with pytest.raises(RequestError, match="--decode reference"):
        list(fast.stream(sampling))


def test_the_engine_says_which_path_it_took(fast: Engine, reference: Engine) -> None:
    """A figure can be told by path."""
    assert (fast.info.decode, reference.info.decode) == ("fast", "reference")
